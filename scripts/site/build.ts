/**
 * Builds the site: the documentation and the API reference with one search, the schemas, the vectors, and the page that
 * verifies evidence in a browser if it is built. Usage: node scripts/site/build.ts [FOLDER]
 */
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Application, LogLevel } from 'typedoc';

const root = resolve(import.meta.dirname, '../..');
const PAGE = join(root, 'dist/page/drillproof.html');
const ENTRIES = ['index', 'contract', 'client', 'node', 'server', 'web'];

const [out = join(root, 'site')] = process.argv.slice(2);
rmSync(out, { recursive: true, force: true });

const site = await Application.bootstrap({
  name: 'drillproof',
  entryPoints: ENTRIES.map((name) => join(root, 'src', `${name}.ts`)),
  tsconfig: join(import.meta.dirname, 'tsconfig.json'),
  readme: join(root, 'README.md'),
  projectDocuments: globSync(join(root, 'docs/**/*.md')).toSorted(),
  out,
  disableSources: true,
  excludeInternal: true,
  hideGenerator: true,
  searchInDocuments: true,
  searchInComments: true,
  logLevel: LogLevel.Error, // test/scripts/site.deep.test.ts checks the links
  validation: false,
});
const project = await site.convert();
if (project === undefined) throw new Error('the sources cannot be converted');
await site.generateOutputs(project);

cpSync(join(root, 'docs/schemas'), join(out, 'schemas'), { recursive: true });
cpSync(join(root, 'vectors'), join(out, 'vectors'), {
  recursive: true,
  filter: (path) => !path.endsWith('.ts'),
});
const hasPage = existsSync(PAGE);
if (hasPage) cpSync(PAGE, join(out, 'drillproof.html'));

/** Links that the documents do not have. */
const FIRST = [
  ...(hasPage ? ['<a href="drillproof.html">Verify evidence in the browser</a>'] : []),
  '<a href="documents/formats_schemas.html">JSON Schemas</a>',
  '<a href="documents/formats_vectors.html">Test vectors</a>',
];
const PANEL = '<div class="tsd-panel tsd-typography">';
const index = join(out, 'index.html');
const home = readFileSync(index, 'utf8');
if (!home.includes(PANEL)) throw new Error('the first page has no place for links');
writeFileSync(index, home.replace(PANEL, `${PANEL}<p>${FIRST.join(' · ')}</p>`));

/** A link to a folder, which a site of files does not have. */
const FOLDER = /<a href="\.\.\/media\/([^"./]+)"[^>]*>(.*?)<\/a>/g;

// Headings such as "§4 Verdicts" have the anchor that GitHub gives them, without the sign.
for (const page of globSync(join(out, 'documents/*.html'))) {
  const text = readFileSync(page, 'utf8')
    .replaceAll(/ id="§([^"]*)"/g, ' id="$1"')
    .replaceAll('#§', '#')
    .replaceAll('href="../#', 'href="../index.html#')
    .replaceAll(FOLDER, (link, name: string, words: string) =>
      existsSync(join(out, 'media', name)) ? link : words,
    );
  writeFileSync(page, text);
}
