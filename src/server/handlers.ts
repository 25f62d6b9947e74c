import type {
  Body,
  JsonOperationName,
  OperationName,
  Params,
  Query,
  Result,
  UploadOperationName,
} from '../contract/index.ts';
import type { Download } from './http/download.ts';
import type { Principal } from './http/tokens.ts';
import type { Content } from './http/upload.ts';
import type { AuthoringService } from './services/authoring.ts';
import type { BuildAttemptService } from './services/build-attempts.ts';
import type { BuildUploadService } from './services/build-uploads.ts';
import type { BundleService } from './services/bundles.ts';
import type { ExportService } from './services/exports.ts';
import type { Change, Outcome } from './services/idempotency.ts';
import type { OperationService } from './services/operations.ts';
import type { RunService } from './services/runs.ts';
import type { SessionService } from './services/sessions.ts';
import type { ToolSourceService } from './services/tool-source.ts';

type At<N extends OperationName> = { readonly params: Params<N>; readonly query: Query<N> };

/** A read that was authenticated, validated and permitted. */
type Read<N extends OperationName> = (
  call: At<N> & { readonly principal: Principal },
) => Promise<N extends JsonOperationName ? Result<N> : Download>;

/** A change that was authenticated, validated and permitted; it says itself whether it was replayed. */
type Write<N extends OperationName> = (
  call: At<N> & { readonly change: Change; readonly body: Body<N> },
) => Promise<Outcome<Result<N>>>;

/** Bytes sent to a signed address, which the handler itself judges: nobody is authenticated. */
type Upload<N extends OperationName> = (call: At<N> & { readonly content: Content }) => Promise<Result<N>>;

/** What answers each row of the table. */
export type Handlers = {
  readonly [N in OperationName]: N extends UploadOperationName
    ? Upload<N>
    : Body<N> extends undefined
      ? Read<N>
      : Write<N>;
};

export type Services = {
  readonly authoring: AuthoringService;
  readonly buildAttempts: BuildAttemptService;
  readonly buildUploads: BuildUploadService;
  readonly bundles: BundleService;
  readonly exports: ExportService;
  readonly operations: OperationService;
  readonly runs: RunService;
  readonly sessions: SessionService;
  readonly toolSource: ToolSourceService;
};

/** The one place where the operations of the table meet the services behind them. */
export const createHandlers = (services: Services): Handlers => {
  const { authoring, buildAttempts, buildUploads, bundles, exports } = services;
  const { operations, runs, sessions, toolSource } = services;
  return {
    'sessions.extend': ({ change, params, body }) => sessions.extend(change, params, body),
    'authoring.turns.create': ({ change, params, body }) => authoring.createTurn(change, params, body),
    'builds.uploads.create': ({ change, params, body }) =>
      buildUploads.create(change, params.projectId, body),
    'runs.reruns.create': ({ change, params }) => runs.rerun(change, params),
    'builds.tools.source': ({ principal, params, query }) =>
      toolSource.read(principal, { ...params, ...query }),
    'builds.attempts.read': ({ principal, params }) => buildAttempts.read(principal, params),
    'evidence.bundles.read': ({ principal, params }) => bundles.read(principal, params),
    'evidence.exports.read': ({ principal, params }) => exports.read(principal, params),
    'evidence.exports.list': ({ principal, params, query }) =>
      exports.list(principal, params.projectId, query),
    'evidence.exports.manifest': ({ principal, params }) => exports.manifest(principal, params),
    'evidence.exports.attestation': ({ principal, params }) => exports.attestation(principal, params),
    'evidence.exports.parts.download': ({ principal, params }) => exports.part(principal, params),
    'evidence.exports.localReports': ({ principal, params, query }) =>
      exports.localReports(principal, params, query),
    'evidence.exports.localReports.archive': ({ principal, params }) =>
      exports.localReport(principal, params),
    'operations.read': ({ principal, params }) => operations.read(principal, params),
    'runs.read': ({ principal, params }) => runs.read(principal, params),
    'sessions.read': ({ principal, params }) => sessions.read(principal, params),
    'authoring.turns.read': ({ principal, params }) => authoring.readTurn(principal, params),
    'builds.uploads.put': ({ params, query, content }) => buildUploads.put(params, query, content),
  };
};
