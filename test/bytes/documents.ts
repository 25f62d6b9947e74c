import * as fc from 'fast-check';

/** JSON data with every kind of string a document may hold: control characters, supplementary planes, `__proto__`. */
export const jsonValues: fc.Arbitrary<unknown> = fc.letrec((tie) => {
  const strings = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom(
      '__proto__',
      'constructor',
      '',
      'a',
      '\u{1F600}',
      '\uFB33',
      '\u007F',
      '\u2028',
      '"\\/\b\n',
    ),
  );
  const numbers = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => (Object.is(x, -0) ? 0 : x)),
    fc.integer(),
  );
  return {
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, false),
      numbers,
      strings,
      tie('items'),
      tie('members'),
    ),
    items: fc.array(tie('value'), { maxLength: 4 }),
    members: fc
      .uniqueArray(fc.tuple(strings, tie('value')), { maxLength: 4, selector: ([name]) => name })
      .map((members) => Object.fromEntries(members)),
  };
})['value'];

/** A reviver of `JSON.parse` that reverses the members of every object. */
export const reverseMembers = (_: string, value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).toReversed());

// oxfmt-ignore
const FRAGMENTS = [
  '{', '}', '[', ']', ',', ':', '"', '\\', ' ', '\n', '\t', '\r', '\f', '\u00A0', '\uFEFF', '\u0000', '\u001F',
  'true', 'null', 'nul', 'NaN', 'Infinity', '//', "'", '0', '-0', '00', '+1', '.5', '1.', '1.0', '1e3', '1E+3', 'e',
  '1e400', '1e-400', '0.1', '9007199254740993', '0x1', '"a"', '"\\u0061"', '"\\ud800"', '"\\udc00\\ud800"',
  '"\\ud83d\\ude00"', '"\\x"', '"\\u12"', '{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '{"__proto__":1}', '"\u{1F600}"',
];

/** Text made of the pieces at which JSON readers disagree. */
export const fragmentTexts: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...FRAGMENTS), { maxLength: 8 })
  .map((pieces) => pieces.join(''));

/** `text` with one stretch of it replaced by fragments: mostly a near miss of the document that it was. */
export const editsOf = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.nat(text.length),
      fc.nat(3),
      fc.oneof(
        fc.constantFrom('', ...FRAGMENTS),
        fc.nat(text.length).map((at) => text.slice(at, at + 6)),
      ),
    )
    .map(([at, length, insert]) => text.slice(0, at) + insert + text.slice(at + length));
