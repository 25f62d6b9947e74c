import {
  MAX_SESSION_TTL_MS,
  rerunSchema,
  type HostedRun,
  type Result,
  type WorldSession,
} from '../../contract/index.ts';
import { ControlError, notFound } from '../control-error.ts';
import type { Principal } from '../http/tokens.ts';
import { newId } from '../ids.ts';
import { isEnd } from '../states.ts';
import type { Reads, Store, Writes } from '../store/store.ts';
import { assertProject } from './access.ts';
import type { Change, Outcome, RunOnce } from './idempotency.ts';
import { newOperationId, queueOperation } from './operations.ts';

type RunRef = { readonly projectId: string; readonly hostedRunId: string };
type Rerun = Result<'runs.reruns.create'>;

export type RunService = {
  read(principal: Principal, ref: RunRef): Promise<HostedRun>;
  rerun(change: Change, ref: RunRef): Promise<Outcome<Rerun>>;
};

/**
 * The world of a rerun: a new session made from what the original's was made from, because the original's has
 * changed since or is gone. It has the lifetime that the original was given, as far as the organization is entitled.
 */
function worldOf(original: HostedRun, session: WorldSession, maxTtlMs: number, nowMs: number): WorldSession {
  const { drillId, scenarioId, seed, callbackReceiverBindingIds } = session;
  const lifetimeMs = Math.max(1, Math.min(session.expiresAtMs - session.createdAtMs, maxTtlMs));
  return {
    schemaVersion: 1,
    organizationId: original.organizationId,
    projectId: original.projectId,
    environmentId: original.environmentId,
    sessionId: newId('ses'),
    buildHash: original.buildHash,
    ...(drillId !== undefined && { drillId }),
    ...(scenarioId !== undefined && { scenarioId }),
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

/** A run with new ids and the pinned inputs of the original: build, drill, seed and trial counters. */
function rerunOf(original: HostedRun, world: WorldSession, nowMs: number): HostedRun {
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

/** The original and what it was made from; judged in this order: it exists, it has ended, its build is here. */
async function pinnedInputs(tx: Reads & Writes, { projectId, hostedRunId }: RunRef) {
  const original = (await tx.hostedRunForUpdate(projectId, hostedRunId))?.resource;
  if (original === undefined) throw notFound();
  if (!isEnd('run', original.state))
    throw new ControlError('control.RUN_NOT_TERMINAL', 'the run has not ended');
  const build = await tx.build(projectId, original.buildHash);
  if (build?.archive === undefined) {
    throw new ControlError('control.BUILD_NOT_AVAILABLE', 'the build of the run has no archive');
  }
  const session = (await tx.session(projectId, original.sessionId))?.resource;
  if (session === undefined) throw notFound();
  return { original, session };
}

async function rerun(tx: Reads & Writes, change: Change, ref: RunRef, now: () => number): Promise<Rerun> {
  const { original, session } = await pinnedInputs(tx, ref);
  const { organizationId, projectId } = original;
  const maxTtlMs = (await tx.organization(organizationId))?.maxSessionTtlMs ?? MAX_SESSION_TTL_MS;
  const nowMs = now();
  const world = worldOf(original, session, maxTtlMs, nowMs);
  const run = rerunOf(original, world, nowMs);
  const { hostedRunId } = run;
  const about = {
    operationId: newOperationId(),
    kind: 'run.rerun',
    resourceType: 'hosted_run',
    resourceId: hostedRunId,
  };
  await tx.insertSession({ organizationId, projectId, sessionId: world.sessionId, resource: world });
  await tx.insertHostedRun({ organizationId, projectId, hostedRunId, resource: run });
  return { run, operation: await queueOperation(tx, change, about, nowMs) };
}

/** Drill runs, and how one that has ended is reproduced: it is queued, and a worker takes it. */
export function runService(store: Store, now: () => number, runOnce: RunOnce): RunService {
  return {
    async read(principal, { projectId, hostedRunId }) {
      await assertProject(store, principal, projectId);
      const row = await store.hostedRun(projectId, hostedRunId);
      if (row === undefined) throw notFound();
      return row.resource;
    },
    async rerun(change, ref) {
      await assertProject(store, change.principal, ref.projectId);
      return runOnce(change, rerunSchema, (tx) => rerun(tx, change, ref, now));
    },
  };
}
