import type * as z from 'zod';
import { defined } from '../../../bytes/index.ts';
import type { HostedRun, RunResult } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';
import { nextVersion } from '../../services/operations.ts';
import { assertMove, mayMove } from '../../states.ts';
import type { HostedRunRow, Job, Store, Tx } from '../../store/store.ts';
import type { Abandoned, JobHandler, ResourceRef } from '../handler.ts';
import {
  parseOutcome,
  parseProgress,
  type RerunJob,
  rerunOutcomeSchema,
  rerunProgressSchema,
  type RerunSuccess,
  type Runner,
} from './runner.ts';

const missing = (): DrillproofError => new DrillproofError('internal.BUG', 'a job has no run');

async function lockRun(tx: Tx, { projectId = '', resourceId }: ResourceRef): Promise<HostedRunRow> {
  const row = await tx.runs.lock(projectId, resourceId);
  if (row === undefined) throw missing();
  return row;
}

async function jobOf(store: Store, job: Job): Promise<RerunJob> {
  const { projectId = '', resourceId, operationId, attempt } = job;
  const run = (await store.runs.find(projectId, resourceId))?.resource;
  if (run === undefined) throw missing();
  const session = (await store.sessions.find(projectId, run.sessionId))?.resource;
  const original = (await store.runs.find(projectId, run.rerunOfHostedRunId ?? ''))?.resource;
  if (session === undefined || original === undefined) throw missing();
  return { kind: 'run.rerun', operationId, attempt, run, session, original };
}

/** Advances the world of a run. It locks the session before the run, in the same order as extend does. */
async function moveWorld(
  tx: Tx,
  job: Job,
  to: readonly ('warming' | 'ready')[],
  nowMs: number,
): Promise<void> {
  const { projectId = '', resourceId } = job;
  const run = await tx.runs.find(projectId, resourceId);
  const row = await tx.sessions.lock(projectId, run?.resource.sessionId ?? '');
  if (row === undefined) throw missing();
  const { state: from } = row.resource;
  const state = to.reduce((at, next) => (mayMove('session', at, next) ? next : at), from);
  if (state === from) return;
  const version = nextVersion(row.resource.version);
  await tx.sessions.update({ ...row, resource: { ...row.resource, state, version, updatedAtMs: nowMs } });
}

async function changeRun(
  tx: Tx,
  row: HostedRunRow,
  change: Partial<HostedRun>,
  nowMs: number,
): Promise<void> {
  const revision = nextVersion(row.resource.revision);
  await tx.runs.update({
    ...row,
    resource: { ...row.resource, ...change, revision, updatedAtMs: nowMs },
  });
}

const PINNED = ['runId', 'drillId', 'seed', 'trial', 'trialCount', 'attempt', 'attemptLimit'] as const;

/** A rerun must have the identity that was pinned when it was requested (control API, Rerun). */
function identityIssues({ buildHash, request }: HostedRun, { identity }: RunResult): z.ZodError['issues'] {
  const pinned = { ...request, buildHash };
  return [...PINNED, 'buildHash' as const]
    .filter((name) => identity[name] !== pinned[name])
    .map((name) => ({
      code: 'custom',
      path: ['result', 'identity', name],
      message: 'must equal the value that the run pins',
    }));
}

type Termination = NonNullable<HostedRun['termination']>;
type RunEnd = Partial<Pick<HostedRun, 'identity' | 'result' | 'failure'>> & {
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'expired';
  readonly termination: Omit<Termination, 'schemaVersion'>;
};

/** Ends a run, and removes its pending interaction. */
async function endRun(tx: Tx, ref: ResourceRef, end: RunEnd, nowMs: number): Promise<void> {
  const row = await lockRun(tx, ref);
  const { pendingInteraction: _pendingInteraction, ...run } = row.resource;
  assertMove('run', run.state, end.state);
  const revision = nextVersion(run.revision);
  const termination: Termination = { schemaVersion: 1, ...end.termination };
  const ended: HostedRun = {
    ...run,
    ...end,
    termination,
    revision,
    updatedAtMs: nowMs,
    finishedAtMs: nowMs,
  };
  await tx.runs.update({ ...row, resource: ended });
}

/** Ends a run whose work was abandoned. */
export function abandonRun(tx: Tx, ref: ResourceRef, why: Abandoned, nowMs: number): Promise<void> {
  const { state, timedOut, error, cancelRequestedAtMs } = why;
  const end: Pick<RunEnd, 'state' | 'termination'> = timedOut
    ? { state: 'expired', termination: { outcome: 'timed_out' } }
    : { state, termination: { outcome: state, ...defined({ requestedAtMs: cancelRequestedAtMs }) } };
  return endRun(tx, ref, { ...end, ...defined({ failure: error }) }, nowMs);
}

/** Reruns, performed by a runner before the deadline of the run (control API, Rerun). */
export const rerunHandler = (store: Store, runner: Runner): JobHandler => ({
  kind: 'run.rerun',
  async begin(tx, job, nowMs) {
    await moveWorld(tx, job, ['warming'], nowMs);
    const row = await lockRun(tx, job);
    if (row.resource.state === 'running') return;
    assertMove('run', row.resource.state, 'running');
    await changeRun(tx, row, { state: 'running' }, nowMs);
  },
  deadlineAtMs: async ({ projectId = '', resourceId }) =>
    (await store.runs.find(projectId, resourceId))?.resource.deadlineAtMs,
  async run(job, { signal, progress }) {
    const report = async (reported: unknown): Promise<void> => {
      const { session, ...facts } = parseProgress(rerunProgressSchema, reported);
      await progress(async (tx, nowMs) => {
        if (session !== undefined) await moveWorld(tx, job, ['warming', session], nowMs);
        await changeRun(tx, await lockRun(tx, job), facts, nowMs);
      });
    };
    const work = await jobOf(store, job);
    const outcome = await runner.run(work, { signal, progress: report });
    const parsed = parseOutcome<RerunSuccess>(rerunOutcomeSchema, outcome, ({ result }) =>
      identityIssues(work.run, result),
    );
    if ('error' in parsed) {
      const { error } = parsed;
      const failed: RunEnd = { state: 'failed', termination: { outcome: 'failed' }, failure: error };
      return { error, write: (tx, nowMs) => endRun(tx, job, failed, nowMs) };
    }
    const { result } = parsed.outcome;
    const { identity } = result;
    const done: RunEnd = { state: 'succeeded', termination: { outcome: 'completed' }, identity, result };
    return { write: (tx, nowMs) => endRun(tx, job, done, nowMs) };
  },
  abandon: abandonRun,
});
