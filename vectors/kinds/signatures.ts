import * as z from 'zod/mini';
import type { Code } from '../../src/codes/catalogue.ts';
import type { Flag } from '../flags.ts';
import {
  accepts,
  hexSchema,
  plainlyValidSchema,
  refused,
  VALID,
  type Kind,
  type VectorCase,
} from '../kind.ts';
import { concatBytes, flipped, hexOf, utf8 } from '../make/bytes.ts';
import { ecdsa } from '../make/der.ts';
import { N, pointOf, signDer } from '../make/keys.ts';
import { boundarySignatures, numbersOf, shortSignature } from '../make/signatures.ts';

const inputSchema = z.strictObject({
  point: hexSchema.check(z.describe('the public key, an uncompressed point')),
  message: hexSchema,
  signature: hexSchema.check(z.describe('DER')),
});
const expectedSchema = accepts(plainlyValidSchema);
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;
type Bytes = { readonly point: Uint8Array; readonly message: Uint8Array; readonly signature: Uint8Array };

const caseOf = (id: string, input: Bytes, flag: Flag, comment: string, expected: Case['expected']): Case => ({
  id,
  comment,
  flags: [flag],
  input: { point: hexOf(input.point), message: hexOf(input.message), signature: hexOf(input.signature) },
  expected,
});
const good = (id: string, input: Bytes, flag: Flag, comment: string): Case =>
  caseOf(id, input, flag, comment, VALID);
const bad = (
  id: string,
  input: Bytes,
  flag: Flag,
  comment: string,
  code: Code = 'attestation.SIGNATURE_INVALID',
): Case => caseOf(id, input, flag, comment, refused(code));

const message = utf8('{"statement":1}');
const point = pointOf('a');
const signature = signDer('a', message);
const base: Bytes = { point, message, signature };
const [r, s] = numbersOf(signature);

const signed = (id: string, name: string, text: Uint8Array, comment: string): Case =>
  good(id, { point: pointOf(name), message: text, signature: signDer(name, text) }, 'Usual', comment);

const sound = (): Case[] => [
  signed('usual', 'a', message, 'a message and its signature'),
  signed('other-key', 'b', message, 'the same message under another key'),
  signed('empty-message', 'a', utf8(''), 'no bytes are a message too'),
  signed('zeros', 'a', new Uint8Array(64), 'zero bytes'),
  signed('long-message', 'c', utf8('drill '.repeat(400)), 'a message of many blocks'),
  signed('block-55', 'a', utf8('x'.repeat(55)), 'the longest message that SHA-256 pads within one block'),
  signed('block-56', 'a', utf8('x'.repeat(56)), 'the shortest message that needs a second block'),
  signed('block-64', 'a', utf8('x'.repeat(64)), 'a message of exactly one block'),
  signed(
    'binary',
    'd',
    Uint8Array.from({ length: 256 }, (_, byte) => byte),
    'every byte once',
  ),
  good(
    's-other-half',
    { ...base, signature: ecdsa(r, N - s) },
    'SignatureMalleability',
    'the first signature with n-s in place of s: valid, and the same attestation',
  ),
];

const forged = (): Case[] => [
  bad(
    'message-first-bit',
    { ...base, message: flipped(message, 0) },
    'ModifiedMessage',
    'the first byte of the message changed',
  ),
  bad(
    'message-last-bit',
    { ...base, message: flipped(message, -1) },
    'ModifiedMessage',
    'the last byte of the message changed',
  ),
  bad(
    'message-line-feed',
    { ...base, message: utf8('{"statement":1}\n') },
    'ModifiedMessage',
    'a line feed after the message',
  ),
  bad(
    'message-cut',
    { ...base, message: message.subarray(0, -1) },
    'ModifiedMessage',
    'the last byte missing',
  ),
  bad('message-empty', { ...base, message: utf8('') }, 'ModifiedMessage', 'no message'),
  bad(
    'message-nul',
    { ...base, message: concatBytes(message, Uint8Array.of(0)) },
    'ModifiedMessage',
    'a NUL after the message',
  ),
  bad(
    'signature-r-bit',
    { ...base, signature: flipped(signature, 10) },
    'ModifiedSignature',
    'a bit of r changed',
  ),
  bad(
    'signature-s-bit',
    { ...base, signature: flipped(signature, -1) },
    'ModifiedSignature',
    'a bit of s changed',
  ),
  bad('swapped', { ...base, signature: ecdsa(s, r) }, 'ModifiedSignature', 'r and s in the wrong order'),
  bad('negated-r', { ...base, signature: ecdsa(N - r, s) }, 'ModifiedSignature', 'n-r for r'),
  bad('key-of-other', { ...base, point: pointOf('b') }, 'WrongKey', 'the key of another'),
  bad(
    'negated-key',
    { ...base, point: concatBytes(point.subarray(0, 33), negatedY(point)) },
    'WrongKey',
    'the point with the other y',
  ),
  bad(
    'other-signature',
    { ...base, signature: signDer('a', utf8('{"statement":2}')) },
    'WrongKey',
    'a signature of the same key over another message',
  ),
  bad(
    'digest-signed',
    { ...base, signature: signDer('a', message, { prehash: false }) },
    'WrongHash',
    'the message itself in place of its SHA-256',
  ),
  bad('one-one', { ...base, signature: ecdsa(1n, 1n) }, 'Forgery', 'r and s are 1'),
  bad('largest', { ...base, signature: ecdsa(N - 1n, N - 1n) }, 'Forgery', 'r and s are n-1'),
  bad(
    'r-is-key',
    { ...base, signature: ecdsa(BigInt(`0x${hexOf(point.subarray(1, 33))}`) % N, s) },
    'Forgery',
    'r is the x of the key',
  ),
];

const P_HEX = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
function negatedY(of: Uint8Array): Uint8Array {
  const y = P_HEX - BigInt(`0x${hexOf(of.subarray(33))}`);
  return Uint8Array.from(Buffer.from(y.toString(16).padStart(64, '0'), 'hex'));
}

const malformed = (): Case[] => {
  const der = 'encoding.DER_INVALID';
  const key = 'trust.KEY_INVALID';
  const zeroPoint = Uint8Array.from({ length: 65 }, (_, i) => (i === 0 ? 4 : 0));
  return [
    bad('empty-signature', { ...base, signature: utf8('') }, 'Truncated', 'no signature', der),
    bad('both-zero', { ...base, signature: ecdsa(0n, 0n) }, 'Range', 'r and s are 0', der),
    bad('r-plus-order', { ...base, signature: ecdsa(r + N, s) }, 'Range', 'r + n, which is r modulo n', der),
    bad('s-plus-order', { ...base, signature: ecdsa(r, s + N) }, 'Range', 's + n, which is s modulo n', der),
    bad(
      'trailing',
      { ...base, signature: concatBytes(signature, Uint8Array.of(0)) },
      'TrailingBytes',
      'a byte after the signature',
      der,
    ),
    bad(
      'raw',
      { ...base, signature: rawOf(r, s) },
      'Structure',
      'r and s side by side, as JWS has them',
      der,
    ),
    bad(
      'off-curve',
      { ...base, point: flipped(point, -1) },
      'InvalidPoint',
      'a point that is not on the curve',
      key,
    ),
    bad('zero-point', { ...base, point: zeroPoint }, 'InvalidPoint', 'the point 0, 0', key),
    bad(
      'field-overflow',
      { ...base, point: concatBytes(Uint8Array.of(4), new Uint8Array(64).fill(0xff)) },
      'InvalidPoint',
      'coordinates beyond the field',
      key,
    ),
    bad(
      'infinity',
      { ...base, point: Uint8Array.of(0) },
      'InvalidPoint',
      'the point at infinity, which verifies everything in broken libraries',
      key,
    ),
    bad(
      'point-cut',
      { ...base, point: point.subarray(0, 64) },
      'InvalidPoint',
      'a byte of the point missing',
      key,
    ),
    bad(
      'hybrid',
      { ...base, point: concatBytes(Uint8Array.of(6 + (point[64]! & 1)), point.subarray(1)) },
      'InvalidPoint',
      'the hybrid form, which SEC 1 allows and which has no use',
      key,
    ),
  ];
};

const rawOf = (...numbers: readonly bigint[]): Uint8Array =>
  Uint8Array.from(Buffer.from(numbers.map((one) => one.toString(16).padStart(64, '0')).join(''), 'hex'));

const edges = (): Case[] => [
  good('short-r', shortSignature('a', 0), 'ArithmeticEdge', 'r begins with zero bytes, which DER leaves out'),
  good('short-s', shortSignature('a', 1), 'ArithmeticEdge', 's begins with zero bytes'),
  ...boundarySignatures(message).map(({ id, comment, valid, ...input }) =>
    valid ? good(id, input, 'ArithmeticEdge', comment) : bad(id, input, 'ArithmeticEdge', comment),
  ),
];

export const signatures: Kind<Case['input'], Case['expected']> = {
  name: 'signatures',
  about: 'a P-256 key, a message and a signature, and whether it verifies by ECDSA with SHA-256',
  clause: 'FIPS 186-5 §6.4.2; formats §2',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...sound(), ...forged(), ...malformed(), ...edges()],
};
