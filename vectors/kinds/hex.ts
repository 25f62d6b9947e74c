import * as z from 'zod/mini';
import { accepts, base64Schema, refused, VALID, type Kind, type VectorCase } from '../kind.ts';
import type { Flag } from '../flags.ts';
import { base64Of } from '../make/bytes.ts';

const inputSchema = z.strictObject({ text: z.string() });
const expectedSchema = accepts(z.strictObject({ verdict: z.literal('valid'), base64: base64Schema }));
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

const good = (id: string, text: string, bytes: readonly number[], comment: string): Case => ({
  id,
  comment,
  flags: [],
  input: { text },
  expected: { ...VALID, base64: base64Of(Uint8Array.from(bytes)) },
});
const bad = (id: string, text: string, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { text },
  expected: refused('encoding.HEX_INVALID'),
});

export const hex: Kind<Case['input'], Case['expected']> = {
  name: 'hex',
  about: 'text, and the bytes that it decodes to as lowercase hexadecimal',
  clause: 'formats §1',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    good('empty', '', [], 'no bytes'),
    good('zero', '00', [0], 'a zero byte'),
    good('all-digits', '0123456789abcdef', [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef], 'every digit'),
    good('high', 'ff', [0xff], 'the largest byte'),
    bad('uppercase', 'AB', 'LetterCase', 'uppercase: a second text of the same bytes'),
    bad('mixed-case', 'aB', 'LetterCase', 'one digit in uppercase'),
    bad('odd', 'abc', 'Length', 'half a byte at the end'),
    bad('prefix', '0xab', 'Alphabet', 'the prefix of program text'),
    bad('letter-g', 'ag', 'Alphabet', 'a letter after f'),
    bad('space', 'ab cd', 'Whitespace', 'bytes set apart'),
    bad('line-feed', 'ab\n', 'Whitespace', 'a line feed after'),
    bad('colons', 'ab:cd', 'Alphabet', 'the form of fingerprints'),
    bad('minus', '-1', 'Alphabet', 'a sign, which number parsers take'),
    bad('fullwidth', '\uff11\uff11', 'Alphabet', 'full-width digits'),
  ],
};
