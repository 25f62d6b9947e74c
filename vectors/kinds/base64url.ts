import * as z from 'zod/mini';
import { accepts, hexSchema, refused, VALID, type Kind, type VectorCase } from '../kind.ts';
import type { Flag } from '../flags.ts';
import { hexOf } from '../make/bytes.ts';

const inputSchema = z.strictObject({ text: z.string() });
const expectedSchema = accepts(z.strictObject({ verdict: z.literal('valid'), hex: hexSchema }));
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

const good = (id: string, text: string, bytes: Uint8Array | string, comment: string): Case => ({
  id,
  comment,
  flags: [],
  input: { text },
  expected: { ...VALID, hex: hexOf(bytes) },
});
const bad = (id: string, text: string, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { text },
  expected: refused('encoding.BASE64URL_INVALID'),
});

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);

export const base64url: Kind<Case['input'], Case['expected']> = {
  name: 'base64url',
  about: 'text, and the bytes that it decodes to as base64url without padding',
  clause: 'RFC 4648 §3.5, §5; formats §2',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    good('empty', '', '', 'no bytes'),
    good('f', 'Zg', 'f', 'one byte'),
    good('fo', 'Zm8', 'fo', 'two bytes'),
    good('foo', 'Zm9v', 'foo', 'three bytes'),
    good('foob', 'Zm9vYg', 'foob', 'four bytes'),
    good('fooba', 'Zm9vYmE', 'fooba', 'five bytes'),
    good('foobar', 'Zm9vYmFy', 'foobar', 'six bytes'),
    good('zero', 'AA', Uint8Array.of(0), 'a zero byte'),
    good(
      'url-alphabet',
      '-_-_',
      Uint8Array.of(0xfb, 0xff, 0xbf),
      'the two characters that are not in base64',
    ),
    good('every-byte', Buffer.from(everyByte).toString('base64url'), everyByte, 'every byte once'),
    bad('padding-two', 'Zg==', 'Padding', 'two characters of padding'),
    bad('padding-one', 'Zm8=', 'Padding', 'one character of padding'),
    bad('padding-needless', 'Zm9v=', 'Padding', 'padding where base64 has none'),
    bad('padding-alone', '=', 'Padding', 'padding of nothing'),
    bad('padding-inside', 'Zg==Zg', 'Padding', 'padding between two texts'),
    bad('plus', '+__-', 'Alphabet', 'the plus of base64'),
    bad('slash', 'Zm/v', 'Alphabet', 'the slash of base64'),
    bad('space-before', ' Zm9v', 'Whitespace', 'a space before'),
    bad('space-after', 'Zm9v ', 'Whitespace', 'a space after'),
    bad('line-feed-after', 'Zm9v\n', 'Whitespace', 'a line feed after'),
    bad('line-feed-inside', 'Zm\n9v', 'Whitespace', 'a line broken as in MIME'),
    bad('tab', 'Zm\t9v', 'Whitespace', 'a tab inside'),
    bad('nul', 'Zm9v\u0000', 'Alphabet', 'a NUL at the end'),
    bad('fullwidth', '\uff3am9v', 'Alphabet', 'a full-width letter that folds to one of the alphabet'),
    bad('period', 'Zm9v.', 'Alphabet', 'the separator of a JWS'),
    bad('percent', 'Zg%3D%3D', 'Alphabet', 'padding in percent encoding'),
    bad('length-one', 'Z', 'Length', 'six bits are not a byte'),
    bad('length-five', 'Zm9vY', 'Length', 'six bits left over'),
    bad('spare-bits-four', 'Zh', 'SpareBits', 'one of the four spare bits set: a second text of "f"'),
    bad('spare-bits-two', 'Zm9', 'SpareBits', 'one of the two spare bits set: a second text of "fo"'),
    bad('spare-bits-all', 'Z3', 'SpareBits', 'spare bits set next to another byte'),
  ],
};
