import { type Digest, digestOf, type RandomAccess, closeAfter } from '../../../bytes/index.ts';
import type { Attestation, EvidenceExport, ExportAttestation } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';
import {
  ATTESTATION,
  BUNDLE_MANIFEST,
  type BundleManifest,
  DEFAULT_LIMITS,
  type EvidenceSource,
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  type ExportManifest,
  findEntry,
  parseAttestation,
  parseBundleManifest,
  parseExportAttestation,
  parseExportManifest,
  parseExportResource,
  readEntry,
  readFile,
  type SourceFile,
} from '../../../evidence/index.ts';
import { openEvidence, type OpenEvidence } from '../../../node/index.ts';
import { openZip, type ZipArchive } from '../../../zip/index.ts';
import type { Cli } from '../../cli.ts';

/** Opens the evidence at a path, and closes it after the work. @throws DrillproofError what `openEvidence` throws */
export const withEvidence = async <T>(
  { env }: Cli,
  path: string,
  work: (evidence: OpenEvidence) => Promise<T>,
): Promise<T> => closeAfter(await openEvidence(path, env), work);

export type ExportDocuments = {
  readonly manifest: ExportManifest;
  readonly manifestDigest: Digest;
  readonly resource?: EvidenceExport;
  readonly attestation?: ExportAttestation;
  readonly files: readonly SourceFile[];
};

/** @throws DrillproofError `export.NOT_AN_EXPORT` without manifest.json, and what reading and parsing throw */
export async function readExportDocuments(source: EvidenceSource): Promise<ExportDocuments> {
  const files = await source.files();
  const has = (path: string): boolean => files.some((file) => file.path === path);
  if (!has(EXPORT_MANIFEST)) throw new DrillproofError('export.NOT_AN_EXPORT', 'there is no manifest.json');
  const bytes = await readFile(source, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes);
  const document = (path: string): Promise<Uint8Array> =>
    readFile(source, path, DEFAULT_LIMITS.documentBytes);
  return {
    manifest: parseExportManifest(bytes),
    manifestDigest: digestOf(bytes),
    ...(has(EXPORT_RESOURCE) && { resource: parseExportResource(await document(EXPORT_RESOURCE)) }),
    ...(has(EXPORT_ATTESTATION) && {
      attestation: parseExportAttestation(await document(EXPORT_ATTESTATION)),
    }),
    files,
  };
}

export type PartDocuments = {
  readonly archive: ZipArchive;
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  readonly attestation?: Attestation;
};

/** The archive of a part and the bytes of its manifest. @throws DrillproofError `bundle.MANIFEST_MISSING`, and as `openZip` */
export async function readPartManifest(
  access: RandomAccess,
): Promise<{ readonly archive: ZipArchive; readonly bytes: Uint8Array }> {
  const archive = await openZip(access);
  const entry = findEntry(archive, BUNDLE_MANIFEST);
  if (entry === undefined)
    throw new DrillproofError('bundle.MANIFEST_MISSING', 'the archive holds no manifest.json');
  return { archive, bytes: await readEntry(archive, entry, DEFAULT_LIMITS.manifestBytes) };
}

/** @throws DrillproofError `bundle.MANIFEST_MISSING`, and what reading and parsing throw */
export async function readPartDocuments(access: RandomAccess): Promise<PartDocuments> {
  const { archive, bytes } = await readPartManifest(access);
  const signed = findEntry(archive, ATTESTATION);
  const attestation = signed && (await readEntry(archive, signed, DEFAULT_LIMITS.documentBytes));
  return {
    archive,
    manifest: parseBundleManifest(bytes),
    manifestDigest: digestOf(bytes),
    ...(attestation && { attestation: parseAttestation(attestation) }),
  };
}

export const readListedPart = async (source: EvidenceSource, path: string): Promise<PartDocuments> =>
  closeAfter(await source.open(path), readPartDocuments);
