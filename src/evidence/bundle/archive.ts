import { LimitError } from '../../errors.ts';
import type { ZipArchive, ZipEntry } from '../../zip/index.ts';

/** Names of the documents of a part archive (formats §1, Part archive). */
export const BUNDLE_MANIFEST = 'manifest.json';
export const ATTESTATION = 'attestation.json';

/**
 * All bytes of an entry that must be small.
 * @throws LimitError `json.TOO_LARGE` before anything is read, and what the ZIP reader throws
 */
export async function readEntry(archive: ZipArchive, entry: ZipEntry, maxBytes: number): Promise<Uint8Array> {
  if (entry.bytes > maxBytes)
    throw new LimitError('json.TOO_LARGE', `more than ${maxBytes} bytes`, { path: entry.name });
  const whole = new Uint8Array(entry.bytes);
  let at = 0;
  for await (const chunk of archive.read(entry)) {
    whole.set(chunk, at); // the reader has refused more bytes than the entry states
    at += chunk.length;
  }
  return whole;
}

/** The entry of a name; the reader has refused a second one. */
export const findEntry = (archive: ZipArchive, name: string): ZipEntry | undefined =>
  archive.entries.find((entry) => entry.name === name);
