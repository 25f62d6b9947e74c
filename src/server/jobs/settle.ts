import { refusedError } from '../model/admin-context.ts';
import type { ServerContext } from '../model/context.ts';
import { isEnd, mayMove, nextVersion } from '../model/states.ts';
import { deadlineOfTurn } from '../store/sessions.ts';
import type { InProject, Tx, OperationRow } from '../store/store.ts';
import { isOver, TIMED_OUT, type Abandoned, correlateError, type JobHandler } from './handler.ts';
import { startOperation } from './drive.ts';
import { abandonExport, EXPORT_KIND } from './export/content.ts';
import { abandonRun } from './run/rerun.ts';
import { abandonTurn } from './run/turn.ts';
import type { OperationResource } from '../../contract/resources/operation.ts';
import { notFound } from '../http/envelope.ts';
import { BUNDLE_DELETION_KIND, EXPORT_DELETION_KIND } from './deletion.ts';

type WorkRef = InProject & { readonly resourceId: string };

// Resources past their deadline settle without a worker, when they are read and by the sweep (control API, States).
type SettleContext = Pick<ServerContext, 'store' | 'now'>;

async function expireSession(tx: Tx, projectId: string, sessionId: string, nowMs: number): Promise<void> {
  const row = await tx.sessions.lock(projectId, sessionId);
  if (row === undefined || !isOver(row.resource.expiresAtMs, nowMs)) return;
  if (!mayMove('session', row.resource.state, 'expired')) return;
  const expired = {
    state: 'expired' as const,
    version: nextVersion(row.resource.version),
    updatedAtMs: nowMs,
  };
  await tx.sessions.update({ ...row, resource: { ...row.resource, ...expired } });
}

type Work = Pick<JobHandler, 'abandon'> & {
  /** Locks the resource and returns whether it is past its deadline. */
  readonly isOverdue?: (tx: Tx, projectId: string, resourceId: string, nowMs: number) => Promise<boolean>;
};

export const WORK: Readonly<Record<string, Work>> = {
  [EXPORT_KIND]: { abandon: abandonExport },
  'run.rerun': {
    abandon: abandonRun,
    async isOverdue(tx, projectId, resourceId, nowMs) {
      const sessionId = (await tx.runs.find(projectId, resourceId))?.resource.sessionId;
      await tx.sessions.lock(projectId, sessionId ?? ''); // ending the run ends its world; extend locks in this order
      const run = (await tx.runs.lock(projectId, resourceId))?.resource;
      return run !== undefined && isOver(run.deadlineAtMs, nowMs) && mayMove('run', run.state, 'expired');
    },
  },
  'authoring.turn': {
    abandon: abandonTurn,
    async isOverdue(tx, projectId, resourceId, nowMs) {
      const turn = (await tx.turns.lock(projectId, resourceId))?.resource;
      return turn?.state === 'running' && isOver(deadlineOfTurn(turn), nowMs);
    },
  },
};

/** Ends late work: its resource, its operation and its job, in the lock order of a worker. */
async function expireWork(
  tx: Tx,
  kind: string,
  { organizationId, projectId, resourceId }: WorkRef,
  nowMs: number,
): Promise<void> {
  const work = WORK[kind];
  const job = await tx.jobs.findOf({ kind, projectId, resourceId });
  const operation = job && (await tx.operations.lock(organizationId, job.operationId));
  if ((await work?.isOverdue?.(tx, projectId, resourceId, nowMs)) !== true) return;
  let reason: Abandoned = TIMED_OUT;
  if (operation !== undefined && !isEnd('operation', operation.resource.state)) {
    const { operationId, resource } = await startOperation(tx, operation, nowMs);
    const error = correlateError(TIMED_OUT.error, operationId);
    const ended = { ...resource, state: TIMED_OUT.state, error, finishedAtMs: nowMs, updatedAtMs: nowMs };
    await tx.operations.update({ ...operation, resource: ended });
    await tx.jobs.remove(operationId);
    reason = { ...TIMED_OUT, error };
  }
  await work?.abandon(tx, { organizationId, projectId, resourceId }, reason, nowMs);
}

export const createSettle = ({ store, now }: SettleContext) => ({
  session: ({ projectId, sessionId }: InProject & { readonly sessionId: string }) =>
    store.transaction((tx) => expireSession(tx, projectId, sessionId, now())),
  /** @param kind kind of the operation; other kinds have no deadline */
  work: (kind: string, row: WorkRef) => store.transaction((tx) => expireWork(tx, kind, row, now())),
});

const BATCH = 100;

async function settleBatch(context: SettleContext): Promise<number> {
  const { store, now } = context;
  const settle = createSettle(context);
  const [sessions, runs, turns] = [
    await store.sessions.due(now(), BATCH),
    await store.runs.due(now(), BATCH),
    await store.turns.due(now(), BATCH),
  ];
  for (const row of runs) await settle.work('run.rerun', { ...row, resourceId: row.hostedRunId });
  for (const row of turns) await settle.work('authoring.turn', { ...row, resourceId: row.authoringTurnId });
  for (const row of sessions) await settle.session(row);
  return sessions.length + runs.length + turns.length;
}

/** Settles sessions, runs and turns past their deadline, which reading them does too; returns how many. */
export async function settleDue(context: SettleContext, signal: AbortSignal): Promise<number> {
  let settled = 0;
  for (let batch = await settleBatch(context); batch > 0; batch = await settleBatch(context)) {
    signal.throwIfAborted();
    settled += batch;
  }
  return settled;
}

// Deleted evidence is no longer served, so stopping a deletion would only keep its bytes.
const NEVER_CANCELLED: readonly string[] = [BUNDLE_DELETION_KIND, EXPORT_DELETION_KIND];

async function cancelPending(tx: Tx, row: OperationRow, nowMs: number): Promise<OperationResource> {
  const { kind, resourceId } = row.resource;
  const reason = { state: 'cancelled', timedOut: false, cancelRequestedAtMs: nowMs } as const;
  if (resourceId !== undefined) await WORK[kind]?.abandon(tx, { ...row, resourceId }, reason, nowMs);
  const times = { cancelRequestedAtMs: nowMs, finishedAtMs: nowMs, updatedAtMs: nowMs };
  const resource = { ...row.resource, ...times, state: 'cancelled' as const };
  await tx.operations.update({ ...row, resource });
  return resource;
}

/**
 * Requests the cancellation of queued work. Work that no worker holds is cancelled at once; otherwise its worker stops it
 * later (control API, Operation). A second request changes nothing.
 * @param check throws unless the locked operation may be cancelled
 * @throws Refusal `control.NOT_FOUND`; DrillproofError `server.ADMIN_REFUSED` for a deletion
 */
export async function cancelOperation(
  tx: Tx,
  { organizationId, operationId }: { readonly organizationId: string; readonly operationId: string },
  nowMs: number,
  check: (operation: OperationResource) => void = () => undefined,
): Promise<OperationResource> {
  const row = await tx.operations.lock(organizationId, operationId);
  if (row === undefined) throw notFound();
  check(row.resource);
  const { kind, state, cancelRequestedAtMs } = row.resource;
  if (NEVER_CANCELLED.includes(kind)) throw refusedError('a deletion cannot be cancelled');
  if (isEnd('operation', state) || cancelRequestedAtMs !== undefined) return row.resource;
  if (state === 'pending' && (await tx.jobs.removeWaiting(operationId, nowMs)))
    return cancelPending(tx, row, nowMs);
  const resource = { ...row.resource, cancelRequestedAtMs: nowMs, updatedAtMs: nowMs };
  await tx.operations.update({ ...row, resource });
  return resource;
}
