import * as z from 'zod/mini';
import type { Flag } from '../flags.ts';
import { accepts, refused, type Kind, type VectorCase } from '../kind.ts';

const pageSchema = z.strictObject({
  items: z.int().check(z.gte(0), z.describe('how many rows the page has')),
  nextCursor: z.optional(z.unknown()).check(z.describe('as it is in the answer; absent on the last page')),
});

const inputSchema = z.strictObject({
  pages: z.array(pageSchema).check(z.minLength(1), z.describe('what a server answers, one after the other')),
  limits: z.optional(z.strictObject({ pages: z.optional(z.int()), items: z.optional(z.int()) })),
});
const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    cursors: z
      .array(z.nullable(z.string()))
      .check(z.describe('the decoded cursor of each request; null for none')),
    items: z.int().check(z.describe('rows of all pages')),
  }),
);
type Input = z.infer<typeof inputSchema>;
type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

const list = (
  id: string,
  flag: Flag,
  comment: string,
  pages: Input['pages'],
  limits?: Input['limits'],
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { pages, ...(limits && { limits }) },
  expected: {
    verdict: 'valid',
    cursors: [null, ...pages.slice(0, -1).map(({ nextCursor }) => String(nextCursor))],
    items: pages.reduce((sum, { items }) => sum + items, 0),
  },
});

/** Two pages, the first of which has this cursor: it has to come back as it was given. */
const opaque = (id: string, cursor: string, comment: string): Case =>
  list(id, 'OpaqueCursor', comment, [{ items: 1, nextCursor: cursor }, { items: 1 }]);

const endless = (
  id: string,
  comment: string,
  pages: Input['pages'],
  limits?: Input['limits'],
  flag: Flag = 'EndlessPages',
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { pages, ...(limits && { limits }) },
  expected: refused('client.PAGES_EXCEEDED'),
});

const malformed = (id: string, cursor: unknown, comment: string): Case => ({
  id,
  comment,
  flags: ['WrongType'],
  input: { pages: [{ items: 1, nextCursor: cursor }, { items: 1 }] },
  expected: refused('transport.RESPONSE_INVALID'),
});

const lists = (): Case[] => [
  list('one-page', 'Usual', 'one page and no cursor', [{ items: 3 }]),
  list('empty-list', 'Usual', 'one page without rows', [{ items: 0 }]),
  list('three-pages', 'Usual', 'three pages', [
    { items: 2, nextCursor: 'c1' },
    { items: 2, nextCursor: 'c2' },
    { items: 1 },
  ]),
  list('empty-page-between', 'EmptyPage', 'a page without rows, and a cursor: the list goes on', [
    { items: 2, nextCursor: 'c1' },
    { items: 0, nextCursor: 'c2' },
    { items: 2 },
  ]),
  list('empty-page-first', 'EmptyPage', 'the first page has no rows, and a cursor', [
    { items: 0, nextCursor: 'c1' },
    { items: 2 },
  ]),
  list('empty-page-last', 'EmptyPage', 'the last page has no rows', [
    { items: 2, nextCursor: 'c1' },
    { items: 0 },
  ]),
  list('short-page', 'EmptyPage', 'a page with fewer rows than the one before is not the last', [
    { items: 5, nextCursor: 'c1' },
    { items: 1, nextCursor: 'c2' },
    { items: 5 },
  ]),
  list('case-differs', 'OpaqueCursor', 'two cursors that differ by the case of a letter', [
    { items: 1, nextCursor: 'abc' },
    { items: 1, nextCursor: 'ABC' },
    { items: 1 },
  ]),
  list('normalization-differs', 'OpaqueCursor', 'two cursors that are equal after normalization', [
    { items: 1, nextCursor: '\u00e9' },
    { items: 1, nextCursor: 'e\u0301' },
    { items: 1 },
  ]),
  list('white-space-differs', 'OpaqueCursor', 'two cursors that differ by a space at the end', [
    { items: 1, nextCursor: 'a' },
    { items: 1, nextCursor: 'a ' },
    { items: 1 },
  ]),
  list(
    'pages-at-limit',
    'Size',
    'as many pages as are allowed',
    [{ items: 1, nextCursor: 'c1' }, { items: 1 }],
    {
      pages: 2,
    },
  ),
  list(
    'items-at-limit',
    'Size',
    'as many rows as are allowed',
    [{ items: 2, nextCursor: 'c1' }, { items: 1 }],
    {
      items: 3,
    },
  ),
];

const opaques = (): Case[] => [
  opaque('base64url', 'eyJvcmRpbmFsIjo0Mn0', 'base64url of JSON'),
  opaque('base64', 'a+b/c==', 'base64, whose characters mean something in a query'),
  opaque('ampersand', 'a&limit=100', 'what would be another parameter'),
  opaque('equals', '=', 'an equals sign alone'),
  opaque('hash', 'a#b', 'a number sign, which begins a fragment'),
  opaque('question-mark', '?a', 'a question mark'),
  opaque('percent', '100%', 'a percent sign that escapes nothing'),
  opaque('escaped', 'a%2Bb', 'what looks escaped already, and is not to be decoded'),
  opaque('plus', 'a+b', 'a plus sign, which forms read as a space'),
  opaque('space', 'a b', 'a space'),
  opaque('space-around', ' a ', 'spaces around, which are not trimmed'),
  opaque('line-feed', 'a\nb', 'a line feed'),
  opaque('nul', 'a\u0000b', 'a NUL, where C ends'),
  opaque('solidus', '../../admin', 'a path'),
  opaque('address', 'https://evil.example/next', 'an address, which is not to be fetched'),
  opaque('non-ascii', '次へ', 'letters beyond ASCII'),
  opaque('emoji', '😀', 'a surrogate pair'),
  opaque('combining', 'e\u0301', 'a letter and its accent, which are not to be composed'),
  opaque('byte-order-mark', '\ufeffa', 'a byte order mark'),
  opaque('zero', '0', 'a zero, which is false in many languages'),
  opaque('number', '10', 'a number'),
  opaque('leading-zeros', '007', 'leading zeros, which are not to be lost'),
  opaque('beyond-double', '9007199254740993', 'a number that a double does not hold'),
  opaque('exponent', '1e3', 'a number that would be written in another way'),
  opaque('true', 'true', 'a word of JSON'),
  opaque('null-text', 'null', 'the text null'),
  opaque('undefined-text', 'undefined', 'the text undefined'),
  opaque('json', '{"cursor":"a"}', 'a JSON object'),
  opaque('quotes', '"a"', 'quotation marks'),
  opaque('markup', '<a href="x">', 'markup'),
  opaque('longest', 'x'.repeat(2048), '2,048 characters'),
  opaque('longest-pairs', '😀'.repeat(2048), '2,048 characters of two UTF-16 code units each'),
];

const wrong = (): Case[] => [
  endless('repeated', 'the same cursor again', [
    { items: 1, nextCursor: 'c1' },
    { items: 1, nextCursor: 'c1' },
  ]),
  endless('repeated-empty', 'the same cursor again, on a page without rows', [
    { items: 0, nextCursor: 'c1' },
    { items: 0, nextCursor: 'c1' },
  ]),
  endless('cycle', 'the cursor of the page before the last one again', [
    { items: 1, nextCursor: 'c1' },
    { items: 1, nextCursor: 'c2' },
    { items: 1, nextCursor: 'c1' },
  ]),
  endless(
    'too-many-pages',
    'more pages than are allowed, each with a new cursor',
    [{ items: 1, nextCursor: 'c1' }, { items: 1, nextCursor: 'c2' }, { items: 1 }],
    { pages: 2 },
  ),
  endless(
    'too-many-empty-pages',
    'more pages than are allowed, all without rows',
    [{ items: 0, nextCursor: 'c1' }, { items: 0, nextCursor: 'c2' }, { items: 0 }],
    { pages: 2 },
  ),
  endless(
    'too-many-items',
    'more rows than are allowed',
    [{ items: 2, nextCursor: 'c1' }, { items: 2 }],
    { items: 3 },
    'Size',
  ),
  malformed('null', null, 'null for the last page, where the member is absent'),
  malformed('empty', '', 'the empty text for the last page'),
  malformed('a-number', 1, 'a number'),
  malformed('false', false, 'false'),
  malformed('list', ['a'], 'a list of one cursor'),
  malformed('object', { cursor: 'a' }, 'an object'),
  malformed('too-long', 'x'.repeat(2049), '2,049 characters'),
];

export const cursors: Kind<Case['input'], Case['expected']> = {
  name: 'cursors',
  about: 'the pages of a list as a server answers, and with which cursors a client asks for them',
  clause: 'control API, Exports',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...lists(), ...opaques(), ...wrong()],
};
