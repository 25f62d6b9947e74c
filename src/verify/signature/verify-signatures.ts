import { closeAfter, mapConcurrently } from '../../bytes/async.ts';
import { defined } from '../../bytes/arguments.ts';
import type { RandomAccess } from '../../bytes/random-access.ts';
import type { EvidenceSource } from '../../evidence/source.ts';
import type { PartRow } from '../../evidence/export/manifest.ts';
import { checkExportManifest } from '../export/documents.ts';
import type { ExportContext } from '../export/context.ts';
import { listFiles } from '../export/files.ts';
import { checkExportSigning } from '../export/signing.ts';
import { resolveSettings, type VerifyOptions } from '../options.ts';
import { checkAttestation } from '../part/attestation.ts';
import { checkRow } from '../part/bundle.ts';
import {
  createPartContext,
  type PartContext,
  resolvePartContext,
  type VerifyPartOptions,
} from '../part/context.ts';
import { readListedFile } from '../part/listed-part.ts';
import { openBundle } from '../part/part.ts';
import { joinSteps } from '../step.ts';
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
  return verifyArchiveSignature(access, resolvePartContext(options));
}

async function verifyArchiveSignature(access: RandomAccess, part: PartContext): Promise<SignatureStanding> {
  const row = part.listed?.row;
  const opened = await openBundle(access, part);
  const { signed = row?.signed, bundle } = opened.value ?? {};
  const evidenceBundleId = bundle?.manifest.evidenceBundleId ?? row?.evidenceBundleId;
  const facts = defined({ evidenceBundleId, path: row?.path, signed });
  if (bundle === undefined) return findBundleStanding({ ...opened, ...facts });
  const attestation = await checkAttestation(bundle, undefined);
  const step = joinSteps([opened, checkRow(bundle, signed === true), attestation]);
  return findBundleStanding(defined({ ...step, ...facts, signer: attestation.value.signer }));
}
