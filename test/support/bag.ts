import { digestOf } from '../../src/bytes/hash.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';

export type Files = Record<string, Uint8Array>;

const hex = (bytes: Uint8Array): string => digestOf(bytes).slice('sha256:'.length);

/** A BagIt manifest in the form of RFC 8493. */
export const manifestOf = (files: Files): Uint8Array =>
  toUtf8(
    Object.keys(files)
      .toSorted()
      .map((path) => `${hex(files[path]!)} ${path.replaceAll('%', '%25')}\n`)
      .join(''),
  );

/** A bag of the files of an export, with changes; `undefined` removes a file. */
export function bagOf(files: Files, changes: Record<string, Uint8Array | undefined> = {}): Files {
  const payload = Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`data/${path}`, bytes]));
  const bytes = Object.values(files).reduce((sum, { length }) => sum + length, 0);
  const tags: Files = {
    'bagit.txt': toUtf8('BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n'),
    'bag-info.txt': toUtf8(`Payload-Oxum: ${bytes}.${Object.keys(files).length}\n`),
    'manifest-sha256.txt': manifestOf(payload),
  };
  const whole = { ...payload, ...tags, 'tagmanifest-sha256.txt': manifestOf(tags) };
  const merged = Object.entries({ ...whole, ...changes });
  return Object.fromEntries(merged.filter((entry): entry is [string, Uint8Array] => entry[1] !== undefined));
}
