import { closeAfter, digestOf } from '../../../bytes/index.ts';
import { DrillproofError } from '../../../errors.ts';
import {
  DEFAULT_LIMITS,
  type EvidenceSource,
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  parseExportAttestation,
  parseExportManifest,
  parseExportResource,
  type PartDocuments,
  readFile,
  readPartDocuments,
} from '../../../evidence/index.ts';
import { openEvidence, type OpenEvidence } from '../../../node/index.ts';
import type { Cli } from '../../cli.ts';

export const withEvidence = async <T>(
  { env }: Cli,
  path: string,
  work: (evidence: OpenEvidence) => Promise<T>,
): Promise<T> => closeAfter(await openEvidence(path, env), work);

export type ExportDocuments = Awaited<ReturnType<typeof readExportDocuments>>;

export async function readExportDocuments(source: EvidenceSource) {
  const files = await source.files();
  const has = (path: string): boolean => files.some((file) => file.path === path);
  if (!has(EXPORT_MANIFEST)) throw new DrillproofError('export.NOT_AN_EXPORT', 'there is no manifest.json');
  const bytes = await readFile(source, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes);
  const document = (path: string): Promise<Uint8Array> =>
    readFile(source, path, DEFAULT_LIMITS.documentBytes);
  return {
    manifest: parseExportManifest(bytes),
    manifestDigest: digestOf(bytes),
    resource: has(EXPORT_RESOURCE) ? parseExportResource(await document(EXPORT_RESOURCE)) : undefined,
    attestation: has(EXPORT_ATTESTATION)
      ? parseExportAttestation(await document(EXPORT_ATTESTATION))
      : undefined,
    files,
  };
}

export const readListedPart = async (source: EvidenceSource, path: string): Promise<PartDocuments> =>
  closeAfter(await source.open(path), readPartDocuments);
