import type { RandomAccess } from '../../src/bytes/random-access.ts';
import { DrillproofError } from '../../src/errors.ts';
import {
  openZip,
  writeZip,
  type ZipInput,
  type ZipLimits,
  type ZipWriteOptions,
} from '../../src/zip/index.ts';
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

/** The error that a promise is rejected with. */
export const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error('nothing was thrown')),
    (error: unknown) => error,
  );

/** The code of the DrillproofError that a promise is rejected with; any other error is rethrown. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await errorOf(promise);
  if (error instanceof DrillproofError) return error.code;
  throw error;
}
