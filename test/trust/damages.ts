import { readDer, readDerItems } from '../../src/bytes/der.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { bytes32, encode, integers, N, P } from './makers.ts';

/** A change of a signature; `r` and `s` are its numbers. */
type Damage = {
  /** It verifies, it does not verify, or it is not strict DER. */
  readonly expected: boolean | 'encoding.DER_INVALID';
  readonly apply: (signature: Uint8Array, r: bigint, s: bigint) => Uint8Array;
};

const element = (tag: number, contents: Uint8Array): Uint8Array =>
  Uint8Array.of(tag, contents.length, ...contents);
const sequence = (...items: readonly Uint8Array[]): Uint8Array =>
  element(0x30, Uint8Array.from(items.flatMap((item) => [...item])));

/** The two INTEGERs of a signature, whole. */
const items = (signature: Uint8Array): readonly [Uint8Array, Uint8Array] => {
  const [r, s] = readDerItems(readDer(signature).contents).map(({ tag, contents }) => element(tag, contents));
  return [r!, s!];
};

/** A length in the long form, of so many bytes, where the short one does. */
const longForm = (item: Uint8Array, bytes: 1 | 2): Uint8Array =>
  Uint8Array.of(item[0]!, 0x80 + bytes, ...(bytes === 2 ? [0] : []), ...item.subarray(1));
const padded = (item: Uint8Array): Uint8Array => element(2, Uint8Array.of(0, ...item.subarray(2)));
/** The same magnitude with its sign bit set and no zero byte before it, which makes it negative. */
const negative = (value: bigint): Uint8Array => element(2, bytes32(value | (1n << 255n)));
const integer = (value: bigint): Uint8Array => items(encode(value, 1n))[0];

const refused = (apply: Damage['apply']): Damage => ({ expected: 'encoding.DER_INVALID', apply });
const wrong = (apply: Damage['apply']): Damage => ({ expected: false, apply });

const OUT_OF_RANGE: readonly (readonly [string, bigint])[] = [
  ['0', 0n],
  ['n', N],
  ['n + 1', N + 1n],
  ['p', P],
  ['p + 1', P + 1n],
  ['2^256 - 1', (1n << 256n) - 1n],
];
const IN_RANGE: readonly (readonly [string, bigint])[] = [
  ['1', 1n],
  ['2', 2n],
  ['n - 1', N - 1n],
  ['(n - 1) / 2', (N - 1n) / 2n],
  ['2^255', 1n << 255n],
];

/** All damages by name. */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  'none at all': { expected: true, apply: (signature) => signature },
  'n - s for s': { expected: true, apply: (_, r, s) => encode(r, N - s) },

  'r and s exchanged': wrong((_, r, s) => encode(s, r)),
  'n - r for r': wrong((_, r, s) => encode(N - r, s)),
  'r for s': wrong((_, r) => encode(r, r)),
  ...Object.fromEntries(
    IN_RANGE.flatMap(([name, value]) => [
      [`${name} for r`, wrong((_, __, s) => encode(value, s))],
      [`${name} for s`, wrong((_, r) => encode(r, value))],
      [`${name} for both`, wrong(() => encode(value, value))],
    ]),
  ),

  ...Object.fromEntries(
    OUT_OF_RANGE.flatMap(([name, value]) => [
      [`${name} for r`, refused((_, __, s) => encode(value, s))],
      [`${name} for s`, refused((_, r) => encode(r, value))],
      [`${name} for both`, refused(() => encode(value, value))],
    ]),
  ),
  'r + n for r': refused((signature, r) =>
    sequence(element(2, Uint8Array.of(1, ...bytes32((r + N) & ((1n << 256n) - 1n)))), items(signature)[1]),
  ),
  'a negative r': refused((signature, r) => sequence(negative(r), items(signature)[1])),
  'a negative s': refused((signature, _, s) => sequence(items(signature)[0], negative(s))),
  'a padded r': refused((signature) => sequence(padded(items(signature)[0]), items(signature)[1])),
  'a padded s': refused((signature) => sequence(items(signature)[0], padded(items(signature)[1]))),
  'an empty r': refused((signature) => sequence(element(2, new Uint8Array()), items(signature)[1])),

  'a long-form length': refused((signature) => longForm(signature, 1)),
  'a long-form length with a zero byte': refused((signature) => longForm(signature, 2)),
  'a long-form length of r': refused((signature) =>
    sequence(longForm(items(signature)[0], 1), items(signature)[1]),
  ),
  'a long-form length of s': refused((signature) =>
    sequence(items(signature)[0], longForm(items(signature)[1], 1)),
  ),
  'an indefinite length': refused((signature) => Uint8Array.of(0x30, 0x80, ...signature.subarray(2), 0, 0)),
  'a length too great': refused((signature) => signature.with(1, signature[1]! + 1)),
  'a length too small': refused((signature) => signature.with(1, signature[1]! - 1)),

  'a trailing byte': refused((signature) => Uint8Array.of(...signature, 0)),
  'a trailing byte inside': refused((signature) => sequence(...items(signature), Uint8Array.of(0))),
  'a third INTEGER': refused((signature) => sequence(...items(signature), integer(1n))),
  'one INTEGER': refused((signature) => sequence(items(signature)[0])),
  'itself twice': refused((signature) => Uint8Array.of(...signature, ...signature)),
  'a SEQUENCE around it': refused((signature) => sequence(signature)),
  'a SET for the SEQUENCE': refused((signature) => signature.with(0, 0x31)),
  'a primitive SEQUENCE': refused((signature) => signature.with(0, 0x10)),
  'an OCTET STRING for r': refused((signature) => signature.with(2, 0x04)),
  'a constructed INTEGER for r': refused((signature) => signature.with(2, 0x22)),
  'a leading byte': refused((signature) => Uint8Array.of(0, ...signature)),
  'its last byte missing': refused((signature) => signature.subarray(0, -1)),
  'its first byte missing': refused((signature) => signature.subarray(1)),
  'its second half missing': refused((signature) => signature.subarray(0, signature.length / 2)),
  nothing: refused(() => new Uint8Array()),
  'bare r and s (IEEE P1363)': refused((_, r, s) => Uint8Array.of(...bytes32(r), ...bytes32(s))),
  'its own hexadecimal text': refused((signature) => toUtf8(Buffer.from(signature).toString('hex'))),
};

/** The signature with the damage of that name. */
export function damaged(signature: Uint8Array, name: string): Uint8Array {
  const [r, s] = integers(signature);
  return DAMAGES[name]!.apply(signature, r, s);
}
