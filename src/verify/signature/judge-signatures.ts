import type { Finding } from '../report.ts';
import { mapConcurrently, type RandomAccess } from '../../bytes/index.ts';
import { ATTESTATION, type EvidenceSource, findEntry } from '../../evidence/index.ts';
import { checkAttestation } from '../part/attestation.ts';
import { checkManifest as checkBundleManifest, checkRow } from '../part/identity.ts';
import { newBundle, type Listing, type VerifyPartOptions } from '../part/state.ts';
import { createLedger } from '../check.ts';
import { checkExportAttestation, checkManifest } from '../export/documents.ts';
import { listFiles, type Files } from '../export/files.ts';
import type { Export } from '../export/state.ts';
import { finding, findingsOf } from '../finding.ts';
import { irregular } from '../part/listed-part.ts';
import { settingsOf, type VerifyOptions } from '../options.ts';
import { openArchive } from '../part/archive.ts';
import { bundleStanding, listStanding, type SignatureStanding } from './standing.ts';

export type JudgeSignaturesOptions = Pick<
  VerifyOptions,
  'asOfMs' | 'predicateTypes' | 'limits' | 'zipLimits' | 'signal'
> & {
  readonly trust: NonNullable<VerifyOptions['trust']>;
  /** Parts read at once; default 1. */
  readonly concurrency?: number;
  readonly onProgress?: (done: number, of: number) => void;
};

/**
 * Judges the signatures of an export and of its parts, and nothing else: of each part the directory of the archive, its
 * manifest and its attestation are read, not its objects and not its digest. That is enough to say what a change of
 * the trust store does; it verifies nothing. First the list, then the parts in the order of the manifest.
 * Never throws for what is in the bytes; an aborted `signal` throws.
 */
export async function judgeSignatures(
  source: EvidenceSource,
  options: JudgeSignaturesOptions,
): Promise<SignatureStanding[]> {
  const { concurrency = 1, onProgress, ...rest } = options;
  const state: Export = {
    source,
    settings: settingsOf(rest),
    envelopes: [],
    ledger: createLedger(),
    completeness: 'claimed',
  };
  const files = await listFiles(state);
  if (files === undefined) return [standingOfList(state)];
  await checkManifest(state, files);
  await checkExportAttestation(state, files);
  const rows = state.manifest?.parts ?? [];
  let done = 0;
  const parts = await mapConcurrently(rows, concurrency, async (row) => {
    rest.signal?.throwIfAborted();
    const { organizationId, fromAtMs, throughAtMs } = state.manifest!;
    const standing = await judgeListed(source, files, { row, organizationId, fromAtMs, throughAtMs }, rest);
    onProgress?.(++done, rows.length);
    return standing;
  });
  return [standingOfList(state), ...parts];
}

function standingOfList({ ledger, completeness, manifest, signer }: Export): SignatureStanding {
  return listStanding({
    checks: ledger.checks,
    findings: ledger.findings,
    completeness,
    ...(manifest && { evidenceExportId: manifest.evidenceExportId }),
    ...(signer && { signer }),
  });
}

async function judgeListed(
  source: EvidenceSource,
  files: Files,
  listed: Listing,
  options: VerifyOptions,
): Promise<SignatureStanding> {
  const { path, evidenceBundleId } = listed.row;
  const unread = (findings: readonly Finding[]): SignatureStanding =>
    bundleStanding({ evidenceBundleId, path, signed: listed.row.signed, checks: [], findings });
  const file = files.byPath.get(path);
  if (file === undefined)
    return unread([finding('part.MISSING', evidenceBundleId, { path, message: `${path} is not there` })]);
  if (!file.regular) return unread([irregular(evidenceBundleId, file)]);
  try {
    const access = await source.open(path);
    try {
      return await judgePartSignature(access, { ...options, listed });
    } finally {
      await access.close();
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    return unread(findingsOf(error, evidenceBundleId, path));
  }
}

/** Judges the signature of one part as `judgeSignatures` does. Never throws for what is in the bytes. */
export async function judgePartSignature(
  access: RandomAccess,
  options: VerifyPartOptions,
): Promise<SignatureStanding> {
  const bundle = newBundle(options);
  const archive = await openArchive(bundle, access);
  if (archive !== undefined) {
    bundle.signed = findEntry(archive, ATTESTATION) !== undefined;
    await checkBundleManifest(bundle, archive);
  }
  const { manifest, listed } = bundle;
  if (archive !== undefined && manifest !== undefined) {
    checkRow(bundle, manifest);
    await checkAttestation(bundle, manifest, archive);
  }
  const id = manifest?.evidenceBundleId ?? listed?.row.evidenceBundleId;
  return bundleStanding({
    ...(id !== undefined && { evidenceBundleId: id }),
    ...(listed && { path: listed.row.path }),
    ...(bundle.signed !== undefined && { signed: bundle.signed }),
    ...(bundle.signer && { signer: bundle.signer }),
    checks: bundle.ledger.checks,
    findings: bundle.ledger.findings,
  });
}
