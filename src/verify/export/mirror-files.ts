import {
  type EvidenceLimits,
  type EvidenceSource,
  parseChecksums,
  parseReceipt,
  readFile,
  type SourceFile,
} from '../../evidence/index.ts';

/**
 * Reads a file that a mirror added against its own format.
 * @throws DrillproofError for what is broken or cannot be read
 */
export async function readMirrorFile(
  source: EvidenceSource,
  { path }: SourceFile,
  limits: EvidenceLimits,
): Promise<void> {
  // Both name every file of the export, so they grow with its manifest.
  const bytes = await readFile(source, path, limits.manifestBytes);
  if (path === 'SHA256SUMS') parseChecksums(bytes);
  else parseReceipt(bytes);
}
