import * as z from 'zod/mini';
import { canonicalJson } from '../../src/bytes/json/canonical.ts';
import type { Code } from '../../src/codes/catalogue.ts';
import { accepts, hexSchema, refused, VALID, type Kind, type VectorCase } from '../kind.ts';
import type { Flag } from '../flags.ts';
import { hexOf } from '../make/bytes.ts';

const inputSchema = z.strictObject({
  hex: hexSchema.check(z.describe('the bytes of the document')),
  maxBytes: z.optional(z.int()).check(z.describe('the limit of the document; 64 MiB when absent')),
  maxValues: z.optional(z.int()).check(z.describe('the most JSON values it may have; 1,000,000 when absent')),
});
const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    canonical: z.string().check(z.describe('the value, as its RFC 8785 form')),
  }),
);
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

const good = (id: string, text: string, canonical: string, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { hex: hexOf(text) },
  expected: { ...VALID, canonical },
});
const bad = (
  id: string,
  bytes: string | readonly number[],
  code: Code,
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { hex: hexOf(typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)) },
  expected: refused(code),
});

const NOT_JSON: readonly (readonly [id: string, text: string, comment: string])[] = [
  ['empty', '', 'no bytes'],
  ['only-space', ' \n', 'white space and no value'],
  ['two-values', '1 2', 'two documents in one'],
  ['text-after', '{}x', 'text after the end'],
  ['brace-after', '{}}', 'one brace too many'],
  ['trailing-comma-object', '{"a":1,}', 'a comma before the brace'],
  ['trailing-comma-array', '[1,]', 'a comma before the bracket'],
  ['leading-comma', '[,1]', 'a comma after the bracket'],
  ['double-comma', '[1,,2]', 'an item left out'],
  ['missing-colon', '{"a" 1}', 'no colon'],
  ['missing-value', '{"a":}', 'no value'],
  ['missing-comma', '{"a":1 "b":2}', 'no comma'],
  ['unquoted-name', '{a:1}', 'a name without quotes'],
  ['number-name', '{1:1}', 'a number as a name'],
  ['single-quotes', "{'a':1}", 'single quotes'],
  ['comment-line', '1 // one', 'a comment'],
  ['comment-block', '/* one */ 1', 'a comment'],
  ['unclosed-object', '{"a":1', 'cut inside an object'],
  ['unclosed-array', '[1', 'cut inside an array'],
  ['unclosed-string', '"a', 'cut inside a string'],
  ['mismatched', '[1}', 'a bracket closed by a brace'],
  ['literal-case', 'True', 'a literal in another case'],
  ['literal-cut', 'nul', 'a literal that is cut'],
  ['literal-long', 'nulll', 'a literal that goes on'],
  ['nan', 'NaN', 'no number of JSON'],
  ['infinity', 'Infinity', 'no number of JSON'],
  ['minus-infinity', '-Infinity', 'no number of JSON'],
  ['undefined', 'undefined', 'no value of JSON'],
  ['leading-zero', '01', 'a leading zero, octal to some'],
  ['plus', '+1', 'a plus sign'],
  ['no-whole', '.5', 'no digit before the point'],
  ['no-fraction', '1.', 'no digit after the point'],
  ['no-exponent', '1e', 'no digit in the exponent'],
  ['hexadecimal', '0x10', 'a hexadecimal number'],
  ['underscore', '1_000', 'digits set apart'],
  ['minus-alone', '-', 'a sign without a number'],
  ['raw-line-feed', '"a\nb"', 'a line feed in a string'],
  ['raw-tab', '"a\tb"', 'a tab in a string'],
  ['raw-nul', '"a\u0000b"', 'a NUL in a string'],
  ['escape-unknown', '"\\x41"', 'an escape that JSON does not have'],
  ['escape-quote', `"\\'"`, 'a single quote, which needs no escape and has none'],
  ['escape-cut', '"\\u12"', 'an escape with two digits'],
  ['escape-not-hex', '"\\u00zz"', 'an escape without digits'],
  ['form-feed', '\f1', 'a form feed is not white space'],
  ['no-break-space', '\u00a01', 'a no-break space is not white space'],
  ['line-separator', '1\u2028', 'a line separator is not white space'],
  ['nul-after', '1\u0000', 'a NUL after the end'],
];

const DUPLICATES: readonly (readonly [id: string, text: string, comment: string])[] = [
  ['plain', '{"a":1,"a":2}', 'two members of one name'],
  ['equal-values', '{"a":1,"a":1}', 'also when both have one value'],
  ['escaped', '{"a":1,"\\u0061":2}', 'one of them written with an escape'],
  ['apart', '{"a":1,"b":2,"a":3}', 'with another between them'],
  ['nested', '[{"b":{"a":1,"a":2}}]', 'at any level'],
  ['empty-name', '{"":1,"":2}', 'the empty name'],
  ['proto', '{"__proto__":1,"__proto__":2}', 'a name that is special in JavaScript'],
  ['surrogate-escape', '{"\\ud83d\\ude00":1,"😀":2}', 'one as an escaped pair'],
];

const BYTES: readonly (readonly [id: string, bytes: readonly number[], comment: string])[] = [
  ['lone-continuation', [0x22, 0x80, 0x22], 'a continuation byte alone'],
  ['cut-sequence', [0x22, 0xe2, 0x82, 0x22], 'a sequence cut'],
  ['overlong-slash', [0x22, 0xc0, 0xaf, 0x22], 'a solidus in two bytes'],
  ['overlong-nul', [0x22, 0xc0, 0x80, 0x22], 'NUL in two bytes, as Java writes it'],
  ['surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22], 'a surrogate in three bytes'],
  [
    'surrogate-pair',
    [0x22, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80, 0x22],
    'a pair in six bytes, as CESU-8 has it',
  ],
  ['beyond-unicode', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 'U+110000'],
  ['latin-1', [0x22, 0xe9, 0x22], 'ISO 8859-1'],
  ['utf-16le', [0xff, 0xfe, 0x31, 0x00], 'UTF-16 with its mark'],
];

const NUMBERS: readonly (readonly [
  id: string,
  text: string,
  canonical: string | undefined,
  comment: string,
])[] = [
  ['tenth', '0.1', '0.1', 'the shortest decimal of its double'],
  ['trailing-zeros', '1.0e+28', '1e+28', 'another form of the same value'],
  ['capital-e', '12E3', '12000', 'another form of the same value'],
  ['minus-zero', '-0', '0', 'zero has one value'],
  ['zero-exponent', '0e999', '0', 'zero at any power'],
  ['two-to-53', '9007199254740992', '9007199254740992', 'held exactly'],
  ['two-to-53-and-one', '9007199254740993', undefined, 'its double is 9007199254740992'],
  ['twenty-digits', '12345678901234567890', undefined, 'its double is 12345678901234567000'],
  ['too-large', '1e400', undefined, 'infinite in a double'],
  ['too-small', '1e-400', undefined, 'zero in a double'],
  [
    'long-fraction',
    '0.1000000000000000055511151231257827',
    undefined,
    'the exact value of the double of 0.1, which differs from the decimal 0.1',
  ],
  ['inside', '{"bytes":9007199254740993}', undefined, 'at any level'],
];

const numberCase = ([id, text, canonical, comment]: (typeof NUMBERS)[number]): Case =>
  canonical === undefined
    ? bad(`number-${id}`, text, 'json.NUMBER_INEXACT', 'InexactNumber', comment)
    : good(`number-${id}`, text, canonical, 'InexactNumber', comment);

const arrays = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number): string => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);

const limited = (one: Case, maxBytes: number): Case => ({ ...one, input: { ...one.input, maxBytes } });
const limitedValues = (one: Case, maxValues: number): Case => ({
  ...one,
  input: { ...one.input, maxValues },
});

/** Documents by their number of values. */
const VALUES: readonly (readonly [id: string, text: string, values: number, comment: string])[] = [
  ['scalar', '1', 1, 'a number is one value'],
  ['empty', '[[],[],{}]', 4, 'empty arrays and objects are values'],
  ['names', '{"a":1,"b":2}', 3, 'names of members are not values'],
  ['nested', '{"a":[1,{"b":[]}]}', 5, 'values count at every level'],
  ['punctuation', '["[,{:","\\\\\\",",[ ]]', 4, 'punctuation in strings and escapes does not count'],
];

export const strictJson: Kind<Case['input'], Case['expected']> = {
  name: 'strict-json',
  about: 'the bytes of a JSON document, and its value when they are accepted',
  clause: 'RFC 8259; RFC 7493 §2; formats §1, Canonical or parsed',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    good(
      'object',
      ' {"b" : [1, true, null, "x"] , "a":{} }\n',
      '{"a":{},"b":[1,true,null,"x"]}',
      'FreeForm',
      'white space and order are free',
    ),
    good('scalar', '"text"', '"text"', 'FreeForm', 'a document may be a string'),
    good('escapes', '"\\u0041\\/\\b"', '"A/\\b"', 'FreeForm', 'every escape is read'),
    good(
      'proto',
      '{"__proto__":{"admin":true}}',
      '{"__proto__":{"admin":true}}',
      'ReservedName',
      'an ordinary member, which changes no prototype',
    ),
    good(
      'constructor',
      '{"constructor":1,"toString":2}',
      '{"constructor":1,"toString":2}',
      'ReservedName',
      'names that every JavaScript object inherits',
    ),
    good('names-differ-by-case', '{"a":1,"A":2}', '{"A":2,"a":1}', 'DuplicateMember', 'two names'),
    good(
      'names-differ-by-normalization',
      '{"\u00c5":1,"A\u030a":2}',
      '{"A\u030a":2,"\u00c5":1}',
      'DuplicateMember',
      'two names, though they look the same',
    ),
    good('pair', '"\\ud83d\\ude00"', '"😀"', 'LoneSurrogate', 'a whole pair'),
    good('bom-inside', '"\ufeff"', '"\ufeff"', 'ByteOrderMark', 'the same character inside a string'),
    ...NOT_JSON.map(([id, text, comment]) => bad(`grammar-${id}`, text, 'json.INVALID', 'Grammar', comment)),
    ...DUPLICATES.map(([id, text, comment]) =>
      bad(`duplicate-${id}`, text, 'json.MEMBER_DUPLICATE', 'DuplicateMember', comment),
    ),
    ...BYTES.map(([id, bytes, comment]) =>
      bad(`utf8-${id}`, bytes, 'encoding.UTF8_INVALID', 'InvalidUtf8', comment),
    ),
    ...NUMBERS.map(numberCase),
    bad('bom', '\ufeff{}', 'json.BOM', 'ByteOrderMark', 'a byte order mark before the document'),
    bad('bom-alone', '\ufeff', 'json.BOM', 'ByteOrderMark', 'a byte order mark and nothing else'),
    bad('surrogate-high', '"\\ud800"', 'json.SURROGATE_LONE', 'LoneSurrogate', 'the first half alone'),
    bad('surrogate-low', '"\\udfff"', 'json.SURROGATE_LONE', 'LoneSurrogate', 'the second half alone'),
    bad(
      'surrogate-reversed',
      '"\\ude00\\ud83d"',
      'json.SURROGATE_LONE',
      'LoneSurrogate',
      'both in the wrong order',
    ),
    bad(
      'surrogate-split',
      '"\\ud83dx\\ude00"',
      'json.SURROGATE_LONE',
      'LoneSurrogate',
      'a character between the halves',
    ),
    bad('surrogate-name', '{"\\ud800":1}', 'json.SURROGATE_LONE', 'LoneSurrogate', 'in the name of a member'),
    good('depth-arrays-64', arrays(64), arrays(64), 'Depth', 'as deep as allowed'),
    bad('depth-arrays-65', arrays(65), 'json.DEPTH_EXCEEDED', 'Depth', 'one level too many'),
    good('depth-objects-64', objects(64), objects(64), 'Depth', 'as deep as allowed'),
    bad('depth-objects-65', objects(65), 'json.DEPTH_EXCEEDED', 'Depth', 'one level too many'),
    bad(
      'depth-unclosed',
      '['.repeat(5000),
      'json.DEPTH_EXCEEDED',
      'Depth',
      'deep enough to overflow a stack',
    ),
    limited(good('size-at-limit', '[1,2,3]', '[1,2,3]', 'Size', 'seven bytes where seven are allowed'), 7),
    ...VALUES.flatMap(([id, text, values, comment]) => [
      limitedValues(
        good(`values-${id}-at-limit`, text, canonicalJson(JSON.parse(text)), 'Size', comment),
        values,
      ),
      limitedValues(
        bad(`values-${id}-above-limit`, text, 'json.VALUES_EXCEEDED', 'Size', comment),
        values - 1,
      ),
    ]),
    limited(
      bad('size-above-limit', '[1,2,3]', 'json.TOO_LARGE', 'Size', 'seven bytes where six are allowed'),
      6,
    ),
  ],
};
