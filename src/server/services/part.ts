import { defined } from '../../bytes/arguments.ts';
import type { RandomAccess } from '../../bytes/random-access.ts';
import { codeFacts } from '../../codes/facts.ts';
import type { EvidenceBundle } from '../../contract/resources/evidence.ts';
import type { HostedRun, RunResult } from '../../contract/resources/run.ts';
import type { WorldSession } from '../../contract/resources/session.ts';
import { countArtifactBytes, type BundleManifest } from '../../evidence/bundle/manifest.ts';
import type { BundleReport } from '../../verify/report.ts';
import type { Listing } from '../../verify/part/context.ts';
import { resolvePartContext } from '../../verify/part/context.ts';
import { type VerifiedPart, walkPart } from '../../verify/part/part.ts';
import type { BundleRow, InProject, Tx } from '../store/store.ts';
import {
  type AdminContext,
  assertFuture,
  type Ingested,
  refusedError,
  requireProject,
  writeHolding,
} from '../model/admin-context.ts';
import { deriveId } from '../model/ids.ts';

/** Refuses a part that is not at least intact. An unreadable part, which was not verified, keeps its own code. */
function assertIntact(report: BundleReport): void {
  if (report.verdict === 'verified' || report.verdict === 'intact') return;
  const first = report.findings.find(({ severity }) => severity === 'error');
  const unread = report.findings.find(({ code }) => codeFacts(code).class === 'inaccessible');
  throw refusedError(
    `the part is ${report.verdict}: ${first?.message ?? 'it could not be verified'}`,
    defined({ details: { findings: report.findings }, path: first?.path }),
    unread?.code,
  );
}

function readFacts({ report: { archive }, content }: VerifiedPart, verifiedAtMs: number) {
  const { document: manifest, digest: manifestDigest, bytes: manifestBytes } = content.manifest ?? {};
  if (archive === undefined || manifest === undefined || !manifestDigest || manifestBytes === undefined)
    throw refusedError('the part could not be read');
  const attestation = content.attestation?.document;
  const result = content.run?.result;
  const objectBytes = countArtifactBytes(manifest);
  const resource: EvidenceBundle = {
    schemaVersion: 1,
    evidenceBundleId: manifest.evidenceBundleId,
    projectId: manifest.projectId,
    hostedRunId: manifest.hostedRunId,
    runId: manifest.runId,
    manifestDigest,
    signed: attestation !== undefined,
    state: 'available',
    createdAtMs: manifest.createdAtMs,
    storage: {
      objectCount: manifest.objects.length,
      manifestBytes,
      artifactBytes: objectBytes,
      totalBytes: manifestBytes + objectBytes,
    },
    storageVerifiedAtMs: verifiedAtMs,
    ...defined({ attestation }),
  };
  const { schemaVersion: _version, kind: _kind, runId: _runId, objects: _objects, ...facts } = manifest;
  return { archive, resource, run: result && { ...facts, result } };
}

export type StoredPart = { readonly row: BundleRow; readonly run: EvidencedRun | undefined };

/** Verifies a part, stores its archive, and returns its rows, which are read from the stored bytes. */
export async function storePart(
  { blobs, now }: Pick<AdminContext, 'blobs' | 'now'>,
  { organizationId, projectId }: InProject,
  access: RandomAccess,
  listed?: Listing,
): Promise<StoredPart> {
  const expect = { organizationId, projectId };
  const { archive, resource, run } = await blobs.putVerified(access, async (copy) => {
    const verified = await walkPart(
      copy,
      resolvePartContext({ asOfMs: now(), expect, ...defined({ listed }) }),
    );
    assertIntact(verified.report);
    return readFacts(verified, now());
  });
  const { evidenceBundleId } = resource;
  return { row: { organizationId, projectId, evidenceBundleId, archive, resource }, run };
}

/**
 * Inserts the row of a bundle unless the same bundle is stored.
 * @throws DrillproofError `server.ADMIN_REFUSED` if another bundle has its id
 */
export async function addBundle(tx: Tx, row: BundleRow): Promise<boolean> {
  const stored = await tx.bundles.find(row.projectId, row.evidenceBundleId);
  if (stored === undefined) {
    await tx.bundles.insert(row);
    return true;
  }
  if (stored.resource.manifestDigest !== row.resource.manifestDigest) {
    throw refusedError(`another bundle is stored as ${row.evidenceBundleId}`);
  }
  return false;
}

/**
 * Ingests the part archive of one bundle. It must be intact or better and belong to the project; whether its
 * signature is trusted is not checked here. Ingesting the same bundle again changes nothing.
 * @param options.deleteAtMs the time at which its bytes are deleted; default: never
 * @throws DrillproofError `server.ADMIN_REFUSED` with `details.findings`, and what reading and storing throw
 */
export async function ingestBundle(
  context: AdminContext,
  projectId: string,
  access: RandomAccess,
  { deleteAtMs }: { readonly deleteAtMs?: number } = {},
): Promise<Ingested<{ bundle: EvidenceBundle }>> {
  const { store, now } = context;
  assertFuture('deleteAtMs', deleteAtMs, now());
  const part = await storePart(context, await requireProject(store, projectId), access);
  const resource = { ...part.row.resource, ...defined({ deleteAtMs }) };
  const created = await writeHolding(context, [part.row.archive.digest], async (tx) => {
    if (part.run !== undefined) await deriveRun(tx, part.run);
    return addBundle(tx, { ...part.row, resource });
  });
  return { bundle: resource, created };
}

/** A run with the facts of its manifest, without the list of objects, which may be long. */
type EvidencedRun = Omit<BundleManifest, 'schemaVersion' | 'kind' | 'runId' | 'objects'> & {
  readonly result: RunResult;
};

type RunRef = { readonly projectId: string; readonly hostedRunId: string };

const deriveSessionId = ({ projectId, hostedRunId }: RunRef): string =>
  deriveId('ses', projectId, hostedRunId);

/** Returns whether a stored run was derived from evidence. An import, which has the whole run, replaces it. */
export const isDerived = (run: HostedRun): boolean => run.sessionId === deriveSessionId(run);

// Evidence does not state the lifetime of its world; reruns get this one.
const LIFETIME_MS = 3_600_000;

function buildSession(run: EvidencedRun, environmentId: string): WorldSession {
  const { organizationId, projectId, createdAtMs } = run;
  const { buildHash, drillId, seed } = run.result.identity;
  return {
    schemaVersion: 1,
    organizationId,
    projectId,
    environmentId,
    sessionId: deriveSessionId(run),
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

function buildRun(run: EvidencedRun, { environmentId, sessionId, expiresAtMs }: WorldSession): HostedRun {
  const { createdAtMs, result } = run;
  const { identity } = result;
  const { buildHash, runId, drillId, seed, trial, trialCount, attempt, attemptLimit } = identity;
  const isDone = result.status === 'completed';
  return {
    schemaVersion: 1,
    ...run,
    environmentId,
    sessionId,
    buildHash,
    request: { runId, drillId, seed, trial, trialCount, attempt, attemptLimit },
    leaseGeneration: 1,
    revision: 1,
    state: isDone ? 'succeeded' : 'failed',
    deadlineAtMs: expiresAtMs,
    evidenceRetentionMs: 0,
    updatedAtMs: createdAtMs,
    identity,
    termination: { schemaVersion: 1, outcome: isDone ? 'completed' : 'failed' },
    finishedAtMs: createdAtMs,
  };
}

/** Stores the run of evidence unless it is stored, so that it can be read and rerun. */
export async function deriveRun(tx: Tx, evidenced: EvidencedRun): Promise<void> {
  const { organizationId, projectId, hostedRunId, createdAtMs } = evidenced;
  if ((await tx.runs.lock(projectId, hostedRunId)) !== undefined) return; // so that the retention keeps it
  const owner = { organizationId, projectId };
  const environmentId = deriveId('env', projectId, 'evidence');
  if ((await tx.environments.find(projectId, environmentId)) === undefined) {
    const facts = { name: 'ingested evidence', version: 1, createdAtMs, updatedAtMs: createdAtMs };
    await tx.environments.insert({ ...owner, environmentId, ...facts });
  }
  const session = buildSession(evidenced, environmentId);
  await tx.sessions.insert({ ...owner, sessionId: session.sessionId, resource: session });
  await tx.runs.insert({ ...owner, hostedRunId, resource: buildRun(evidenced, session) });
}
