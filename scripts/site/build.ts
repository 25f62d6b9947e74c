/**
 * Builds the site: the documentation and the API reference with one search, the schemas, the vectors, and the page that
 * verifies evidence in a browser if it is built. Usage: node scripts/site/build.ts [FOLDER]
 */
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Application, DocumentReflection, KindRouter, LogLevel } from 'typedoc';

const root = resolve(import.meta.dirname, '../..');
const PAGE = join(root, 'dist/page/drillproof.html');
const ENTRIES = ['index', 'contract', 'client', 'node', 'server', 'web'];

/** The users' pages, in the order of the README. */
const START = ['auditor', 'gate', 'archive', 'library', 'client'];

type Target = Parameters<KindRouter['getFullUrl']>[0];

/** Makes each section of a document a result of the search, which otherwise finds only whole documents. */
class SectionRouter extends KindRouter {
  readonly #urls = new Map<Target, string>();

  override buildPages(
    project: Parameters<KindRouter['buildPages']>[0],
  ): ReturnType<KindRouter['buildPages']> {
    const pages = super.buildPages(project);
    for (const page of project.documents ?? []) {
      const text = page.content.map((piece) => piece.text).join('');
      for (const { title, anchor, body } of listSections(text)) {
        const section = new DocumentReflection(title, page, [{ kind: 'text', text: body }], {});
        this.#urls.set(section, `${super.getFullUrl(page)}#${anchor}`);
      }
    }
    return pages;
  }

  override getLinkTargets(): Target[] {
    return [...super.getLinkTargets(), ...this.#urls.keys()];
  }

  override getFullUrl(target: Target): string {
    return this.#urls.get(target) ?? super.getFullUrl(target);
  }
}

/** The sections of a document below its title, with the anchors that GitHub gives them. */
function listSections(text: string) {
  const counts = new Map<string, number>();
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return Array.from(
    prose.matchAll(/^(#+) (.+)\n([\s\S]*?)(?=^#|(?![\s\S]))/gm),
    ([, level, heading, body]) => {
      const title = heading.replaceAll('`', '');
      const slug = title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
      const count = counts.get(slug) ?? 0;
      counts.set(slug, count + 1);
      return { level, title, body, anchor: count === 0 ? slug : `${slug}-${count}` };
    },
  ).filter(({ level }) => level !== '#');
}

const [out = join(root, 'site')] = process.argv.slice(2);
rmSync(out, { recursive: true, force: true });

const site = await Application.bootstrap({
  name: 'drillproof',
  entryPoints: ENTRIES.map((name) => join(root, 'src', `${name}.ts`)),
  tsconfig: join(import.meta.dirname, 'tsconfig.json'),
  readme: join(root, 'README.md'),
  projectDocuments: [
    ...START.map((name) => join(root, `docs/start/${name}.md`)),
    ...globSync(join(root, 'docs/**/*.md'), { exclude: ['**/start/*'] }).toSorted(),
  ],
  router: 'sections',
  out,
  disableSources: true,
  excludeInternal: true,
  hideGenerator: true,
  searchInDocuments: true,
  searchInComments: true,
  searchGroupBoosts: { Documents: 3 },
  logLevel: LogLevel.Error, // test/scripts/site.deep.test.ts checks the links
  validation: false,
});
site.renderer.defineRouter('sections', SectionRouter);
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

/** The links on which the site opens. */
const FIRST = [
  ...START.map((name) => `<a href="documents/start_${name}.html">Start: ${name}</a>`),
  ...(hasPage ? ['<a href="drillproof.html">Verify evidence in the browser</a>'] : []),
  '<a href="documents/formats_schemas.html">JSON Schemas</a>',
  '<a href="documents/formats_vectors.html">Test vectors</a>',
];
const PANEL = '<div class="tsd-panel tsd-typography">';
/** TypeDoc's title above the one of the README. */
const TITLE = `<div class="tsd-page-title">\n<h1>drillproof</h1></div>\n${PANEL}`;
const index = join(out, 'index.html');
const home = readFileSync(index, 'utf8');
if (!home.includes(TITLE)) throw new Error('the first page has no place for links');
writeFileSync(index, home.replace(TITLE, `${PANEL}<p>${FIRST.join(' · ')}</p>`));

/** A link to a folder, which a site of files does not have. */
const FOLDER = /<a href="\.\.\/media\/([^"./]+)"[^>]*>(.*?)<\/a>/g;

// Headings such as "§4 Verdicts" have the anchor that GitHub gives them, without the sign.
for (const page of globSync(join(out, 'documents/*.html'))) {
  const text = readFileSync(page, 'utf8')
    .replaceAll(/(?: id="|href="[^"]*#)§[^"]*"/g, (anchor) => anchor.replaceAll('§', ''))
    .replaceAll('href="../#', 'href="../index.html#')
    .replaceAll(FOLDER, (link, name: string, words: string) =>
      existsSync(join(out, 'media', name)) ? link : words,
    );
  writeFileSync(page, text);
}
