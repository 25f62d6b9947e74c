import { parseChecksums } from '../../evidence/export/checksums.ts';
import type { EvidenceLimits } from '../../evidence/limits.ts';
import { parseReceipt } from '../../evidence/export/receipt.ts';
import { readFile, type EvidenceSource, type SourceFile } from '../../evidence/source.ts';

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
