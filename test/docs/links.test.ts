import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/codes/catalogue.ts';

const PAGES = [...globSync('*.md'), 'vectors/README.md', ...globSync('docs/**/*.md')];

const proseOf = (page: string): string => readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');

const headingsOf = (page: string): string[] =>
  Array.from(proseOf(page).matchAll(/^#+ (.+)$/gm), ([, title = '']) => title);

/** The anchors of a page: explicit ones, and those that GitHub gives its headings, numbered if a title repeats. */
function anchorsOf(page: string): Set<string> {
  const counts = new Map<string, number>();
  return new Set([
    ...Array.from(proseOf(page).matchAll(/<a id="([^"]+)"><\/a>/g), ([, name = '']) => name),
    ...headingsOf(page).map((title) => {
      const slug = title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
      const count = counts.get(slug) ?? 0;
      counts.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    }),
  ]);
}

/** The links of a page to files and headings that do not exist. */
function findBrokenLinks(page: string, text = proseOf(page)): string[] {
  const links = Array.from(text.matchAll(/\]\((?!https?:)([^)\s]*)\)/g), ([, link = '']) => link);
  return links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor));
  });
}

it('a link to a missing file or heading is reported, and a link to another site is not', () => {
  const text =
    '[a](absent.md) [b](#absent) [c](docs/verify/verify.md#absent) [d](https://example.com/absent)';
  expect(findBrokenLinks('README.md', text)).toEqual([
    'absent.md',
    '#absent',
    'docs/verify/verify.md#absent',
  ]);
});

/** The files of this repository that a text names and that do not exist. */
const findMissingFiles = (text: string): string[] =>
  Array.from(
    text.matchAll(/`((?:src|test|scripts|vectors|bench|docs)\/[\w./-]+\.\w+)`/g),
    ([, path = '']) => path,
  ).filter((path) => !existsSync(path));

it('a missing file is reported, and one that exists is not', () => {
  expect(findMissingFiles('`src/absent.ts` and `src/index.ts`')).toEqual(['src/absent.ts']);
});

it.each(PAGES)('every link and file name in %s leads to an existing file and heading', (page) => {
  expect([...findBrokenLinks(page), ...findMissingFiles(proseOf(page))]).toEqual([]);
});

it.each([
  ['verdicts', /^\| `?intact`? /m, 'docs/verify/verify.md'],
  ['exit codes', /^\| 0 +\| passed/m, 'docs/verify/cli.md'],
  ['accepted evidence', /BagIt bag, one ZIP of an export/, 'docs/verify/verify.md'],
])('%s are explained on one page', (_, text, home) => {
  expect(PAGES.filter((page) => text.test(readFileSync(page, 'utf8')))).toEqual([home]);
});

describe('the clause of each code', () => {
  const clauses = new Set(Object.values(catalogue).flatMap(({ clause }) => clause.split('; ')));
  const ours = Array.from(clauses).filter((clause) => /^(docs\/|formats §)/.test(clause));

  it.each(ours)('the clause "%s" of a code is a heading of its page', (clause) => {
    const [place = '', ...titles] = clause.split(', ');
    const [, section] = /^formats (.*)/.exec(place) ?? [];
    const headings = headingsOf(section === undefined ? place : 'docs/formats/formats.md');
    for (const title of section === undefined ? titles : [section, ...titles])
      expect(headings.some((heading) => heading === title || heading.startsWith(`${title} `))).toBe(true);
  });
});
