import { checkArguments, ITERABLE, joinChunks, OBJECT, toUtf8 } from '../../bytes/index.ts';
import { encodeEntry, type ZipInput } from './encode-entry.ts';
import { assertSafeName, distinctNames } from '../read/names.ts';
import { centralHeader, endRecords, localHeader, type EntryFacts } from './records.ts';

export type ZipWriteOptions = {
  /** `deflate` (default) deflates each entry that becomes smaller by it; `store` gives the same bytes everywhere. */
  readonly compression?: 'store' | 'deflate';
  /** Level of deflate, 1 to 9; default 6. A platform without levels ignores it. */
  readonly level?: number;
};

/**
 * Writes a ZIP archive as a stream: entries in the given order, time 1980-01-01 00:00, mode 0100644, names flagged as
 * UTF-8, no extra field and no data descriptor, ZIP64 only where a number needs it (formats §1, Part archive). An entry
 * up to 8 MiB is held in memory; a larger one is read twice. The caller sorts the entries.
 * @throws DrillproofError `zip.NAME_INVALID`, `zip.ENTRY_DUPLICATE`; `io.CHANGED` if a file differs the second time;
 *   what an input throws. TypeError for a level outside 1 to 9.
 * @example
 * const entries = [{ name: 'hello.txt', open: () => createReadStream('hello.txt') }];
 * await writeFile('hello.zip', writeZip(entries, { compression: 'store' }));
 */
export function writeZip(
  entries: Iterable<ZipInput> | AsyncIterable<ZipInput>,
  options: ZipWriteOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  checkArguments({ entries: ITERABLE, options: OBJECT }, { entries, options });
  const { compression = 'deflate', level = 6 } = options;
  if (!Number.isInteger(level) || level < 1 || level > 9)
    throw new TypeError('level is an integer from 1 to 9');
  return joinChunks(records(entries, compression === 'deflate' ? level : undefined));
}

async function* records(
  entries: Iterable<ZipInput> | AsyncIterable<ZipInput>,
  level: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const written: EntryFacts[] = [];
  const assertNew = distinctNames();
  let offset = 0;
  for await (const input of entries) {
    assertSafeName(input.name);
    assertNew(input.name);
    const { data, ...facts } = await encodeEntry(input, level);
    const entry = { ...facts, nameBytes: toUtf8(input.name), offset };
    const header = localHeader(entry);
    yield header;
    yield* data;
    offset += header.length + entry.compressedBytes;
    written.push(entry);
  }
  const directoryOffset = offset;
  for (const entry of written) {
    const header = centralHeader(entry);
    yield header;
    offset += header.length;
  }
  yield endRecords(written.length, directoryOffset, offset - directoryOffset);
}

/** The size of the archive that `writeZip` makes of stored entries, to announce it before it is written. */
export function storedZipBytes(entries: Iterable<{ readonly name: string; readonly bytes: number }>): number {
  let offset = 0;
  let directoryBytes = 0;
  let count = 0;
  for (const { name, bytes } of entries) {
    const nameBytes = toUtf8(name);
    const entry = { nameBytes, method: 'store', crc32: 0, compressedBytes: bytes, bytes, offset } as const;
    offset += localHeader(entry).length + bytes;
    directoryBytes += centralHeader(entry).length;
    count++;
  }
  return offset + directoryBytes + endRecords(count, offset, directoryBytes).length;
}
