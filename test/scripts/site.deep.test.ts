import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generatedFiles } from '../../docs/files.ts';
import { PUBLIC } from '../package/public-names.ts';

const out = mkdtempSync(join(tmpdir(), 'drillproof-site-'));
const textOf = (path: string): string => readFileSync(path, 'utf8');
beforeAll(() => {
  execFileSync(process.execPath, ['scripts/site/build.ts', out]);
});
afterAll(() => rmSync(out, { recursive: true }));

const idsOf = (file: string): Set<string> =>
  new Set([...textOf(file).matchAll(/\bid="([^"]*)"/g)].map(([, id = '']) => id));

/** Every link of a page that leads to no file, or to no place in it. */
function deadLinks(page: string): string[] {
  const links = [...textOf(page).matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^(?:https?:|mailto:|data:)/.test(link)) return false;
    const [path = '', hash = ''] = link.replaceAll('&amp;', '&').split('#');
    const file = path === '' ? page : resolve(dirname(page), decodeURI(path.split('?')[0] ?? ''));
    if (!existsSync(file) || !statSync(file).isFile()) return true;
    return hash !== '' && file.endsWith('.html') && !idsOf(file).has(decodeURIComponent(hash));
  });
}

it('the site has no link that leads nowhere', () => {
  const pages = globSync(join(out, '**/*.html')).filter((page) => basename(page) !== 'drillproof.html');
  const dead = pages.flatMap((page) => deadLinks(page).map((link) => `${page.slice(out.length)}: ${link}`));
  expect(dead).toEqual([]);
});

it('the site has every document, every schema, the vectors and every public name', () => {
  const documents = globSync('docs/**/*.md').map(
    (path) => `documents/${relative('docs', path).replace('/', '_').replace('.md', '.html')}`,
  );
  const schemas = [...generatedFiles().keys()].filter((path) => path.startsWith('schemas/'));
  const missing = [...documents, ...schemas, 'vectors/policies.json', 'index.html'].filter(
    (path) => !existsSync(join(out, path)),
  );
  expect(missing).toEqual([]);
  const pages = globSync(join(out, '{classes,functions,interfaces,types,variables,modules}/*.html'));
  const named = new Set(pages.map((page) => basename(page, '.html').split('.').at(-1)));
  const names = PUBLIC.flatMap((door) => door.names.map(({ name }) => name));
  expect(names.filter((name) => !named.has(name))).toEqual([]);
});

it('the site has one search over documents and names', () => {
  expect(existsSync(join(out, 'assets/search.js'))).toBe(true);
  expect(textOf(join(out, 'index.html'))).toContain('data-base');
});
