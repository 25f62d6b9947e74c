import type { RandomAccess } from '../../src/bytes/random-access.ts';
import { DrillproofError } from '../../src/errors.ts';
import {
  openZip,
  writeZip,
  type ZipInput,
  type ZipLimits,
  type ZipWriteOptions,
} from '../../src/zip/index.ts';
import { bytesOf } from './raw-zip.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** What an archive holds: names in order, each with its bytes. */
export type Content = readonly (readonly [name: string, bytes: Uint8Array])[];

export async function collected(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Uint8Array.from(Buffer.concat(chunks));
}

export const input = (name: string, ...chunks: readonly (string | Uint8Array)[]): ZipInput => ({
  name,
  async *open() {
    for (const chunk of chunks) yield bytesOf(chunk);
  },
});

export const inputs = (files: Files): ZipInput[] =>
  Object.entries(files).map(([name, content]) => input(name, content));

export const zipOf = (files: Files, options?: ZipWriteOptions): Promise<Uint8Array> =>
  collected(writeZip(inputs(files), options));

/** Bytes in memory, and an error of no known kind for whoever asks for bytes outside them. */
export const strictAccess = (bytes: Uint8Array): RandomAccess => ({
  size: bytes.length,
  read(offset, length) {
    if (offset < 0 || length < 0 || !(offset + length <= bytes.length)) throw new RangeError('outside');
    return bytes.slice(offset, offset + length);
  },
});

/** Everything an archive holds, read to the end. */
export async function contentOf(source: Uint8Array | RandomAccess, limits?: ZipLimits): Promise<Content> {
  const archive = await openZip(source instanceof Uint8Array ? strictAccess(source) : source, limits);
  const content: [string, Uint8Array][] = [];
  for (const entry of archive.entries) content.push([entry.name, await collected(archive.read(entry))]);
  return content;
}

/** The error that a promise is rejected with; fails the test when it is not. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** The code of the DrillproofError that a promise is rejected with; any other error comes through. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await errorOf(promise);
  if (error instanceof DrillproofError) return error.code;
  throw error;
}
