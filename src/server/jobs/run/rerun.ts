import { resolve } from 'node:path';
import type * as z from 'zod/mini';
import { defined } from '../../../bytes/arguments.ts';
import { canonicalJson } from '../../../bytes/json/canonical.ts';
import type { RandomAccess } from '../../../bytes/random-access.ts';
import { type HostedRun, runIdentitySchema } from '../../../contract/resources/run.ts';
import type { OperationError } from '../../../contract/resources/operation.ts';
import { DrillproofError } from '../../../errors.ts';
import { assertMove, isOpenToAgents, mayMove, nextVersion } from '../../model/states.ts';
import type { HostedRunRow, Job, Reads, Tx } from '../../store/store.ts';
import type { Abandoned, ResourceRef, JobWrite } from '../handler.ts';
import type { HostedWork, RunnerHost } from './hosted-job.ts';
import {
  outcomeError,
  type PinnedIdentity,
  type RerunJob,
  rerunOutcomeSchema,
  rerunProgressSchema,
  type RerunSuccess,
} from './runner.ts';
import { codeFacts, isCode } from '../../../codes/facts.ts';
import { openFile } from '../../../node/evidence/file-access.ts';
import { addBundle, type StoredPart, storePart } from '../../services/part.ts';
import { holdBlobs } from '../../blobs/blobs.ts';

type RunIdentity = NonNullable<HostedRun['identity']>;

const missingRunError = (): DrillproofError => new DrillproofError('internal.BUG', 'a job has no run');

async function lockRun(tx: Tx, { projectId = '', resourceId }: ResourceRef): Promise<HostedRunRow> {
  const row = await tx.runs.lock(projectId, resourceId);
  if (row === undefined) throw missingRunError();
  return row;
}

async function read(reads: Reads, job: Job, graceMs: number): Promise<RerunJob> {
  const { projectId = '', resourceId, operationId, attempt } = job;
  const run = (await reads.runs.find(projectId, resourceId))?.resource;
  if (run === undefined) throw missingRunError();
  const session = (await reads.sessions.find(projectId, run.sessionId))?.resource;
  const original = (await reads.runs.find(projectId, run.rerunOfHostedRunId ?? ''))?.resource;
  if (session === undefined || original === undefined) throw missingRunError();
  // The inputs that a rerun must repeat (control API, Rerun).
  const { worldInstanceId: _world, ...inputs } = (await findIdentity(reads, original)) ?? {};
  const identity = { ...inputs, ...run.request, buildHash: run.buildHash };
  const limits = { deadlineAtMs: run.deadlineAtMs, graceMs };
  return { kind: 'run.rerun', operationId, attempt, ...limits, run, identity, session, original };
}

type WorldStates = readonly ('warming' | 'ready' | 'destroying' | 'destroyed')[];

/**
 * Advances the world of a run, unless it has expired. Locks the session before the run, in the same order as extend.
 */
async function moveWorld(tx: Tx, job: ResourceRef, to: WorldStates, nowMs: number): Promise<void> {
  const { projectId = '', resourceId } = job;
  const run = await tx.runs.find(projectId, resourceId);
  const row = await tx.sessions.lock(projectId, run?.resource.sessionId ?? '');
  if (row === undefined) throw missingRunError();
  const { state: from, expiresAtMs } = row.resource;
  if (expiresAtMs <= nowMs) return;
  const reachable = to.filter((next) => next !== 'ready' || isOpenToAgents(row.resource));
  const state = reachable.reduce((at, next) => (mayMove('session', at, next) ? next : at), from);
  if (state === from) return;
  const version = nextVersion(row.resource.version);
  await tx.sessions.update({ ...row, resource: { ...row.resource, state, version, updatedAtMs: nowMs } });
}

/**
 * Ends the world that a rerun made, which is a child of the world of the original. A run that was imported shares its
 * world with others.
 */
async function endWorld(tx: Tx, ref: ResourceRef, nowMs: number): Promise<void> {
  const { projectId = '', resourceId } = ref;
  const run = (await tx.runs.find(projectId, resourceId))?.resource;
  const original = (await tx.runs.find(projectId, run?.rerunOfHostedRunId ?? ''))?.resource;
  const world = (await tx.sessions.find(projectId, run?.sessionId ?? ''))?.resource;
  if (original !== undefined && world?.parentSessionId === original.sessionId)
    await moveWorld(tx, ref, ['destroying', 'destroyed'], nowMs);
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

// A rerun of a rerun that failed early must repeat the first identity in the chain. Longer chains do not occur in practice,
// but imported runs could name each other.
const MAX_CHAIN = 100;

async function findIdentity(reads: Reads, original: HostedRun): Promise<HostedRun['identity']> {
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
 * Lists the members of a reported identity that differ from the pinned one. An original without an identity does not pin
 * target, lock, scenario and setup.
 */
function compareIdentity(
  pinned: PinnedIdentity,
  reported: RunIdentity | undefined,
  path: readonly string[],
): z.core.$ZodError['issues'] {
  if (reported === undefined) return [];
  const isComplete = pinned.targetId !== undefined;
  const message = 'must equal the value that the run pins';
  const isPinned = (name: (typeof INPUTS)[number]) => isComplete || pinned[name] !== undefined;
  const different = INPUTS.filter((name) => isPinned(name) && reported[name] !== pinned[name]);
  return different.map((name) => ({ code: 'custom', path: [...path, name], message }));
}

const DIFFERENT = 'the inputs of the rerun differ from those of the original';

type Termination = NonNullable<HostedRun['termination']>;
type RunEnd = Partial<Pick<HostedRun, 'identity' | 'result' | 'failure'>> & {
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'expired';
  readonly termination: Omit<Termination, 'schemaVersion'>;
};

async function endRun(tx: Tx, ref: ResourceRef, end: RunEnd, nowMs: number): Promise<void> {
  await endWorld(tx, ref, nowMs);
  const row = await lockRun(tx, ref);
  const { pendingInteraction: _pendingInteraction, ...run } = row.resource;
  assertMove('run', run.state, end.state);
  const revision = nextVersion(run.revision);
  const termination: Termination = { schemaVersion: 1, ...end.termination };
  const ended: HostedRun = { ...run, ...end, termination, revision, updatedAtMs: nowMs, finishedAtMs: nowMs };
  await tx.runs.update({ ...row, resource: ended });
}

export function abandonRun(tx: Tx, ref: ResourceRef, reason: Abandoned, nowMs: number): Promise<void> {
  const { state, timedOut, error, cancelRequestedAtMs } = reason;
  const end: Pick<RunEnd, 'state' | 'termination'> = timedOut
    ? { state: 'expired', termination: { outcome: 'timed_out' } }
    : { state, termination: { outcome: state, ...defined({ requestedAtMs: cancelRequestedAtMs }) } };
  return endRun(tx, ref, { ...end, ...defined({ failure: error }) }, nowMs);
}

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
      ...compareIdentity(pinned, identity, ['identity']),
      ...compareIdentity(pinned, result?.identity, ['result', 'identity']),
    ];
    return issues.length > 0 ? outcomeError('control.RERUN_INPUTS_DIFFER', DIFFERENT, issues) : undefined;
  },
  async note(tx, job, { session, ...facts }, nowMs) {
    if (session !== undefined) await moveWorld(tx, job, ['warming', session], nowMs);
    await changeRun(tx, await lockRun(tx, job), facts, nowMs);
  },
  async accept({ host, job, runnerJob, folder }, { result, evidence }) {
    const path = evidence && resolve(await folder(), evidence);
    const stored = path === undefined ? undefined : await storeEvidence(host, runnerJob.run, result, path);
    if (typeof stored === 'object') return stored;
    const { identity } = result;
    const done: RunEnd = { state: 'succeeded', termination: { outcome: 'completed' }, identity, result };
    return async (tx, nowMs) => {
      await stored?.(tx, nowMs);
      await endRun(tx, job, done, nowMs);
    };
  },
  abandon: abandonRun,
};

const evidenceError = (message: string): DrillproofError =>
  new DrillproofError('control.RERUN_EVIDENCE_INVALID', message);

const PART_IDS = [
  'evidenceBundleId',
  'organizationId',
  'projectId',
  'hostedRunId',
  'rerunOfHostedRunId',
  'runId',
] as const;

/** The part must be the signed evidence of this run, with the result that the runner returned. */
function assertEvidenceOf(
  run: HostedRun,
  result: RerunSuccess['result'],
  { row: { resource }, run: evidenced }: StoredPart,
): void {
  if (!resource.signed) throw evidenceError('the part of the run is not signed');
  if (evidenced === undefined) throw evidenceError('the part of the run contains no run result');
  const facts = { ...evidenced, ...resource };
  const expected = { ...run, runId: run.request.runId };
  const different = PART_IDS.find((name) => facts[name] !== expected[name]);
  if (different !== undefined) throw evidenceError(`${different} of the part does not match the run`);
  if (canonicalJson(evidenced.result) !== canonicalJson(result))
    throw evidenceError('the run result in the part does not match the returned result');
}

async function store(
  { store: rows, blobs, now }: RunnerHost,
  run: HostedRun,
  result: RerunSuccess['result'],
  access: RandomAccess,
): Promise<JobWrite> {
  if (blobs === undefined) throw new TypeError('a worker without blobs cannot store evidence');
  const part = await storePart({ blobs, now }, run, access);
  assertEvidenceOf(run, result, part); // the bytes of another part are an orphan, which a sweep removes
  const { row } = part;
  const stored = await rows.bundles.find(run.projectId, run.evidenceBundleId);
  if (stored !== undefined && stored.resource.manifestDigest !== row.resource.manifestDigest)
    throw evidenceError(`another bundle is stored as ${run.evidenceBundleId}`);
  return async (tx, nowMs) => {
    await holdBlobs(tx, blobs, [row.archive.digest]);
    const deletion = run.evidenceRetentionMs > 0 ? { deleteAtMs: nowMs + run.evidenceRetentionMs } : {};
    await addBundle(tx, { ...row, resource: { ...row.resource, ...deletion } });
  };
}

// A part that cannot be read now may be readable at the next attempt; every other failure is a fault of the part.
const isPassing = (error: unknown): boolean =>
  !(error instanceof DrillproofError) ||
  !isCode(error.code) ||
  codeFacts(error.code).class === 'inaccessible';

/**
 * Verifies the part that a runner returned and stores its archive. Returns the write that adds it as the evidence of the
 * run, or the reason of a refusal. The signature is not compared with a trust store; readers do that.
 */
async function storeEvidence(
  host: RunnerHost,
  run: HostedRun,
  result: RerunSuccess['result'],
  path: string,
): Promise<JobWrite | OperationError> {
  const file = await openFile(path);
  try {
    return await store(host, run, result, file);
  } catch (error) {
    if (isPassing(error)) throw error;
    const message = error instanceof Error ? error.message : 'the evidence is invalid';
    return outcomeError('control.RERUN_EVIDENCE_INVALID', message);
  } finally {
    await file.close();
  }
}
