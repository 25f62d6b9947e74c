import { crc32 } from 'node:zlib';
import type { RandomAccess } from '../../src/bytes/random-access.ts';
import type { Code } from '../../src/codes/catalogue.ts';
import { DrillproofError } from '../../src/errors.ts';
import { openZip } from '../../src/zip/read/open.ts';
import { writeZip, type ZipInput, type ZipWriteOptions } from '../../src/zip/write/write.ts';
import type { ZipLimits } from '../../src/zip/limits.ts';
import {
  encodeCentralHeader,
  encodeEndRecords,
  encodeLocalHeader,
  type EntryFacts,
} from '../../src/zip/write/records.ts';
import { collect } from '../support/evidence.ts';
import { bytesOf } from './raw-zip.ts';

export { collect };

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** The content of an archive: names in order, each with its bytes. */
export type Content = readonly (readonly [name: string, bytes: Uint8Array])[];

export const input = (name: string, ...chunks: readonly (string | Uint8Array)[]): ZipInput => ({
  name,
  async *open() {
    for (const chunk of chunks) yield bytesOf(chunk);
  },
});

export const zipOf = (files: Files, options?: ZipWriteOptions): Promise<Uint8Array> =>
  collect(
    writeZip(
      Object.entries(files).map(([name, content]) => input(name, content)),
      options,
    ),
  );

/** So many files, each with its name as its content. */
export const manyFiles = (count: number): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, `f${i}`]));

/** Bytes in memory, with an uncoded error for reads outside them. */
export const strictAccess = (bytes: Uint8Array): RandomAccess => ({
  size: bytes.length,
  read(offset, length) {
    if (offset < 0 || length < 0 || !(offset + length <= bytes.length)) throw new RangeError('outside');
    return bytes.slice(offset, offset + length);
  },
});

export async function contentOf(source: Uint8Array | RandomAccess, limits?: ZipLimits): Promise<Content> {
  const archive = await openZip(source instanceof Uint8Array ? strictAccess(source) : source, limits);
  const content: [string, Uint8Array][] = [];
  for (const entry of archive.entries) content.push([entry.name, await collect(archive.read(entry))]);
  return content;
}

/** A stored entry of zeros, or of these bytes. */
export type Stored = { readonly name: string; readonly bytes: number; readonly data?: Uint8Array };

/**
 * Places the records and data of an archive of stored entries, which may be too large for memory. Other bytes are zeros.
 */
export function placeRecords(entries: readonly Stored[], firstOffset = 0) {
  const records: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  let size = firstOffset;
  const place = (bytes: Uint8Array): void => {
    records.push({ at: size, bytes });
    size += bytes.length;
  };
  const facts = entries.map(({ name, bytes, data }): EntryFacts => {
    const checksum = data === undefined ? 0 : crc32(data);
    const sizes = { bytes, compressedBytes: bytes, crc32: checksum };
    const entry = { nameBytes: bytesOf(name), method: 'store', ...sizes, offset: size } as const;
    place(encodeLocalHeader(entry));
    if (data === undefined) size += bytes;
    else place(data);
    return entry;
  });
  const directoryOffset = size;
  for (const entry of facts) place(encodeCentralHeader(entry));
  place(encodeEndRecords(facts.length, directoryOffset, size - directoryOffset));
  return { records, size };
}

/** The error that a promise is rejected with. */
export const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error('nothing was thrown')),
    (error: unknown) => error,
  );

/** The value of a promise, or the code of the DrillproofError that it is rejected with; other errors are rethrown. */
export const codeOf = <Value>(promise: Promise<Value>): Promise<Value | Code> =>
  promise.catch((error: unknown) => {
    if (error instanceof DrillproofError) return error.code;
    throw error;
  });
