import { defined } from '../../bytes/index.ts';
import type { HostedRun, RunResult, WorldSession } from '../../contract/index.ts';
import type { BundleManifest } from '../../evidence/index.ts';
import { derivedId } from '../ids.ts';
import type { Tx } from '../store/store.ts';

export type EvidencedRun = Pick<
  BundleManifest,
  'organizationId' | 'projectId' | 'evidenceBundleId' | 'hostedRunId' | 'rerunOfHostedRunId' | 'createdAtMs'
> & { readonly result: RunResult };

/** What of a part describes its run; the list of objects, which may be long, is not kept. */
export const evidencedRun = (
  { objects: _objects, ...manifest }: BundleManifest,
  result: RunResult,
): EvidencedRun => ({ ...manifest, result });

type RunRef = { readonly projectId: string; readonly hostedRunId: string };

const sessionIdOf = ({ projectId, hostedRunId }: RunRef): string => derivedId('ses', projectId, hostedRunId);

/** Whether a stored run was derived from evidence: an import has the whole run and replaces it. */
export const isDerived = (run: HostedRun): boolean => run.sessionId === sessionIdOf(run);

// Evidence does not say how long its world lived; this is the lifetime of the worlds of its reruns.
const LIFETIME_MS = 3_600_000;

function sessionOf(run: EvidencedRun, environmentId: string): WorldSession {
  const { organizationId, projectId, createdAtMs } = run;
  const { buildHash, drillId, seed } = run.result.identity;
  return {
    schemaVersion: 1,
    organizationId,
    projectId,
    environmentId,
    sessionId: sessionIdOf(run),
    buildHash,
    drillId,
    seed,
    callbackReceiverBindingIds: [],
    state: 'destroyed',
    leaseGeneration: 1,
    createdAtMs,
    updatedAtMs: createdAtMs,
    expiresAtMs: createdAtMs + LIFETIME_MS,
    destroyedAtMs: createdAtMs,
    version: 1,
  };
}

function runOf(run: EvidencedRun, { environmentId, sessionId, expiresAtMs }: WorldSession): HostedRun {
  const {
    organizationId,
    projectId,
    hostedRunId,
    rerunOfHostedRunId,
    evidenceBundleId,
    createdAtMs,
    result,
  } = run;
  const { identity } = result;
  const { buildHash, runId, drillId, seed, trial, trialCount, attempt, attemptLimit } = identity;
  const isDone = result.status === 'completed';
  return {
    schemaVersion: 1,
    hostedRunId,
    evidenceBundleId,
    organizationId,
    projectId,
    environmentId,
    sessionId,
    buildHash,
    request: { runId, drillId, seed, trial, trialCount, attempt, attemptLimit },
    leaseGeneration: 1,
    revision: 1,
    state: isDone ? 'succeeded' : 'failed',
    deadlineAtMs: expiresAtMs,
    evidenceRetentionMs: 0,
    createdAtMs,
    updatedAtMs: createdAtMs,
    ...defined({ rerunOfHostedRunId }),
    identity,
    termination: { schemaVersion: 1, outcome: isDone ? 'completed' : 'failed' },
    result,
    finishedAtMs: createdAtMs,
  };
}

/** Stores the run that evidence describes, unless it is stored, so that it can be read and rerun. */
export async function deriveRun(tx: Tx, evidenced: EvidencedRun): Promise<void> {
  const { organizationId, projectId, hostedRunId, createdAtMs } = evidenced;
  if ((await tx.runs.find(projectId, hostedRunId)) !== undefined) return;
  const owner = { organizationId, projectId };
  const environmentId = derivedId('env', projectId, 'evidence');
  if ((await tx.environments.find(projectId, environmentId)) === undefined) {
    const times = { createdAtMs, updatedAtMs: createdAtMs };
    await tx.environments.insert({
      ...owner,
      environmentId,
      name: 'ingested evidence',
      version: 1,
      ...times,
    });
  }
  const session = sessionOf(evidenced, environmentId);
  await tx.sessions.insert({ ...owner, sessionId: session.sessionId, resource: session });
  await tx.runs.insert({ ...owner, hostedRunId, resource: runOf(evidenced, session) });
}
