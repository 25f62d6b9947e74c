import type { Bytes } from '../../bytes/platform.ts';
import { checkArguments, FUNCTION, ITERABLE, OBJECT, TEXT, withMembers } from '../../bytes/arguments.ts';
import { collectBytes, concatBytes, joinChunks, once } from '../../bytes/async.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { assertSafeName, createNameCheck } from '../limits.ts';
import { encodeCentralHeader, encodeEndRecords, type EntryFacts, encodeLocalHeader } from './records.ts';
import { zipPlatform } from '#platform';
import { DrillproofError } from '../../errors.ts';

export type ZipWriteOptions = {
  /** `deflate` (default) deflates entries that become smaller; `store` gives the same bytes on every platform. */
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
  return joinChunks(encodeRecords(entries, compression === 'deflate' ? level : undefined));
}

const ENTRY = withMembers('a ZipInput', { name: TEXT, open: FUNCTION });

async function* encodeRecords(
  entries: Iterable<ZipInput> | AsyncIterable<ZipInput>,
  level: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const written: EntryFacts[] = [];
  const assertNew = createNameCheck();
  let offset = 0;
  for await (const input of entries) {
    checkArguments({ entry: ENTRY }, { entry: input });
    assertSafeName(input.name);
    assertNew(input.name);
    const { data, ...facts } = await encodeEntry(input, level);
    const entry = { ...facts, nameBytes: toUtf8(input.name), offset };
    const header = encodeLocalHeader(entry);
    yield header;
    yield* data;
    offset += header.length + entry.compressedBytes;
    written.push(entry);
  }
  const directoryOffset = offset;
  for (const entry of written) {
    const header = encodeCentralHeader(entry);
    yield header;
    offset += header.length;
  }
  yield encodeEndRecords(written.length, directoryOffset, offset - directoryOffset);
}

/** One file for `writeZip`: its path in the archive, and its bytes. */
export type ZipInput = {
  readonly name: string;
  /**
   * Its bytes from the start. Called once, or twice for a file above 8 MiB, which then must give the same bytes.
   * A chunk must not change after the next one was returned.
   */
  open(): Bytes;
};

/** The bytes of an entry in the archive, and the facts of its headers. */
type EncodedEntry = Pick<EntryFacts, 'method' | 'crc32' | 'compressedBytes' | 'bytes'> & {
  readonly data: Bytes;
};

type Tally = { bytes: number; crc32: number; compressedBytes: number };

/** Up to this size a file is held in memory and read once. */
const HELD_BYTES = 8 * 2 ** 20;

/** Encodes a file; `level` is that of deflate, `undefined` stores it. */
async function encodeEntry(input: ZipInput, level: number | undefined): Promise<EncodedEntry> {
  const source = input.open()[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  for (;;) {
    const { value, done } = await source.next();
    if (done === true) return encodeHeld(concatBytes(held), level);
    held.push(value);
    heldBytes += value.length;
    if (heldBytes > HELD_BYTES) return encodeTwice(input, resume(held, source), level);
  }
}

async function encodeHeld(plain: Uint8Array, level: number | undefined): Promise<EncodedEntry> {
  const facts = { bytes: plain.length, crc32: zipPlatform.crc32(plain, 0) };
  const deflated =
    level === undefined ? undefined : await collectBytes(zipPlatform.deflateRaw(once(plain), level));
  return deflated !== undefined && deflated.length < plain.length
    ? { ...facts, method: 'deflate', compressedBytes: deflated.length, data: once(deflated) }
    : { ...facts, method: 'store', compressedBytes: plain.length, data: once(plain) };
}

/** The headers precede the data, so a large file is read once for its headers and once for its data. */
async function encodeTwice(input: ZipInput, first: Bytes, level: number | undefined): Promise<EncodedEntry> {
  const tally = await drain(first, level);
  const smaller = tally.compressedBytes < tally.bytes;
  const facts = { ...tally, compressedBytes: smaller ? tally.compressedBytes : tally.bytes };
  const data = encodeAgain(input, facts, smaller ? level : undefined);
  return { ...facts, method: smaller ? 'deflate' : 'store', data };
}

async function drain(plain: Bytes, level: number | undefined): Promise<Tally> {
  const tally = { bytes: 0, crc32: 0, compressedBytes: 0 };
  for await (const _ of encode(plain, level, tally));
  return tally;
}

async function* encodeAgain(input: ZipInput, expected: Readonly<Tally>, level: number | undefined): Bytes {
  const tally = { bytes: 0, crc32: 0, compressedBytes: 0 };
  const changed = (): DrillproofError =>
    new DrillproofError('io.CHANGED', 'the file changed while it was packed', { path: input.name });
  for await (const chunk of encode(input.open(), level, tally)) {
    if (tally.compressedBytes > expected.compressedBytes) throw changed();
    yield chunk;
  }
  if (tally.crc32 !== expected.crc32 || tally.compressedBytes !== expected.compressedBytes) throw changed();
}

/** Deflates or stores the bytes, and counts them on both sides. */
async function* encode(plain: Bytes, level: number | undefined, tally: Tally): Bytes {
  const counted = countBytes(plain, tally);
  for await (const chunk of level === undefined
    ? counted
    : zipPlatform.deflateRaw(joinChunks(counted), level)) {
    tally.compressedBytes += chunk.length;
    yield chunk;
  }
}

async function* countBytes(plain: Bytes, tally: Tally): Bytes {
  for await (const chunk of plain) {
    tally.bytes += chunk.length;
    tally.crc32 = zipPlatform.crc32(chunk, tally.crc32);
    yield chunk;
  }
}

async function* resume(held: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): Bytes {
  yield* held;
  yield* { [Symbol.asyncIterator]: () => rest };
}
