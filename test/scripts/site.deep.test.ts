import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { generatedFiles } from '../../docs/files.ts';
import { PUBLIC } from '../package/public-names.ts';
import { makeFolder } from '../support/folder.ts';
import { BROWSERS } from '../web/browsers.ts';

const out = await makeFolder();
const textOf = (path: string): string => readFileSync(path, 'utf8');
beforeAll(() => void execFileSync(process.execPath, ['scripts/site/build.ts', out]));

const idsOf = (file: string): Set<string> =>
  new Set([...textOf(file).matchAll(/\bid="([^"]*)"/g)].map(([, id = '']) => id));

/** The links of a page to missing files or missing ids. */
function findDeadLinks(page: string): string[] {
  const links = [...textOf(page).matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^(?:https?:|mailto:|data:)/.test(link)) return false;
    const [path = '', hash = ''] = link.replaceAll('&amp;', '&').split('#');
    const file = path === '' ? page : resolve(dirname(page), decodeURI(path.split('?')[0] ?? ''));
    if (!existsSync(file) || !statSync(file).isFile()) return true;
    return hash !== '' && file.endsWith('.html') && !idsOf(file).has(decodeURIComponent(hash));
  });
}

it('every link of the site leads to an existing file and id', () => {
  const pages = globSync(join(out, '**/*.html')).filter((page) => basename(page) !== 'drillproof.html');
  const dead = pages.flatMap((page) =>
    findDeadLinks(page).map((link) => `${page.slice(out.length)}: ${link}`),
  );
  expect(dead).toEqual([]);
});

it('the site has every document, every schema, the vectors and every public name', () => {
  const documents = globSync('docs/**/*.md').map(
    (path) => `documents/${relative('docs', path).replaceAll('/', '_').replace('.md', '.html')}`,
  );
  const schemas = [...generatedFiles().keys()].filter((path) => path.startsWith('schemas/'));
  const missing = [...documents, ...schemas, 'vectors/policies.json', 'index.html'].filter(
    (path) => !existsSync(join(out, path)),
  );
  expect(missing).toEqual([]);
  const pages = globSync(join(out, '{classes,functions,interfaces,types,variables,modules}/*.html'));
  const documented = new Set(pages.map((page) => basename(page, '.html').split('.').at(-1)));
  const names = PUBLIC.flatMap((entry) => entry.names.map(({ name }) => name));
  expect(names.filter((name) => !documented.has(name))).toEqual([]);
});

it('the first page of the site has one title, and begins with the page of each user', () => {
  expect(textOf(join(out, 'index.html')).match(/<h1/g)).toHaveLength(1);
  const links = [...textOf(join(out, 'index.html')).matchAll(/href="documents\/start_(\w+)\.html"/g)];
  expect([...new Set(links.map(([, name]) => name))].slice(0, 3)).toEqual(['auditor', 'gate', 'archive']);
});

it('the page about the library leads to the API reference of every entry', () => {
  const text = textOf(join(out, 'documents/start_library.html'));
  for (const { entry } of PUBLIC) expect(text).toMatch(new RegExp(`href="../modules/${entry}\\.html"`));
});

it.each([
  ['part.DIGEST_MISMATCH', 'documents/codes.html#partdigest_mismatch'],
  ['zip.CRC_MISMATCH', 'documents/codes.html#zipcrc_mismatch'],
  ['part.bytes', 'documents/codes.html#partbytes'],
  ['Verify without drillproof', 'documents/verify_verify.html#verify-without-drillproof'],
  ['revoke a key', 'documents/verify_keys.html#revoke-a-key'],
  ['verifyExport', 'functions/index.verifyExport.html'],
])('the search of the site finds "%s" first', async (query, address) => {
  const browser = await BROWSERS.chromium();
  onTestFinished(() => browser.close());
  const page = await browser.open(`file://${join(out, 'index.html')}`);
  await page.page?.click('#tsd-search-trigger');
  await page.page?.fill('#tsd-search-input', query);
  const first = "document.querySelector('#tsd-search-results a')?.getAttribute('href') ?? ''";
  await expect.poll(() => page.evaluate<string>(first)).toMatch(new RegExp(`${address}$`));
  const [path = '', hash] = address.split('#');
  if (hash !== undefined) expect(idsOf(join(out, path)).has(hash)).toBe(true);
});
