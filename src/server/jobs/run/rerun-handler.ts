import type * as z from 'zod';
import type { HostedRun, RunResult } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';
import { nextVersion } from '../../services/operations.ts';
import { assertMove, mayMove } from '../../states.ts';
import type { HostedRunRow, Job, Store } from '../../store/store.ts';
import { endRun, type RunEnd } from '../endings.ts';
import type { Abandoned, JobHandler, Tx } from '../handler.ts';
import { judgedOutcome, toldProgress } from './runner-failure.ts';
import {
  type RerunJob,
  rerunOutcomeSchema,
  rerunProgressSchema,
  type RerunSuccess,
  type Runner,
} from './runner.ts';

const gone = (): DrillproofError => new DrillproofError('internal.BUG', 'a job has no run');

async function heldRun(tx: Tx, { projectId = '', resourceId }: Job): Promise<HostedRunRow> {
  const row = await tx.hostedRunForUpdate(projectId, resourceId);
  if (row === undefined) throw gone();
  return row;
}

async function jobOf(store: Store, job: Job): Promise<RerunJob> {
  const { projectId = '', resourceId, operationId, attempt } = job;
  const run = (await store.hostedRun(projectId, resourceId))?.resource;
  if (run === undefined) throw gone();
  const session = (await store.session(projectId, run.sessionId))?.resource;
  const original = (await store.hostedRun(projectId, run.rerunOfHostedRunId ?? ''))?.resource;
  if (session === undefined || original === undefined) throw gone();
  return { kind: 'run.rerun', operationId, attempt, run, session, original };
}

/** Moves the world of a run on, as far as it is not there yet. Sessions are held before their runs, as extend does. */
async function moveWorld(
  tx: Tx,
  job: Job,
  to: readonly ('warming' | 'ready')[],
  nowMs: number,
): Promise<void> {
  const { projectId = '', resourceId } = job;
  const run = await tx.hostedRun(projectId, resourceId);
  const row = await tx.sessionForUpdate(projectId, run?.resource.sessionId ?? '');
  if (row === undefined) throw gone();
  const { state: from } = row.resource;
  const state = to.reduce((at, next) => (mayMove('session', at, next) ? next : at), from);
  if (state === from) return;
  const version = nextVersion(row.resource.version);
  await tx.updateSession({ ...row, resource: { ...row.resource, state, version, updatedAtMs: nowMs } });
}

async function changeRun(
  tx: Tx,
  row: HostedRunRow,
  change: Partial<HostedRun>,
  nowMs: number,
): Promise<void> {
  const revision = nextVersion(row.resource.revision);
  await tx.updateHostedRun({
    ...row,
    resource: { ...row.resource, ...change, revision, updatedAtMs: nowMs },
  });
}

const PINNED = ['runId', 'drillId', 'seed', 'trial', 'trialCount', 'attempt', 'attemptLimit'] as const;

/** A rerun has the identity that was pinned when it was asked for (control API, Rerun). */
function identityIssues({ buildHash, request }: HostedRun, { identity }: RunResult): z.ZodError['issues'] {
  const wanted = { ...request, buildHash };
  return [...PINNED, 'buildHash' as const]
    .filter((name) => identity[name] !== wanted[name])
    .map((name) => ({
      code: 'custom',
      path: ['result', 'identity', name],
      message: 'must be as the run pins it',
    }));
}

const end = async (tx: Tx, job: Job, ended: RunEnd, nowMs: number): Promise<void> =>
  endRun(tx, await heldRun(tx, job), ended, nowMs);

/** What became of a run whose work came to nothing. */
function abandonedRun({ state, timedOut, error, cancelRequestedAtMs }: Abandoned): RunEnd {
  const failure = error !== undefined && { failure: error };
  if (timedOut) return { state: 'expired', termination: { outcome: 'timed_out' }, ...failure };
  const requested = cancelRequestedAtMs !== undefined && { requestedAtMs: cancelRequestedAtMs };
  return { state, termination: { outcome: state, ...requested }, ...failure };
}

/** Reruns, made by a runner within the deadline of the run (control API, Rerun). */
export const rerunHandler = (store: Store, runner: Runner): JobHandler => ({
  kind: 'run.rerun',
  async begin(tx, job, nowMs) {
    await moveWorld(tx, job, ['warming'], nowMs);
    const row = await heldRun(tx, job);
    if (row.resource.state === 'running') return;
    assertMove('run', row.resource.state, 'running');
    await changeRun(tx, row, { state: 'running' }, nowMs);
  },
  deadlineAtMs: async ({ projectId = '', resourceId }) =>
    (await store.hostedRun(projectId, resourceId))?.resource.deadlineAtMs,
  async run(job, { signal, progress }) {
    const tell = async (told: unknown): Promise<void> => {
      const { session, ...facts } = toldProgress(rerunProgressSchema, told);
      await progress(async (tx, nowMs) => {
        if (session !== undefined) await moveWorld(tx, job, ['warming', session], nowMs);
        await changeRun(tx, await heldRun(tx, job), facts, nowMs);
      });
    };
    const work = await jobOf(store, job);
    const given = await runner.run(work, { signal, progress: tell });
    const judged = judgedOutcome<RerunSuccess>(rerunOutcomeSchema, given, ({ result }) =>
      identityIssues(work.run, result),
    );
    if ('error' in judged) {
      const { error } = judged;
      const failed: RunEnd = { state: 'failed', termination: { outcome: 'failed' }, failure: error };
      return { error, write: (tx, nowMs) => end(tx, job, failed, nowMs) };
    }
    const { result } = judged.outcome;
    const { identity } = result;
    const done: RunEnd = { state: 'succeeded', termination: { outcome: 'completed' }, identity, result };
    return { write: (tx, nowMs) => end(tx, job, done, nowMs) };
  },
  abandon: (tx, job, why, nowMs) => end(tx, job, abandonedRun(why), nowMs),
});
