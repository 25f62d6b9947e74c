import { digestOf } from '../../bytes/index.ts';
import { type Checksum, CHECKSUMS, DEFAULT_LIMITS, parseChecksums } from '../../evidence/index.ts';
import { readSmallFile } from '../sink.ts';
import type { MirrorView } from '../sink.ts';

/**
 * Whether the checksums that the mirror made when it had the file say that it was other bytes. No digest of the
 * manifest pins the export resource and the attestation, so that nothing else tells of a byte that rotted in them.
 */
export async function hasRotted(path: string, bytes: Uint8Array, view: MirrorView): Promise<boolean> {
  const noted = (await checksumsHere(view)).find((row) => row.path === path);
  return noted !== undefined && noted.digest !== digestOf(bytes);
}

async function checksumsHere(view: MirrorView): Promise<readonly Checksum[]> {
  const bytes = await readSmallFile(view, CHECKSUMS, DEFAULT_LIMITS.manifestBytes);
  if (bytes === undefined) return [];
  try {
    return parseChecksums(bytes);
  } catch {
    return []; // damaged themselves, they say nothing; they are written anew
  }
}
