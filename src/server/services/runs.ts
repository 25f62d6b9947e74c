import { defined } from '../../bytes/arguments.ts';
import type { HostedRun } from '../../contract/resources/run.ts';
import { MAX_SESSION_TTL_MS, type WorldSession } from '../../contract/resources/session.ts';
import type { Result } from '../../contract/operations/operations.ts';
import { Refusal, notFound } from '../http/envelope.ts';
import { newId } from '../model/ids.ts';
import { isEnd } from '../model/states.ts';
import type { Tx } from '../store/store.ts';
import { assertCurrent, type Change } from './handler.ts';
import { describeOperation, queueOperation } from './operations.ts';
import { assertQuota } from './quotas.ts';

type RunRef = { readonly projectId: string; readonly hostedRunId: string };

/**
 * Builds the world of a rerun: a new session with the inputs of the original session, which has changed or ended. It has
 * the lifetime of the original session, limited by the entitlement of the organization.
 */
function buildWorld(
  original: HostedRun,
  session: WorldSession,
  maxTtlMs: number,
  nowMs: number,
): WorldSession {
  const { drillId, scenarioId, seed, callbackReceiverBindingIds } = session;
  const lifetimeMs = Math.max(1, Math.min(session.expiresAtMs - session.createdAtMs, maxTtlMs));
  return {
    schemaVersion: 1,
    organizationId: original.organizationId,
    projectId: original.projectId,
    environmentId: original.environmentId,
    sessionId: newId('ses'),
    buildHash: original.buildHash,
    ...defined({ drillId, scenarioId }),
    seed,
    callbackReceiverBindingIds,
    state: 'creating',
    leaseGeneration: 1,
    parentSessionId: original.sessionId,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs + lifetimeMs,
    version: 1,
  };
}

/** Builds a run with new ids and the pinned inputs of the original: build, drill, seed and trial counters. */
function buildRerun(original: HostedRun, world: WorldSession, nowMs: number): HostedRun {
  return {
    schemaVersion: 1,
    hostedRunId: newId('hrun'),
    evidenceBundleId: newId('evidence'),
    organizationId: original.organizationId,
    projectId: original.projectId,
    environmentId: original.environmentId,
    sessionId: world.sessionId,
    buildHash: original.buildHash,
    request: { ...original.request, runId: newId('run') },
    leaseGeneration: world.leaseGeneration,
    revision: 1,
    state: 'created',
    deadlineAtMs: world.expiresAtMs,
    evidenceRetentionMs: original.evidenceRetentionMs,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    rerunOfHostedRunId: original.hostedRunId,
  };
}

/** Reads the original run and its session. The run must exist, have ended, and have a stored build, in this order. */
async function readPinnedInputs(tx: Tx, change: Change, { projectId, hostedRunId }: RunRef) {
  const original = (await tx.runs.lock(projectId, hostedRunId))?.resource;
  if (original === undefined) throw notFound();
  assertCurrent(change, original);
  if (!isEnd('run', original.state)) throw new Refusal('control.RUN_NOT_TERMINAL', 'the run has not ended');
  const build = await tx.builds.find(projectId, original.buildHash);
  if (build?.archive === undefined) {
    throw new Refusal('control.BUILD_NOT_AVAILABLE', 'the build of the run has no archive');
  }
  const session = (await tx.sessions.find(projectId, original.sessionId))?.resource;
  if (session === undefined) throw notFound();
  return { original, session };
}

export async function createRerun(
  tx: Tx,
  change: Change,
  ref: RunRef,
  now: () => number,
): Promise<Result<'runs.reruns.create'>> {
  const { original, session } = await readPinnedInputs(tx, change, ref);
  const { organizationId, projectId, environmentId, request } = original;
  const nowMs = now();
  const { maxSessionTtlMs = MAX_SESSION_TTL_MS } = await assertQuota(tx, change, 'operation', nowMs);
  const world = buildWorld(original, session, maxSessionTtlMs, nowMs);
  const run = buildRerun(original, world, nowMs);
  const { hostedRunId } = run;
  const labels = [`project=${projectId}`, `environment=${environmentId}`, `drill=${request.drillId}`];
  const subject = { kind: 'run.rerun', resourceType: 'hosted_run', resourceId: hostedRunId, labels };
  await tx.sessions.insert({ organizationId, projectId, sessionId: world.sessionId, resource: world });
  await tx.runs.insert({ organizationId, projectId, hostedRunId, resource: run });
  return { run, operation: await queueOperation(tx, describeOperation(change, subject), nowMs) };
}
