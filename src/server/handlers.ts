import type { Body, JsonOperationName, OperationName, Params, Query, Result } from '../contract/index.ts';
import type { Download } from './http/download.ts';
import type { Principal } from './http/tokens.ts';
import type { BuildAttemptService } from './services/build-attempts.ts';
import type { BundleService } from './services/bundles.ts';
import type { ExportService } from './services/exports.ts';
import type { ToolSourceService } from './services/tool-source.ts';

/** A request that was authenticated, validated and permitted. */
type Call<N extends OperationName> = {
  readonly principal: Principal;
  readonly params: Params<N>;
  readonly query: Query<N>;
  readonly body: Body<N>;
};

type Answer<N extends OperationName> = N extends JsonOperationName ? Result<N> : Download;

/** What answers each row of the table; a row without one answers `control.NOT_IMPLEMENTED`. */
export type Handlers = {
  readonly [N in OperationName]: ((call: Call<N>) => Promise<Answer<N>>) | 'not-implemented';
};

export type Services = {
  readonly exports: ExportService;
  readonly bundles: BundleService;
  readonly buildAttempts: BuildAttemptService;
  readonly toolSource: ToolSourceService;
};

/** The one place where the operations of the table meet the services behind them. */
export const createHandlers = ({ exports, bundles, buildAttempts, toolSource }: Services): Handlers => ({
  'sessions.extend': 'not-implemented',
  'authoring.turns.create': 'not-implemented',
  'builds.uploads.create': 'not-implemented',
  'runs.reruns.create': 'not-implemented',
  'builds.tools.source': ({ principal, params, query }) =>
    toolSource.read(principal, { ...params, ...query }),
  'builds.attempts.read': ({ principal, params }) => buildAttempts.read(principal, params),
  'evidence.bundles.read': ({ principal, params }) => bundles.read(principal, params),
  'evidence.exports.read': ({ principal, params }) => exports.read(principal, params),
  'evidence.exports.list': ({ principal, params, query }) => exports.list(principal, params.projectId, query),
  'evidence.exports.manifest': ({ principal, params }) => exports.manifest(principal, params),
  'evidence.exports.attestation': ({ principal, params }) => exports.attestation(principal, params),
  'evidence.exports.parts.download': ({ principal, params }) => exports.part(principal, params),
  'evidence.exports.localReports': ({ principal, params, query }) =>
    exports.localReports(principal, params, query),
  'evidence.exports.localReports.archive': ({ principal, params }) => exports.localReport(principal, params),
});
