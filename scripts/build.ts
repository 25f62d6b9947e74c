/**
 * Builds what users get. Usage: node scripts/build.ts [single [FOLDER]]
 *
 * tsc has written each module of the library to `dist/`, at its path in `src/`, without types. This removes declarations
 * that no entry needs, and adds what must be bundled: the command, the thread that verifies parts, and the page; and the vectors as one archive. `single` is the
 * command in one file, with the page and its packages inside, to copy into an image. Bundling removes types, white space
 * and unused code only.
 */
import { createWriteStream, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { build, type BuildOptions, type Metafile } from 'esbuild';
import { ZipFile } from 'yazl';
import manifest from '../package.json' with { type: 'json' };
import { writeNotices } from './notices.ts';
import { buildPage, makePage, PAGE_NAME } from './page.ts';

/** Packages in CommonJS call `require`, which a module does not have. */
const REQUIRE = `import { createRequire as makeRequire } from 'node:module';
const require = makeRequire(import.meta.url);`;

const common = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  banner: { js: REQUIRE },
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
} as const satisfies BuildOptions;

/** Packages with many files, which load faster in a bundle. */
const INSIDE = new Set(['zod', 'commander', 'yaml']);
const packages = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });

/** Bundles the command, so that each command loads only its code, and the thread. */
async function buildCommand(): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: { 'cli/main': 'src/cli/main.ts', 'node/verify-worker': 'src/node/verify-worker.ts' },
    outdir: 'dist',
    splitting: true,
    chunkNames: 'cli/[name]-[hash]',
    conditions: ['drillproof:source'],
    external: packages.filter((name) => !INSIDE.has(name)),
  });
  writeNotices('dist/cli', [metafile]);
  return metafile;
}

async function buildSingle(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const { page } = await makePage();
  const file = join(folder, 'drillproof.mjs');
  const { metafile } = await build({
    ...common,
    entryPoints: ['src/single/main.ts'],
    outfile: file,
    conditions: ['drillproof:single', 'drillproof:source'],
    define: { PAGE: JSON.stringify(page) },
    banner: { js: `#!/usr/bin/env node\n${REQUIRE}` },
    // Few users need a queue, plots and timestamps, and they are large.
    external: ['pg-boss', 'pg-native', 'echarts', 'pkijs'],
  });
  await chmod(file, 0o755);
  writeNotices(folder, [metafile]);
}

/** Writes the vectors with their schemas into one archive, with the same bytes on every machine. */
async function packVectors(file: string): Promise<void> {
  const zip = new ZipFile();
  for (const path of globSync(['README.md', '*.json', 'schemas/*.json'], { cwd: 'vectors' }).toSorted())
    zip.addBuffer(await readFile(join('vectors', path)), path, {
      mtime: new Date(0),
      forceDosTimestamp: true,
      mode: 0o100644,
    });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file));
}

/** Removes the declarations that no entry of the package refers to, because nobody can import them. */
async function removePrivateDeclarations(): Promise<void> {
  const needed = new Set<string>();
  const keep = (path: string): void => {
    if (needed.has(path)) return;
    needed.add(path);
    for (const [, module] of readFileSync(path, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.ts['"]/g))
      keep(join(dirname(path), `${module}.d.ts`));
  };
  for (const entry of Object.values(manifest.exports)) if (typeof entry === 'object') keep(join(entry.types));
  for (const path of globSync('dist/**/*.d.ts')) if (!needed.has(path)) await rm(path);
}

/** Writes a list of every source with the published files that contain it. */
function writeSources(command: Metafile, page: readonly Metafile[]): void {
  const outputs = Object.entries(command.outputs).map(([path, { inputs }]) => ({ path, inputs }));
  const pages = page.map(({ inputs }) => ({ path: `dist/page/${PAGE_NAME}`, inputs }));
  const lines = globSync('src/**/*.ts')
    .toSorted()
    .map((source) => {
      const module = source.replace(/^src/, 'dist').replace(/ts$/, 'js');
      const bundles = [...outputs, ...pages].filter(({ inputs }) => source in inputs).map(({ path }) => path);
      return `${[source, ...new Set([...(existsSync(module) ? [module] : []), ...bundles])].join(' ')}\n`;
    });
  writeFileSync('dist/SOURCES.txt', lines.join(''));
}

const [kind = 'package', folder = 'single'] = process.argv.slice(2);
if (kind === 'single') await buildSingle(folder);
else {
  const [command, page] = await Promise.all([
    buildCommand(),
    buildPage('dist/page'),
    packVectors('dist/vectors.zip'),
    removePrivateDeclarations(),
  ]);
  writeSources(command, page);
}
