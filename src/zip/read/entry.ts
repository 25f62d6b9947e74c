import { count, countNoun } from '../../bytes/text/wording.ts';
import { zipPlatform } from '#platform';
import { abortable } from '../../bytes/async.ts';
import { type Digest, digestAccess, digestSoon, digestStream } from '../../bytes/hash.ts';
import { type RandomAccess, sliceAccess, streamAccess } from '../../bytes/random-access.ts';
import { DrillproofError, LimitError, hasCode } from '../../errors.ts';
import { exactAccess } from './access.ts';
import type { ZipLimits } from '../limits.ts';

/** One regular file of an archive, as both of its headers state. */
export type ZipEntry = {
  /** A portable path, unique in the archive even where case is folded. */
  readonly name: string;
  readonly method: 'store' | 'deflate';
  readonly compressedBytes: number;
  readonly bytes: number;
  readonly crc32: number;
  /** The offset of its data in the archive. */
  readonly dataOffset: number;
};

/**
 * The decompressed bytes of an entry. Every chunk is within the announced size and the limits. The size and the CRC-32
 * are known to match only when the stream has ended without an error.
 */
export async function* streamEntry(
  access: RandomAccess,
  entry: ZipEntry,
  limits: Required<ZipLimits>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const whole = readEntryAtOnce(access, entry, limits);
  if (whole === undefined) yield* streamPieces(access, entry, limits);
  else if (whole.length > 0) yield whole;
}

/** `streamEntry` for any archive; `readEntryAtOnce` gives the same bytes and the same errors. */
async function* streamPieces(
  access: RandomAccess,
  entry: ZipEntry,
  limits: Required<ZipLimits>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const check = createEntryCheck(entry, limits);
  for await (const chunk of decode(access, entry)) {
    check.take(chunk);
    yield chunk;
  }
  check.end();
}

/** Digest and size of an entry, checked like `streamEntry`. A stored entry is read into a buffer that is reused. */
export async function digestEntry(
  access: RandomAccess,
  entry: ZipEntry,
  limits: Required<ZipLimits>,
  signal?: AbortSignal,
): Promise<{ digest: Digest; bytes: number }> {
  const whole = readEntryAtOnce(access, entry, limits);
  if (whole !== undefined) return { digest: await digestSoon(whole), bytes: whole.length };
  if (entry.method !== 'store' || access.readInto === undefined)
    return digestStream(abortable(streamPieces(access, entry, limits), signal), entry.bytes);
  const check = createEntryCheck(entry, limits);
  const data = sliceAccess(access, entry.dataOffset, entry.compressedBytes);
  const result = await digestAccess(data, signal, (piece) => check.take(piece));
  check.end();
  return result;
}

/** Larger entries are streamed, so that an abort is noticed in time. Decoding takes longer than a checksum. */
const AT_ONCE_BYTES = { deflate: 4 * 2 ** 20, store: 256 * 2 ** 20 } as const;

/**
 * All bytes of an entry, checked, when the archive is in memory and the platform decodes them in one call; otherwise
 * `undefined`. Errors are those of `streamEntry`.
 */
export function readEntryAtOnce(
  access: RandomAccess,
  entry: ZipEntry,
  limits: Required<ZipLimits>,
): Uint8Array | undefined {
  const { dataOffset, compressedBytes, method } = entry;
  if (access.bytes === undefined || compressedBytes > AT_ONCE_BYTES[method]) return undefined;
  const data = access.bytes.subarray(dataOffset, dataOffset + compressedBytes);
  const plain = method === 'store' ? data : inflateAtOnce(data, entry.name);
  if (plain === undefined) return undefined;
  const check = createEntryCheck(entry, limits);
  check.take(plain);
  check.end();
  return plain;
}

function inflateAtOnce(data: Uint8Array, path: string): Uint8Array | undefined {
  try {
    return zipPlatform.inflateAtOnce?.(data);
  } catch (error) {
    throw addPath(error, path);
  }
}

async function* decode(access: RandomAccess, entry: ZipEntry): AsyncGenerator<Uint8Array, void, undefined> {
  const data = streamAccess(exactAccess(access, entry.name), entry.dataOffset, entry.compressedBytes);
  try {
    yield* entry.method === 'store' ? data : zipPlatform.inflateRaw(data);
  } catch (error) {
    throw addPath(error, entry.name);
  }
}

const addPath = (error: unknown, path: string): unknown =>
  hasCode(error, 'zip.DATA_INVALID')
    ? new DrillproofError(error.code, error.message, { path, cause: error.cause })
    : error;

/** Counts the decompressed bytes of an entry against its headers and the limits. */
function createEntryCheck(entry: ZipEntry, limits: Required<ZipLimits>) {
  const path = entry.name;
  let bytes = 0;
  let crc = 0;
  return {
    take(chunk: Uint8Array): void {
      bytes += chunk.length;
      assertMayGrowTo(bytes, entry, limits);
      crc = zipPlatform.crc32(chunk, crc);
    },
    end(): void {
      if (bytes !== entry.bytes) {
        const message = `the entry has ${countNoun(bytes, 'byte')} instead of ${count(entry.bytes)}`;
        throw new DrillproofError('zip.SIZE_MISMATCH', message, { path });
      }
      if (crc === entry.crc32) return;
      const message = 'the CRC-32 of the bytes does not match the header';
      throw new DrillproofError('zip.CRC_MISMATCH', message, { path });
    },
  };
}

function assertMayGrowTo(bytes: number, entry: ZipEntry, limits: Required<ZipLimits>): void {
  const path = entry.name;
  if (bytes > entry.bytes) {
    const message = `the entry has more than the announced ${countNoun(entry.bytes, 'byte')}`;
    throw new DrillproofError('zip.SIZE_MISMATCH', message, { path });
  }
  if (bytes > limits.entryBytes) {
    const message = `the entry has more bytes than the limit of ${count(limits.entryBytes)}`;
    throw new LimitError('zip.SIZE_EXCEEDED', message, { path });
  }
  if (bytes > limits.expansionFloorBytes && bytes > entry.compressedBytes * limits.expansionRatio) {
    const message = `the entry expands more than ${limits.expansionRatio} times`;
    throw new LimitError('zip.RATIO_EXCEEDED', message, { path });
  }
}
