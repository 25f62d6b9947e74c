/**
 * Builds what users get. Usage: node scripts/build.ts [single [FOLDER]]
 *
 * tsc has written each module of the library to `dist/`, at its path in `src/`, without types. This removes modules and
 * declarations that no entry needs, and adds what is bundled (the command, the thread that verifies parts, and the page)
 * and the vectors as one archive. `single` is the command in one file, with the page and its packages inside, to copy into
 * an image.
 */
import { createWriteStream, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { OutputChunk } from 'rolldown';
import { ZipFile } from 'yazl';
import manifest from '../package.json' with { type: 'json' };
import { bundle, sourcesOf, writeNotices } from './bundle.ts';
import { buildPage, makePage, PAGE_NAME } from './page.ts';

/** Packages with many files, which load faster in a bundle. */
const INSIDE = ['zod', 'commander'];
const outside = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  .filter((name) => !INSIDE.includes(name))
  .map((name) => new RegExp(`^${name}(?:/|$)`));

/** The name of a file of one command, such as `gate-run` for src/cli/gate/run.ts. */
const nameOf = (source: string | null): string | undefined =>
  /src\/cli\/(.*)\.ts$/.exec(source ?? '')?.[1]?.replaceAll('/', '-');

/** Bundles the command, so that each command loads its code and what most commands share, and the thread. */
async function buildCommand(): Promise<readonly OutputChunk[]> {
  const input = { 'cli/main': 'src/cli/main.ts', 'node/verify-worker': 'src/node/verify-worker.ts' };
  const chunks = await bundle(
    { input, external: outside },
    {
      dir: 'dist',
      entryFileNames: '[name].js',
      chunkFileNames: ({ name, facadeModuleId }) => `cli/${nameOf(facadeModuleId) ?? name}.js`,
      // Loading takes a millisecond for each file, and 5 for 100 kB.
      codeSplitting: {
        groups: [
          {
            name: 'program',
            test: /src\/cli\/(?:process|program|shared\/(?:options\/options|output\/product))\.ts$/,
          },
          { name: 'codes', test: /src\/(?:codes\/|verify\/check)/ },
          { name: 'verify', test: /src\/cli\/verify\/(?:options|run)\.ts$/ },
          { name: 'shared', minShareCount: 6 },
        ],
      },
    },
  );
  writeNotices('dist/cli', sourcesOf(chunks));
  return chunks;
}

async function buildSingle(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const { page } = await makePage();
  const file = join(folder, 'drillproof.mjs');
  const chunks = await bundle(
    {
      input: 'src/single/main.ts',
      resolve: { conditionNames: ['drillproof:single'] },
      transform: { define: { PAGE: JSON.stringify(page) } },
      // Few users need a queue, plots and timestamps, and they are large.
      external: ['pg-boss', 'pg-native', 'echarts', 'pkijs'],
    },
    { file, codeSplitting: false, banner: '#!/usr/bin/env node' },
  );
  await chmod(file, 0o755);
  writeNotices(folder, sourcesOf(chunks));
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

/** Removes the modules and declarations that no entry of the package refers to, because nobody can import them. */
function removeUnreachable(): void {
  const needed = new Set<string>();
  const keep = (path: string): void => {
    if (needed.has(path)) return;
    needed.add(path);
    for (const [, name] of readFileSync(path, 'utf8').matchAll(
      /(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g,
    ))
      keep(join(dirname(path), name + (path.endsWith('.d.ts') ? '.d.ts' : '.js')));
  };
  for (const entry of [...Object.values(manifest.exports), ...Object.values(manifest.imports)])
    for (const path of typeof entry === 'object' ? Object.values(entry) : [])
      if (typeof path === 'string' && path.startsWith('./dist/')) keep(join(path));
  for (const path of globSync('dist/**/*.{js,d.ts}')) if (!needed.has(path)) rmSync(path);
}

/** Writes a list of every source with the published files that contain it. */
function writeSources(command: readonly OutputChunk[], page: readonly string[]): void {
  const bundles = command.map((chunk) => ({ path: `dist/${chunk.fileName}`, sources: sourcesOf([chunk]) }));
  bundles.push({ path: `dist/page/${PAGE_NAME}`, sources: page });
  const lines = globSync('src/**/*.ts')
    .toSorted()
    .map((source) => {
      const module = source.replace(/^src/, 'dist').replace(/ts$/, 'js');
      const paths = bundles.filter(({ sources }) => sources.includes(source)).map(({ path }) => path);
      return `${[source, ...new Set([...(existsSync(module) ? [module] : []), ...paths])].join(' ')}\n`;
    });
  writeFileSync('dist/SOURCES.txt', lines.join(''));
}

const [kind = 'package', folder = 'single'] = process.argv.slice(2);
if (kind === 'single') await buildSingle(folder);
else {
  removeUnreachable();
  const [command, page] = await Promise.all([
    buildCommand(),
    buildPage('dist/page'),
    packVectors('dist/vectors.zip'),
  ]);
  writeSources(command, page);
}
