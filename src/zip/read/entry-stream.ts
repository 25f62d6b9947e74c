import { platform } from '#platform';
import { type RandomAccess, streamAccess } from '../../bytes/index.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { exactAccess } from './access.ts';
import type { ZipLimits } from '../limits.ts';

/** One regular file of an archive, as both of its headers say. */
export type ZipEntry = {
  /** A portable path, unique in the archive even where case is folded. */
  readonly name: string;
  readonly method: 'store' | 'deflate';
  readonly compressedBytes: number;
  readonly bytes: number;
  readonly crc32: number;
  /** Where its data, compressed or stored, begin in the archive. */
  readonly dataOffset: number;
};

/**
 * The decompressed bytes of an entry. Every chunk is within the announced size and the limits; that the bytes are the
 * announced ones is known only when the stream has ended without an error.
 */
export async function* readEntry(
  access: RandomAccess,
  entry: ZipEntry,
  limits: Required<ZipLimits>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const path = entry.name;
  let bytes = 0;
  let crc = 0;
  for await (const chunk of decode(access, entry)) {
    bytes += chunk.length;
    assertMayGrowTo(bytes, entry, limits);
    crc = platform.crc32(chunk, crc);
    yield chunk;
  }
  if (bytes !== entry.bytes) {
    throw new DrillproofError('zip.SIZE_MISMATCH', `the entry has ${bytes} bytes instead of ${entry.bytes}`, {
      path,
    });
  }
  if (crc !== entry.crc32) {
    throw new DrillproofError('zip.CRC_MISMATCH', 'the CRC-32 of the bytes does not match the header', {
      path,
    });
  }
}

async function* decode(access: RandomAccess, entry: ZipEntry): AsyncGenerator<Uint8Array, void, undefined> {
  const data = streamAccess(exactAccess(access, entry.name), entry.dataOffset, entry.compressedBytes);
  try {
    yield* entry.method === 'store' ? data : platform.inflateRaw(data);
  } catch (error) {
    if (!(error instanceof DrillproofError) || error.code !== 'zip.DATA_INVALID') throw error;
    throw new DrillproofError(error.code, error.message, { path: entry.name, cause: error.cause });
  }
}

function assertMayGrowTo(bytes: number, entry: ZipEntry, limits: Required<ZipLimits>): void {
  const path = entry.name;
  if (bytes > entry.bytes) {
    throw new DrillproofError(
      'zip.SIZE_MISMATCH',
      `the entry has more than the announced ${entry.bytes} bytes`,
      { path },
    );
  }
  if (bytes > limits.entryBytes) {
    throw new LimitError(
      'zip.SIZE_EXCEEDED',
      `the entry has more bytes than the limit of ${limits.entryBytes}`,
      { path },
    );
  }
  if (bytes > limits.expansionFloorBytes && bytes > entry.compressedBytes * limits.expansionRatio) {
    throw new LimitError('zip.RATIO_EXCEEDED', `the entry expands more than ${limits.expansionRatio} times`, {
      path,
    });
  }
}
