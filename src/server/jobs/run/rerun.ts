import type * as z from 'zod/mini';
import { defined } from '../../../bytes/index.ts';
import { type HostedRun, runIdentitySchema } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';
import { nextVersion } from '../../services/operations.ts';
import { assertMove, isOpenToAgents, mayMove } from '../../states.ts';
import type { HostedRunRow, Job, Reads, Tx } from '../../store/store.ts';
import type { Abandoned, ResourceRef } from '../handler.ts';
import { storeEvidence } from './evidence.ts';
import type { HostedWork } from './hosted-job.ts';
import {
  outcomeError,
  type PinnedIdentity,
  type RerunJob,
  rerunOutcomeSchema,
  rerunProgressSchema,
  type RerunSuccess,
} from './runner.ts';

type RunIdentity = NonNullable<HostedRun['identity']>;

const missing = (): DrillproofError => new DrillproofError('internal.BUG', 'a job has no run');

async function lockRun(tx: Tx, { projectId = '', resourceId }: ResourceRef): Promise<HostedRunRow> {
  const row = await tx.runs.lock(projectId, resourceId);
  if (row === undefined) throw missing();
  return row;
}

async function read(reads: Reads, job: Job): Promise<RerunJob> {
  const { projectId = '', resourceId, operationId, attempt } = job;
  const run = (await reads.runs.find(projectId, resourceId))?.resource;
  if (run === undefined) throw missing();
  const session = (await reads.sessions.find(projectId, run.sessionId))?.resource;
  const original = (await reads.runs.find(projectId, run.rerunOfHostedRunId ?? ''))?.resource;
  if (session === undefined || original === undefined) throw missing();
  // The inputs that a rerun must repeat (control API, Rerun).
  const { worldInstanceId: _world, ...inputs } = (await firstIdentity(reads, original)) ?? {};
  const identity = { ...inputs, ...run.request, buildHash: run.buildHash };
  return { kind: 'run.rerun', operationId, attempt, run, identity, session, original };
}

/**
 * Advances the world of a run, unless it has expired. It locks the session before the run, in the same order as extend
 * does.
 */
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
  const { state: from, expiresAtMs } = row.resource;
  if (expiresAtMs <= nowMs) return;
  const reachable = to.filter((next) => next !== 'ready' || isOpenToAgents(row.resource));
  const state = reachable.reduce((at, next) => (mayMove('session', at, next) ? next : at), from);
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
  await tx.runs.update({ ...row, resource: { ...row.resource, ...change, revision, updatedAtMs: nowMs } });
}

// A rerun of a rerun that failed early is held to the first identity in the chain. A chain longer than this is not
// followed further: longer chains do not occur in practice, and imported runs could name each other.
const MAX_CHAIN = 100;

async function firstIdentity(reads: Reads, original: HostedRun): Promise<HostedRun['identity']> {
  let run: HostedRun | undefined = original;
  for (let link = 0; run !== undefined && link < MAX_CHAIN; link++) {
    const identity = run.identity ?? run.result?.identity;
    if (identity !== undefined) return identity;
    run = (await reads.runs.find(run.projectId, run.rerunOfHostedRunId ?? ''))?.resource;
  }
  return undefined;
}

const INPUTS = Object.keys(runIdentitySchema.shape).filter(
  (name) => name !== 'worldInstanceId',
) as readonly Exclude<keyof RunIdentity, 'worldInstanceId'>[];

/**
 * What of a reported identity differs from the pinned one. An original without an identity pins neither target nor lock,
 * nor scenario and setup.
 */
function identityIssues(
  pinned: PinnedIdentity,
  reported: RunIdentity | undefined,
  path: readonly string[],
): z.core.$ZodError['issues'] {
  if (reported === undefined) return [];
  const isWhole = pinned.targetId !== undefined;
  return INPUTS.filter(
    (name) => (isWhole || pinned[name] !== undefined) && reported[name] !== pinned[name],
  ).map((name) => ({
    code: 'custom',
    path: [...path, name],
    message: 'must equal the value that the run pins',
  }));
}

const DIFFERENT = 'the inputs of the rerun differ from those of the original';

type Termination = NonNullable<HostedRun['termination']>;
type RunEnd = Partial<Pick<HostedRun, 'identity' | 'result' | 'failure'>> & {
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'expired';
  readonly termination: Omit<Termination, 'schemaVersion'>;
};

async function endRun(tx: Tx, ref: ResourceRef, end: RunEnd, nowMs: number): Promise<void> {
  const row = await lockRun(tx, ref);
  const { pendingInteraction: _pendingInteraction, ...run } = row.resource;
  assertMove('run', run.state, end.state);
  const revision = nextVersion(run.revision);
  const termination: Termination = { schemaVersion: 1, ...end.termination };
  const ended: HostedRun = { ...run, ...end, termination, revision, updatedAtMs: nowMs, finishedAtMs: nowMs };
  await tx.runs.update({ ...row, resource: ended });
}

export function abandonRun(tx: Tx, ref: ResourceRef, why: Abandoned, nowMs: number): Promise<void> {
  const { state, timedOut, error, cancelRequestedAtMs } = why;
  const end: Pick<RunEnd, 'state' | 'termination'> = timedOut
    ? { state: 'expired', termination: { outcome: 'timed_out' } }
    : { state, termination: { outcome: state, ...defined({ requestedAtMs: cancelRequestedAtMs }) } };
  return endRun(tx, ref, { ...end, ...defined({ failure: error }) }, nowMs);
}

/** Reruns, performed by a runner before the deadline of the run (control API, Rerun). */
export const rerunWork: HostedWork<RerunJob, z.output<typeof rerunProgressSchema>, RerunSuccess> = {
  kind: 'run.rerun',
  progress: rerunProgressSchema,
  outcome: rerunOutcomeSchema,
  read,
  deadlineAtMs: async (reads, { projectId = '', resourceId }) =>
    (await reads.runs.find(projectId, resourceId))?.resource.deadlineAtMs,
  async begin(tx, job, nowMs) {
    await moveWorld(tx, job, ['warming'], nowMs);
    const row = await lockRun(tx, job);
    if (row.resource.state === 'running') return;
    assertMove('run', row.resource.state, 'running');
    await changeRun(tx, row, { state: 'running' }, nowMs);
  },
  check({ identity: pinned }, { identity, result }) {
    const issues = [
      ...identityIssues(pinned, identity, ['identity']),
      ...identityIssues(pinned, result?.identity, ['result', 'identity']),
    ];
    return issues.length > 0 ? outcomeError('control.RERUN_INPUTS_DIFFER', DIFFERENT, issues) : undefined;
  },
  async note(tx, job, { session, ...facts }, nowMs) {
    if (session !== undefined) await moveWorld(tx, job, ['warming', session], nowMs);
    await changeRun(tx, await lockRun(tx, job), facts, nowMs);
  },
  async accept({ host, job, handed }, { result, evidence }) {
    const stored =
      evidence === undefined ? undefined : await storeEvidence(host, handed.run, { result, evidence });
    if (stored !== undefined && 'error' in stored) return stored.error;
    const { identity } = result;
    const done: RunEnd = { state: 'succeeded', termination: { outcome: 'completed' }, identity, result };
    return async (tx, nowMs) => {
      await stored?.write(tx, nowMs);
      await endRun(tx, job, done, nowMs);
    };
  },
  abandon: abandonRun,
};
