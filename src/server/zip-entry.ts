import { LimitError } from '../errors.ts';
import type { ZipArchive } from '../zip/index.ts';

/**
 * All bytes of one small entry; `undefined` when the archive has none of the name.
 * @throws LimitError `zip.SIZE_EXCEEDED` as soon as more than `maxBytes` have come, whatever the headers say
 */
export async function readEntryWhole(
  archive: ZipArchive,
  name: string,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const entry = archive.entries.find((one) => one.name === name);
  if (entry === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of archive.read(entry)) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new LimitError('zip.SIZE_EXCEEDED', `more than ${maxBytes} bytes`, { path: name });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
