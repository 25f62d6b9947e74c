import { canonicalBytes, digestOf, memoryAccess, type RandomAccess } from '../../../bytes/index.ts';
import { codeFacts, isCode } from '../../../codes/index.ts';
import type { HostedRun, OperationError } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';
import { readPartFacts, type PartFacts } from '../../../evidence/index.ts';
import { openFile } from '../../../node/index.ts';
import { addBundle, storePart } from '../../admin/part.ts';
import { holdBlobs } from '../../blobs/hold.ts';
import type { JobEnd } from '../handler.ts';
import type { RunnerHost } from './hosted-job.ts';
import { outcomeError, type RerunSuccess } from './runner.ts';

type Handed = Pick<RerunSuccess, 'result'> & { readonly evidence: NonNullable<RerunSuccess['evidence']> };

const invalid = (message: string): DrillproofError =>
  new DrillproofError('control.RERUN_EVIDENCE_INVALID', message);

/** The part must be the signed evidence of this run, with the result that the runner returned. */
function assertEvidenceOf(run: HostedRun, result: Handed['result'], { manifest, signed }: PartFacts): void {
  if (!signed) throw invalid('the part of the run is not signed');
  const expected = { ...run, runId: run.request.runId };
  const ids = [
    'evidenceBundleId',
    'organizationId',
    'projectId',
    'hostedRunId',
    'rerunOfHostedRunId',
    'runId',
  ] as const;
  const different = ids.find((name) => manifest[name] !== expected[name]);
  if (different !== undefined) throw invalid(`${different} of the part does not match the run`);
  const stated = manifest.objects.find(({ role }) => role === 'run-result');
  if (stated?.digest !== digestOf(canonicalBytes(result)))
    throw invalid('the run result in the part does not match the returned result');
}

async function store(
  { store: rows, blobs, now }: RunnerHost,
  run: HostedRun,
  result: Handed['result'],
  access: RandomAccess,
): Promise<NonNullable<JobEnd['write']>> {
  if (blobs === undefined) throw new TypeError('a worker without blobs cannot store evidence');
  const facts = await readPartFacts(access);
  assertEvidenceOf(run, result, facts);
  const { row } = await storePart({ blobs, now }, run, access);
  const stored = await rows.bundles.find(run.projectId, run.evidenceBundleId);
  const { manifestDigest } = row.resource;
  if (manifestDigest !== facts.manifestDigest) throw invalid('the part changed while it was read');
  if (stored !== undefined && stored.resource.manifestDigest !== manifestDigest)
    throw invalid(`another bundle is stored as ${run.evidenceBundleId}`);
  return async (tx, nowMs) => {
    await holdBlobs(tx, blobs, [row.archive.digest]);
    const deletion = run.evidenceRetentionMs > 0 ? { deleteAtMs: nowMs + run.evidenceRetentionMs } : {};
    await addBundle(tx, { ...row, resource: { ...row.resource, ...deletion } });
  };
}

// What cannot be read now may be readable at the next attempt; everything else is the fault of the part.
const isPassing = (error: unknown): boolean =>
  !(error instanceof DrillproofError) ||
  !isCode(error.code) ||
  codeFacts(error.code).class === 'inaccessible';

/**
 * Verifies the part that a runner hands in and stores its archive. The write adds it as the evidence of the run; the
 * error says why it is refused. Whether its signature is trusted is up to those who read it.
 */
export async function storeEvidence(
  host: RunnerHost,
  run: HostedRun,
  { result, evidence }: Handed,
): Promise<{ readonly write: NonNullable<JobEnd['write']> } | { readonly error: OperationError }> {
  const file = typeof evidence === 'string' ? await openFile(evidence) : undefined;
  try {
    return { write: await store(host, run, result, file ?? memoryAccess(evidence as Uint8Array)) };
  } catch (error) {
    if (isPassing(error)) throw error;
    const message = error instanceof Error ? error.message : 'the evidence is invalid';
    return { error: outcomeError('control.RERUN_EVIDENCE_INVALID', message) };
  } finally {
    await file?.close();
  }
}
