import * as fc from 'fast-check';

/** What no rendering may contain: written apart from the program, so that a mistake there is seen here. */
export const UNSAFE = new RegExp(
  [
    '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Co}\\p{Cn}\\u2800]',
    '\\p{Default_Ignorable_Code_Point}',
    '(?! )\\p{Zs}',
    '(?<!\\p{L}\\p{M}{0,4})\\p{M}',
    '[ -~]\\p{M}',
  ].join('|'),
  'u',
);

const ACTING = ['\u001B', '[31m', '\r', '\n', '\u009B', '\u202E', '\u2066', '\u200B', '\uD800', '\u{E0041}'];
const HIDING = [
  '\u00A0',
  '\u3000',
  '\u2800',
  '\u034F',
  '\u3164',
  '\uFE0F',
  '\u0301',
  '\u0332',
  '\u093F',
  '\u1161',
];
const PLAIN = [
  'a',
  'e',
  'n',
  'u',
  '{',
  '}',
  '1',
  'é',
  '漢',
  'क',
  '😀',
  '\\',
  ' ',
  'x'.repeat(50),
  '漢'.repeat(50),
];

/** A short text of characters that hide, act, attach, look alike or begin an escape. */
export const hostileText = fc.string({
  maxLength: 12,
  unit: fc.constantFrom(...ACTING, ...HIDING, ...PLAIN),
});
