import {
  authoringSessionChangeSchema,
  authoringTurnCreationSchema,
  rerunSchema,
  sessionExtensionSchema,
} from '../contract/operations/answers.ts';
import { MAX_SESSION_TTL_MS } from '../contract/resources/session.ts';
import { operationResourceSchema, type OperationResource } from '../contract/resources/operation.ts';
import type { Permission } from '../contract/operations/operations.ts';
import { settleAttempt } from './builds/drive-attempt.ts';
import { Refusal, notFound } from './http/envelope.ts';
import type { Cursors, UploadAddresses } from './http/sealed.ts';
import type { Principal } from './http/tokens.ts';
import {
  assertCurrent,
  assertPermission,
  assertProject,
  createPager,
  type Handlers,
  hasEveryProject,
  readVisible,
  type RunOnce,
} from './services/handler.ts';
import { cancelOperation, createSettle } from './jobs/settle.ts';
import { closeAuthoringSession, createTurn, type Models } from './services/authoring.ts';
import { buildUploadHandlers, type UploadWork } from './services/build-uploads.ts';
import { exportHandlers } from './services/exports.ts';
import { createRerun } from './services/runs.ts';
import { prepareExtension } from './services/sessions.ts';
import { isOver } from './jobs/handler.ts';
import { isEnd } from './model/states.ts';
import { deadlineOfTurn } from './store/sessions.ts';
import type { Reads } from './store/store.ts';
import { readToolSource } from './services/tool-source.ts';

type Context = UploadWork & {
  readonly cursors: () => Promise<Cursors>;
  readonly addresses: () => Promise<UploadAddresses>;
  readonly runOnce: RunOnce;
  readonly models: Models;
};

// The permission that starts a kind of work also allows reading and cancelling it. Operators start every other kind.
const STARTED_BY: Readonly<Record<string, Permission>> = {
  'session.extend': 'session.control',
  'authoring.turn': 'authoring.write',
  'authoring.session.close': 'authoring.write',
  'run.rerun': 'run.write',
};

/** Finds an operation of the project; one of the whole organization needs a token for all projects. */
async function findOperation(
  reads: Reads,
  principal: Principal,
  { projectId, operationId }: { readonly projectId: string; readonly operationId: string },
): Promise<OperationResource> {
  const row = await reads.operations.find(principal.organizationId, operationId);
  if (row === undefined) throw notFound();
  const visible =
    row.projectId === undefined ? await hasEveryProject(reads, principal) : row.projectId === projectId;
  if (!visible) throw notFound();
  return row.resource;
}

/** Requires an operation that the token may cancel, because it may start its kind. */
async function assertMayCancel(
  reads: Reads,
  principal: Principal,
  ref: { readonly projectId: string; readonly operationId: string },
): Promise<void> {
  await assertProject(reads, principal, ref.projectId);
  const operation = await findOperation(reads, principal, ref);
  const permission = STARTED_BY[operation.kind];
  if (permission === undefined)
    throw new Refusal('control.PERMISSION_DENIED', 'only the operator can cancel this kind of operation');
  assertPermission(principal, permission);
}

/** Reads a resource, and reads it again if it had to be settled first. */
async function readSettled<Row extends { readonly resource: object }>(
  find: () => Promise<Row>,
  settle: (row: Row) => Promise<unknown> | undefined,
): Promise<Row['resource']> {
  const row = await find();
  const settling = settle(row);
  if (settling === undefined) return row.resource;
  await settling;
  return (await find()).resource;
}

/** Creates the reads of one resource each, by its project. */
function readHandlers(work: Context) {
  const { store, cursors, now } = work;
  const settle = createSettle(work);
  const page = createPager(cursors);
  return {
    'builds.attempts.read': async ({ principal, params: { projectId, buildAttemptId: id } }) =>
      settleAttempt(
        work,
        await readVisible(principal, projectId, () => store.buildAttempts.find(projectId, id)),
      ),
    'evidence.bundles.read': async ({ principal, params: { projectId, evidenceBundleId: id } }) =>
      (await readVisible(principal, projectId, () => store.bundles.find(projectId, id))).resource,
    'operations.read': async ({ principal, params }) => {
      await assertProject(store, principal, params.projectId);
      const operation = await findOperation(store, principal, params);
      const starter = STARTED_BY[operation.kind];
      assertPermission(principal, 'evidence.read', starter && [starter]);
      const { kind, state, projectId, resourceId } = operation;
      if (isEnd('operation', state) || projectId === undefined || resourceId === undefined) return operation;
      await settle.work(kind, { organizationId: operation.organizationId, projectId, resourceId });
      return findOperation(store, principal, params);
    },
    'runs.read': ({ principal, params: { projectId, hostedRunId: id } }) =>
      readSettled(
        () => readVisible(principal, projectId, () => store.runs.find(projectId, id)),
        ({ resource: { state, deadlineAtMs }, ...row }) =>
          isEnd('run', state) || !isOver(deadlineAtMs, now())
            ? undefined
            : settle.work('run.rerun', { ...row, resourceId: id }),
      ),

    'environments.read': async ({ principal, params: { projectId, environmentId: id } }) => ({
      schemaVersion: 1,
      ...(await readVisible(principal, projectId, () => store.environments.find(projectId, id))),
    }),
    'sessions.read': ({ principal, params: { projectId, sessionId: id } }) =>
      readSettled(
        () => readVisible(principal, projectId, () => store.sessions.find(projectId, id)),
        ({ resource: { state, expiresAtMs }, ...row }) =>
          isEnd('session', state) || !isOver(expiresAtMs, now()) ? undefined : settle.session(row),
      ),

    'authoring.sessions.read': async ({ principal, params: { projectId, authoringSessionId: id } }) =>
      (await readVisible(principal, projectId, () => store.authoringSessions.find(projectId, id))).resource,
    'authoring.turns.list': async ({ principal, params, query }) => {
      const { projectId, authoringSessionId: id } = params;
      await readVisible(principal, projectId, () => store.authoringSessions.find(projectId, id));
      const { organizationId } = principal;
      const scope = { list: 'authoring.turns', organizationId, ...params };
      const { rows, next } = await page(scope, query, async (after, limit) => {
        const turns = await store.turns.list(params, after, limit);
        return turns.map(({ resource }) => ({ resource, ordinal: resource.sequence }));
      });

      return { items: rows.map(({ resource }) => resource), ...next };
    },
    'authoring.turns.read': ({ principal, params }) => {
      const { projectId, authoringSessionId, authoringTurnId: id } = params;
      return readSettled(
        () => readVisible(principal, projectId, () => store.turns.find(projectId, id)),
        ({ resource: turn, ...row }) => {
          if (turn.authoringSessionId !== authoringSessionId) throw notFound();
          return turn.state !== 'running' || !isOver(deadlineOfTurn(turn), now())
            ? undefined
            : settle.work('authoring.turn', { ...row, resourceId: id });
        },
      );
    },
  } satisfies Partial<Handlers>;
}

/** Connects the operations of the table with their services. */
export const createHandlers = (context: Context): Handlers => {
  const { store, now, cursors, addresses, runOnce, models } = context;
  return {
    'sessions.extend': async ({ change, params, body: request }) => {
      const organization = await store.organizations.find(change.principal.organizationId);
      const facts = { request, maxTtlMs: organization?.maxSessionTtlMs ?? MAX_SESSION_TTL_MS, now };
      return runOnce(change, sessionExtensionSchema, (tx) => prepareExtension(tx, change, params, facts));
    },
    'authoring.turns.create': ({ change, params, body: request }) =>
      runOnce(
        change,
        authoringTurnCreationSchema,
        async (tx) => () => createTurn(tx, change, params, { request, models, now }),
      ),
    'runs.reruns.create': ({ change, params }) =>
      runOnce(change, rerunSchema, async (tx) => () => createRerun(tx, change, params, now)),
    'authoring.sessions.close': ({ change, params }) =>
      runOnce(
        change,
        authoringSessionChangeSchema,
        async (tx) => () => closeAuthoringSession(tx, change, params, now),
      ),
    'operations.cancel': async ({ change, params: { projectId, operationId } }) => {
      const { organizationId } = change.principal;
      await assertMayCancel(store, change.principal, { projectId, operationId });
      return runOnce(
        change,
        operationResourceSchema,
        async (tx) => () =>
          cancelOperation(tx, { organizationId, operationId }, now(), (locked) =>
            assertCurrent(change, locked),
          ),
      );
    },
    'builds.tools.source': ({ principal, params, query }) =>
      readToolSource(context, principal, { ...params, ...query }),
    ...buildUploadHandlers(context, addresses, runOnce),
    ...exportHandlers(store, cursors, now),
    ...readHandlers(context),
  };
};
