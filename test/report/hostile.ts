import * as fc from 'fast-check';

/** Characters that no rendering may contain. The program has another pattern, so that a mistake in either is noticed. */
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
const HIDING = Array.from('\u00A0\u3000\u2800\u034F\u3164\uFE0F\u0301\u0332\u093F\u1161');
const PLAIN = [...Array.from('aenu{}1é漢क😀\\ '), 'x'.repeat(50), '漢'.repeat(50)];

/** A short text of characters that hide, act, attach, look alike or begin an escape. */
export const hostileText = fc.string({
  maxLength: 12,
  unit: fc.constantFrom(...ACTING, ...HIDING, ...PLAIN),
});

/** Members whose values are words or digests of this program. */
const FIXED = new Set(
  (
    'kind result code class severity state completeness depth provenance rule answer in findings ' +
    'digest fingerprint outcome found repair'
  ).split(' '),
);

/** The same value with another text wherever evidence or a caller can put one. */
export function replaceText<T>(value: T, text: string, name?: string): T;
export function replaceText(value: unknown, text: string, name = ''): unknown {
  if (typeof value === 'string') return FIXED.has(name) ? value : text;
  if (Array.isArray(value)) return value.map((item: unknown) => replaceText(item, text, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [
      member,
      isFixed(member, inner, value) ? inner : replaceText(inner, text, member),
    ]),
  );
}

/** The verdict of evidence is a word of ours, but not the verdict of a drill; so is the id of a check. */
const isFixed = (member: string, inner: unknown, owner: object): boolean =>
  (member === 'verdict' && !('drillId' in owner)) ||
  (member === 'id' && 'state' in owner && typeof inner === 'string');
