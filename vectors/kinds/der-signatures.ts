import * as z from 'zod/mini';
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
import { concatBytes, hexOf } from '../make/bytes.ts';
import { ecdsa, integer, magnitude, sequence, tlv } from '../make/der.ts';
import { N } from '../make/keys.ts';

const inputSchema = z.strictObject({ hex: hexSchema });
const expectedSchema = accepts(plainlyValidSchema);
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

const good = (id: string, bytes: Uint8Array, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { hex: hexOf(bytes) },
  expected: VALID,
});
const bad = (id: string, bytes: Uint8Array, flag: Flag, comment: string): Case => ({
  ...good(id, bytes, flag, comment),
  expected: refused('encoding.DER_INVALID'),
});

const R = 0x7a51c0de7a51c0de7a51c0de7a51c0de7a51c0de7a51c0de7a51c0de7a51c0den;
const S = 0x91d7f00d91d7f00d91d7f00d91d7f00d91d7f00d91d7f00d91d7f00d91d7f00dn;
const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);
const [r, s] = [integer(R), integer(S)];
const body = concatBytes(r, s);
const sound = ecdsa(R, S);
/** The identifier octet and a length written by hand, before the contents. */
const raw = (head: readonly number[], ...contents: readonly Uint8Array[]): Uint8Array =>
  concatBytes(Uint8Array.from(head), ...contents);

const accepted = (): Case[] => [
  good('usual', sound, 'Range', 'two numbers of 32 bytes, one with a sign byte'),
  good('smallest', ecdsa(1n, 1n), 'Range', 'both are 1'),
  good('largest', ecdsa(N - 1n, N - 1n), 'Range', 'both are n-1'),
  good('s-half', ecdsa(R, N / 2n), 'SignatureMalleability', 's at the upper end of the lower half'),
  good(
    's-above-half',
    ecdsa(R, N / 2n + 1n),
    'SignatureMalleability',
    's in the upper half: both halves are valid',
  ),
  good('sign-byte', ecdsa(0x80n, 0x7fn), 'Range', 'a sign byte where the first bit is set, and only there'),
  good('short-r', ecdsa(R >> 16n, S), 'Range', 'r of 30 bytes'),
];

const lengths = (): Case[] => [
  bad(
    'length-long-form',
    raw([0x30, 0x81, body.length], body),
    'LengthEncoding',
    'the long form where the short one does',
  ),
  bad(
    'length-long-form-two',
    raw([0x30, 0x82, 0, body.length], body),
    'LengthEncoding',
    'a long form with a leading zero',
  ),
  bad(
    'length-long-form-four',
    raw([0x30, 0x84, 0, 0, 0, body.length], body),
    'LengthEncoding',
    'four bytes of length',
  ),
  bad(
    'length-many-bytes',
    raw([0x30, 0x88, 0, 0, 0, 0, 0, 0, 0, body.length], body),
    'LengthEncoding',
    'eight bytes of length',
  ),
  bad(
    'length-overflow',
    raw([0x30, 0x85, 1, 0, 0, 0, body.length], body),
    'LengthEncoding',
    'a length that is right modulo 2^32',
  ),
  bad(
    'length-indefinite',
    raw([0x30, 0x80], body, bytes(0, 0)),
    'LengthEncoding',
    'the indefinite form of BER',
  ),
  bad('length-reserved', raw([0x30, 0xff], body), 'LengthEncoding', 'the length that is reserved'),
  bad(
    'length-too-small',
    raw([0x30, body.length - 1], body),
    'LengthEncoding',
    'one byte less than there is',
  ),
  bad('length-too-large', raw([0x30, body.length + 1], body), 'Truncated', 'one byte more than there is'),
  bad(
    'r-length-long-form',
    sequence(raw([0x02, 0x81, magnitude(R).length], magnitude(R)), s),
    'LengthEncoding',
    'the long form in r',
  ),
  bad(
    'r-length-too-large',
    sequence(raw([0x02, 0x7f], magnitude(R)), s),
    'Truncated',
    'r reaches past the end',
  ),
  bad(
    's-length-too-large',
    sequence(r, raw([0x02, magnitude(S).length + 1], magnitude(S))),
    'Truncated',
    's reaches past the end',
  ),
  bad(
    's-length-too-small',
    sequence(r, raw([0x02, magnitude(S).length - 1], magnitude(S))),
    'TrailingBytes',
    'a byte after s',
  ),
];

const structure = (): Case[] => [
  bad('empty', bytes(), 'Truncated', 'no bytes'),
  bad('tag-only', bytes(0x30), 'Truncated', 'a tag and nothing else'),
  bad('empty-sequence', sequence(), 'Structure', 'no number'),
  bad('one-integer', sequence(r), 'Structure', 'one number'),
  bad('three-integers', sequence(r, s, integer(1n)), 'Structure', 'three numbers'),
  bad('null-after', sequence(r, s, tlv(0x05, bytes())), 'Structure', 'a NULL after the numbers'),
  bad('cut', sound.subarray(0, -1), 'Truncated', 'the last byte is missing'),
  bad('cut-in-length', raw([0x30, 0x82, 0]), 'Truncated', 'cut inside a length'),
  bad('byte-after', concatBytes(sound, bytes(0)), 'TrailingBytes', 'a zero byte after the end'),
  bad('signature-after', concatBytes(sound, sound), 'TrailingBytes', 'a second signature after the end'),
  bad(
    'end-of-contents-after',
    concatBytes(sound, bytes(0, 0)),
    'TrailingBytes',
    'two zero bytes after the end',
  ),
  bad('byte-before', concatBytes(bytes(0), sound), 'Structure', 'a byte before the beginning'),
  bad('set', tlv(0x31, body), 'WrongTag', 'a SET'),
  bad('primitive-sequence', tlv(0x10, body), 'WrongTag', 'a SEQUENCE that is not constructed'),
  bad('octet-string', tlv(0x04, sound), 'WrongTag', 'an OCTET STRING of the signature'),
  bad(
    'bit-string',
    tlv(0x03, concatBytes(bytes(0), sound)),
    'WrongTag',
    'a BIT STRING, as certificates have it',
  ),
  bad('nested', sequence(sound), 'Structure', 'a SEQUENCE too many'),
  bad('r-octet-string', sequence(tlv(0x04, magnitude(R)), s), 'WrongTag', 'r is an OCTET STRING'),
  bad('r-constructed', sequence(tlv(0x22, magnitude(R)), s), 'WrongTag', 'r is constructed'),
  bad('s-enumerated', sequence(r, tlv(0x0a, magnitude(S))), 'WrongTag', 's is ENUMERATED'),
  bad('high-tag', raw([0x3f, 0x10, body.length], body), 'WrongTag', 'a tag in the form for large numbers'),
  bad(
    'raw',
    concatBytes(magnitude(R), magnitude(S).subarray(1)),
    'Structure',
    'r and s side by side, as JWS has them',
  ),
];

const numbers = (): Case[] => [
  bad('r-zero', ecdsa(0n, S), 'Range', 'r is 0'),
  bad('s-zero', ecdsa(R, 0n), 'Range', 's is 0'),
  bad('both-zero', ecdsa(0n, 0n), 'Range', 'both are 0: valid for every message in some libraries'),
  bad('r-order', ecdsa(N, S), 'Range', 'r is n'),
  bad('s-order', ecdsa(R, N), 'Range', 's is n'),
  bad('r-above-order', ecdsa(N + 1n, S), 'Range', 'r is n+1, which is 1 modulo n'),
  bad('s-above-order', ecdsa(R, S + N), 'Range', 's + n, which is s modulo n'),
  bad('r-33-bytes', ecdsa(1n << 256n, S), 'Range', 'r has 33 bytes'),
  bad('s-huge', ecdsa(R, 1n << 800n), 'Range', 's has 101 bytes'),
  bad('r-empty', sequence(tlv(0x02, bytes()), s), 'IntegerEncoding', 'r has no contents'),
  bad('s-empty', sequence(r, tlv(0x02, bytes())), 'IntegerEncoding', 's has no contents'),
  bad(
    'r-padded',
    sequence(tlv(0x02, concatBytes(bytes(0), magnitude(R))), s),
    'IntegerEncoding',
    'a zero byte too many before r',
  ),
  bad(
    's-padded',
    sequence(r, tlv(0x02, concatBytes(bytes(0), magnitude(S)))),
    'IntegerEncoding',
    'a zero byte too many before s',
  ),
  bad('r-negative', sequence(tlv(0x02, bytes(0xff)), s), 'IntegerEncoding', 'r is -1'),
  bad(
    's-negative',
    sequence(r, tlv(0x02, magnitude(S).subarray(1))),
    'IntegerEncoding',
    's without its sign byte is negative',
  ),
  bad(
    'r-negative-padded',
    sequence(tlv(0x02, bytes(0xff, 0x80)), s),
    'IntegerEncoding',
    'r is negative and padded',
  ),
];

export const derSignatures: Kind<Case['input'], Case['expected']> = {
  name: 'der-signatures',
  about: 'bytes, and whether they are the one DER encoding of an ECDSA signature over P-256',
  clause: 'X.690 §8.3, §10.1; formats §2',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...accepted(), ...lengths(), ...structure(), ...numbers()],
};
