import { authoringTurnCreationSchema, rerunSchema, sessionExtensionSchema } from '../contract/index.ts';
import { settleAttempt, type BuildWork } from './builds/drive-attempt.ts';
import type { UploadAddresses } from './http/sealed.ts';
import { notFound } from './http/envelope.ts';
import type { Cursors } from './http/sealed.ts';
import type { Principal } from './http/tokens.ts';
import { readVisible } from './services/access.ts';
import { createTurn } from './services/authoring.ts';
import { buildUploadHandlers } from './services/build-uploads.ts';
import { exportHandlers } from './services/exports.ts';
import type { Handlers } from './services/handler.ts';
import type { RunOnce } from './services/idempotency.ts';
import { createRerun } from './services/runs.ts';
import { extendSession } from './services/sessions.ts';
import { readToolSource } from './services/tool-source.ts';

type Context = BuildWork & {
  readonly cursors: () => Promise<Cursors>;
  readonly addresses: () => Promise<UploadAddresses>;
  readonly runOnce: RunOnce;
};

type ResourceReads =
  | 'builds.attempts.read'
  | 'evidence.bundles.read'
  | 'operations.read'
  | 'runs.read'
  | 'sessions.read'
  | 'authoring.turns.read';

/** Reads of one resource each, by the project that it belongs to. */
function readHandlers(work: BuildWork): Pick<Handlers, ResourceReads> {
  const { store } = work;
  const visible = <R>(principal: Principal, projectId: string, read: () => Promise<R | undefined>) =>
    readVisible(store, principal, projectId, read);
  return {
    'builds.attempts.read': async ({ principal, params: { projectId, buildAttemptId: id } }) =>
      settleAttempt(work, await visible(principal, projectId, () => store.buildAttempts.find(projectId, id))),
    'evidence.bundles.read': async ({ principal, params: { projectId, evidenceBundleId: id } }) =>
      (await visible(principal, projectId, () => store.bundles.find(projectId, id))).resource,
    'operations.read': async ({ principal, params: { projectId, operationId: id } }) => {
      const { organizationId, projects } = principal;
      const row = await visible(principal, projectId, () => store.operations.find(organizationId, id));
      // An operation of the whole organization shows to a token for all projects.
      if (row.projectId === undefined ? projects !== 'all' : row.projectId !== projectId) throw notFound();
      return row.resource;
    },
    'runs.read': async ({ principal, params: { projectId, hostedRunId: id } }) =>
      (await visible(principal, projectId, () => store.runs.find(projectId, id))).resource,
    'sessions.read': async ({ principal, params: { projectId, sessionId: id } }) =>
      (await visible(principal, projectId, () => store.sessions.find(projectId, id))).resource,
    'authoring.turns.read': async ({ principal, params }) => {
      const { projectId, authoringSessionId, authoringTurnId: id } = params;
      const { resource } = await visible(principal, projectId, () => store.turns.find(projectId, id));
      if (resource.authoringSessionId !== authoringSessionId) throw notFound();
      return resource;
    },
  };
}

/** The one place where the operations of the table meet the services behind them. */
export const createHandlers = (context: Context): Handlers => {
  const { store, now, cursors, addresses, runOnce } = context;
  return {
    'sessions.extend': ({ change, params, body: request }) =>
      runOnce(change, sessionExtensionSchema, (tx) => extendSession(tx, change, params, { request, now })),
    'authoring.turns.create': ({ change, params, body: request }) =>
      runOnce(change, authoringTurnCreationSchema, (tx) => createTurn(tx, change, params, { request, now })),
    'runs.reruns.create': ({ change, params }) =>
      runOnce(change, rerunSchema, (tx) => createRerun(tx, change, params, now)),
    'builds.tools.source': ({ principal, params, query }) =>
      readToolSource(context, principal, { ...params, ...query }),
    ...buildUploadHandlers(context, addresses, runOnce),
    ...exportHandlers(store, cursors, now),
    ...readHandlers(context),
  };
};
