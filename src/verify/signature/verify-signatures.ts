import { closeAfter, defined, mapConcurrently, type RandomAccess } from '../../bytes/index.ts';
import { ATTESTATION, type EvidenceSource, findEntry, type PartRow } from '../../evidence/index.ts';
import { checkExportManifest } from '../export/documents.ts';
import type { ExportContext } from '../export/context.ts';
import { listFiles } from '../export/files.ts';
import { checkExportSigning } from '../export/signing.ts';
import { resolveSettings, type VerifyOptions } from '../options.ts';
import { openPartArchive } from '../part/archive.ts';
import { checkAttestation } from '../part/attestation.ts';
import { checkBundleManifest, checkRow } from '../part/bundle.ts';
import {
  createPartContext,
  type PartContext,
  readPartSettings,
  type VerifyPartOptions,
} from '../part/context.ts';
import { readListedFile } from '../part/listed-part.ts';
import { joinSteps, type Step } from '../step.ts';
import { findBundleStanding, findListStanding, type SignatureStanding } from './standing.ts';

export type VerifySignaturesOptions = Pick<
  VerifyOptions,
  'asOfMs' | 'predicateTypes' | 'limits' | 'zipLimits' | 'signal'
> & {
  readonly trust: NonNullable<VerifyOptions['trust']>;
  /** Parts read at the same time; default 1. */
  readonly concurrency?: number;
  readonly onProgress?: (done: number, total: number) => void;
};

/**
 * Verifies only the signatures of an export and of its parts: the list first, then the parts in the order of the
 * manifest. It reads the manifest and the attestation of each part, but no objects. This shows the effect of a change of
 * the trust store and proves nothing about the evidence. Never throws for what is in the bytes; an aborted `signal` throws.
 */
export async function verifyExportSignatures(
  source: EvidenceSource,
  { concurrency = 1, onProgress, ...options }: VerifySignaturesOptions,
): Promise<SignatureStanding[]> {
  const settings = resolveSettings(options);
  const listing = await listFiles(source, settings);
  const files = listing.value;
  if (files === undefined) return [findListStanding({ ...listing, completeness: 'claimed' })];
  const tree = { source, settings, files };
  const manifest = await checkExportManifest(tree);
  const signing = await checkExportSigning(tree, manifest.value, []);
  const { document } = manifest.value;
  const list = findListStanding(
    defined({
      ...joinSteps([listing, manifest, signing]),
      ...signing.value,
      evidenceExportId: document?.evidenceExportId,
    }),
  );
  if (document === undefined) return [list];
  const { organizationId, fromAtMs, throughAtMs, parts: rows } = document;
  let done = 0;
  const parts = await mapConcurrently(rows, concurrency, async (row) => {
    settings.signal?.throwIfAborted();
    const listed = { row, organizationId, fromAtMs, throughAtMs };
    const standing = await verifyListedSignature(tree, createPartContext(settings, { listed }), row);
    onProgress?.(++done, rows.length);
    return standing;
  });
  return [list, ...parts];
}

async function verifyListedSignature(
  { source, files }: ExportContext,
  part: PartContext,
  { path, evidenceBundleId, signed }: PartRow,
): Promise<SignatureStanding> {
  const { subject, settings } = part;
  const place = {
    file: files.byPath.get(path),
    path,
    subject,
    missing: 'part.MISSING',
    signal: settings.signal,
  } as const;
  return readListedFile(
    place,
    async () => closeAfter(await source.open(path), (access) => verifyArchiveSignature(access, part)),
    (findings) => findBundleStanding({ evidenceBundleId, path, signed, checks: [], findings }),
  );
}

/** Verifies the signature of one part as `verifyExportSignatures` does. Never throws for what is in the bytes. */
export async function verifyPartSignature(
  access: RandomAccess,
  options: VerifyPartOptions,
): Promise<SignatureStanding> {
  return verifyArchiveSignature(access, createPartContext(readPartSettings(options), options));
}

async function verifyArchiveSignature(access: RandomAccess, part: PartContext): Promise<SignatureStanding> {
  const row = part.listed?.row;
  const opened = await openPartArchive(access, part);
  const archive = opened.value;
  if (archive === undefined)
    return findBundleStanding({
      ...defined({ evidenceBundleId: row?.evidenceBundleId, path: row?.path, signed: row?.signed }),
      ...joinSteps([opened]),
    });
  const signed = findEntry(archive, ATTESTATION) !== undefined;
  const read = await checkBundleManifest(archive, part);
  const { document: manifest, digest } = read.value;
  const steps: Step[] = [opened, read];
  let signer;
  if (manifest !== undefined && digest !== undefined) {
    const subject = part.listed === undefined ? manifest.evidenceBundleId : part.subject;
    const bundle = { ...part, subject, archive, manifest, manifestDigest: digest };
    const attestation = await checkAttestation(bundle, undefined);
    steps.push(checkRow(bundle, signed), attestation);
    ({ signer } = attestation.value);
  }
  const evidenceBundleId = manifest?.evidenceBundleId ?? row?.evidenceBundleId;
  return findBundleStanding(
    defined({ ...joinSteps(steps), evidenceBundleId, path: row?.path, signed, signer }),
  );
}
