import { authoringTurnCreationSchema, rerunSchema, sessionExtensionSchema } from '../contract/index.ts';
import { settleAttempt, type BuildWork } from './builds/drive-attempt.ts';
import type { UploadAddresses } from './builds/upload-address.ts';
import { notFound } from './control-error.ts';
import type { Cursors } from './http/cursor.ts';
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

/** Reads of one resource each, by the project that it belongs to. */
const readHandlers = (
  work: BuildWork,
): Pick<
  Handlers,
  | 'builds.attempts.read'
  | 'evidence.bundles.read'
  | 'operations.read'
  | 'runs.read'
  | 'sessions.read'
  | 'authoring.turns.read'
> => {
  const { store } = work;
  return {
    'builds.attempts.read': async ({ principal, params: { projectId, buildAttemptId } }) =>
      settleAttempt(
        work,
        await readVisible(store, principal, projectId, () =>
          store.buildAttempts.find(projectId, buildAttemptId),
        ),
      ),
    'evidence.bundles.read': async ({ principal, params: { projectId, evidenceBundleId } }) =>
      (await readVisible(store, principal, projectId, () => store.bundles.find(projectId, evidenceBundleId)))
        .resource,
    'operations.read': async ({ principal, params: { projectId, operationId } }) => {
      const { organizationId, projects } = principal;
      const row = await readVisible(store, principal, projectId, () =>
        store.operations.find(organizationId, operationId),
      );
      // An operation of the whole organization shows to a token for all projects.
      if (row.projectId === undefined ? projects !== 'all' : row.projectId !== projectId) throw notFound();
      return row.resource;
    },
    'runs.read': async ({ principal, params: { projectId, hostedRunId } }) =>
      (await readVisible(store, principal, projectId, () => store.runs.find(projectId, hostedRunId)))
        .resource,
    'sessions.read': async ({ principal, params: { projectId, sessionId } }) =>
      (await readVisible(store, principal, projectId, () => store.sessions.find(projectId, sessionId)))
        .resource,
    'authoring.turns.read': async ({ principal, params }) => {
      const { projectId, authoringSessionId, authoringTurnId } = params;
      const { resource } = await readVisible(store, principal, projectId, () =>
        store.turns.find(projectId, authoringTurnId),
      );
      if (resource.authoringSessionId !== authoringSessionId) throw notFound();
      return resource;
    },
  };
};

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
