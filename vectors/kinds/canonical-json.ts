import * as z from 'zod/mini';
import { accepts, refused, VALID, type Kind, type VectorCase } from '../kind.ts';
import type { Flag } from '../flags.ts';

const inputSchema = z.strictObject({
  json: z.string().check(z.describe('JSON text, read by any parser that keeps every string')),
});
const expectedSchema = accepts(z.strictObject({ verdict: z.literal('valid'), canonical: z.string() }));
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

const good = (id: string, json: string, canonical: string, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { json },
  expected: { ...VALID, canonical },
});
const bad = (id: string, json: string, comment: string): Case => ({
  id,
  comment,
  flags: ['NoJsonForm'],
  input: { json },
  expected: refused('json.NOT_REPRESENTABLE'),
});

/** Text in, canonical number out: RFC 8785, appendix B, and what surrounds its thresholds. */
const NUMBERS: readonly (readonly [id: string, json: string, canonical: string])[] = [
  ['zero', '0', '0'],
  ['minus-zero', '-0', '0'],
  ['minus-zero-fraction', '-0.0', '0'],
  ['one-fraction', '1.0', '1'],
  ['exponent-written', '1E2', '100'],
  ['smallest', '5e-324', '5e-324'],
  ['smallest-negative', '-5e-324', '-5e-324'],
  ['largest', '1.7976931348623157e308', '1.7976931348623157e+308'],
  ['largest-negative', '-1.7976931348623157e308', '-1.7976931348623157e+308'],
  ['two-to-53', '9007199254740992', '9007199254740992'],
  ['minus-two-to-53', '-9007199254740992', '-9007199254740992'],
  ['two-to-68', '295147905179352830000', '295147905179352830000'],
  ['before-exponent', '999999999999999900000', '999999999999999900000'],
  ['first-exponent', '1000000000000000000000', '1e+21'],
  ['ten-to-23', '1e23', '1e+23'],
  ['below-ten-to-23', '9.999999999999997e22', '9.999999999999997e+22'],
  ['above-ten-to-23', '1.0000000000000001e23', '1.0000000000000001e+23'],
  ['last-plain-fraction', '0.000001', '0.000001'],
  ['first-small-exponent', '0.0000001', '1e-7'],
  ['below-last-plain-fraction', '9.999999999999997e-7', '9.999999999999997e-7'],
  ['thirds-1', '333333333.3333332', '333333333.3333332'],
  ['thirds-2', '333333333.33333325', '333333333.33333325'],
  ['thirds-3', '333333333.3333333', '333333333.3333333'],
  ['thirds-4', '333333333.3333334', '333333333.3333334'],
  ['thirds-5', '333333333.33333343', '333333333.33333343'],
  ['small-fraction', '-0.0000033333333333333333', '-0.0000033333333333333333'],
  ['round-to-even', '1424953923781206.25', '1424953923781206.2'],
  ['tenth', '0.10', '0.1'],
];

const numberCase = ([id, json, canonical]: (typeof NUMBERS)[number]): Case =>
  good(`number-${id}`, json, canonical, 'NumberForm', `${json} as ECMAScript writes it`);

const FRENCH = `{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}`;

export const canonicalJson: Kind<Case['input'], Case['expected']> = {
  name: 'canonical-json',
  about: 'JSON text, and the RFC 8785 form of its value',
  clause: 'RFC 8785; formats §1, Canonical or parsed',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    good('null', ' null ', 'null', 'WhiteSpaceRemoved', 'a literal'),
    good('true', 'true', 'true', 'WhiteSpaceRemoved', 'a literal'),
    good('false', '\tfalse\r\n', 'false', 'WhiteSpaceRemoved', 'a literal'),
    good('empty-object', '{ }', '{}', 'WhiteSpaceRemoved', 'an object without members'),
    good('empty-array', '[ ]', '[]', 'WhiteSpaceRemoved', 'an array without items'),
    good('nested-space', '[ 1 , { "a" : [ ] } ]', '[1,{"a":[]}]', 'WhiteSpaceRemoved', 'no space inside'),
    good('array-order', '[3,1,2]', '[3,1,2]', 'MemberOrder', 'arrays keep their order'),
    good('member-order', '{"b":1,"a":2}', '{"a":2,"b":1}', 'MemberOrder', 'members are sorted'),
    good(
      'member-order-nested',
      '{"b":{"d":1,"c":2},"a":0}',
      '{"a":0,"b":{"c":2,"d":1}}',
      'MemberOrder',
      'at every level',
    ),
    good('member-order-case', '{"a":1,"B":2}', '{"B":2,"a":1}', 'MemberOrder', 'uppercase first: no locale'),
    good(
      'member-order-prefix',
      '{"ab":1,"a":2,"":3}',
      '{"":3,"a":2,"ab":1}',
      'MemberOrder',
      'the shorter first',
    ),
    good(
      'member-order-digits',
      '{"10":1,"9":2,"1":3}',
      '{"1":3,"10":1,"9":2}',
      'MemberOrder',
      'digits are text: many languages put such members first, by number',
    ),
    good(
      'member-order-proto',
      '{"a":1,"__proto__":2}',
      '{"__proto__":2,"a":1}',
      'ReservedName',
      'a name that is special in JavaScript alone',
    ),
    good(
      'member-order-utf16',
      '{"\\ufb33":1,"\\ud83d\\ude00":2}',
      '{"\ud83d\ude00":2,"\ufb33":1}',
      'MemberOrder',
      'by UTF-16 code units, where U+1F600 comes before U+FB33; by code point it would not',
    ),
    good(
      'member-order-rfc',
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}',
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
      'MemberOrder',
      'the example of RFC 8785 §3.2.3',
    ),
    good('member-order-accents', FRENCH, FRENCH, 'MemberOrder', 'no collation'),
    good(
      'rfc-example',
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
      'NumberForm',
      'the example of RFC 8785 §3.2.2',
    ),
    good(
      'escapes-short',
      '"\\u0008\\u0009\\u000a\\u000c\\u000d"',
      '"\\b\\t\\n\\f\\r"',
      'StringEscape',
      'the five short escapes',
    ),
    good(
      'escapes-lowercase',
      '"\\u001F\\u000B"',
      '"\\u001f\\u000b"',
      'StringEscape',
      'other control characters in lowercase hexadecimal',
    ),
    good('escapes-nul', '"\\u0000"', '"\\u0000"', 'StringEscape', 'NUL stays escaped'),
    good('escapes-solidus', '"\\/"', '"/"', 'StringEscape', 'the solidus is not escaped'),
    good('escapes-del', '"\\u007f"', '"\u007f"', 'StringEscape', 'DEL is not a control character to JSON'),
    good(
      'escapes-separators',
      '"\\u2028\\u2029"',
      '"\u2028\u2029"',
      'StringEscape',
      'line separators are written as they are',
    ),
    good(
      'escapes-html',
      '"<\\u003e&"',
      '"<>&"',
      'StringEscape',
      'characters that some libraries escape for HTML',
    ),
    good(
      'no-normalization',
      '"A\\u030a \\u00c5"',
      '"A\u030a \u00c5"',
      'StringEscape',
      'Unicode normalization changes nothing',
    ),
    good(
      'surrogate-pair',
      '"\\ud83d\\ude00"',
      '"\ud83d\ude00"',
      'StringEscape',
      'an escaped pair is one character',
    ),
    ...NUMBERS.map(numberCase),
    bad('lone-high', '"\\ud800"', 'the first half of a surrogate pair alone'),
    bad('lone-low', '"\\udc00"', 'the second half alone'),
    bad('lone-reversed', '"\\udc00\\ud800"', 'both halves in the wrong order'),
    bad('lone-name', '{"\\ud800":1}', 'in the name of a member'),
    bad('infinite', '1e400', 'a number that is infinite in a double'),
  ],
};
