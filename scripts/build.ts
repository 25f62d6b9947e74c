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
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type InputOptions, type OutputChunk, type OutputOptions, rolldown } from 'rolldown';
import { ZipFile } from 'yazl';
import manifest from '../package.json' with { type: 'json' };
import { writeNotices } from './notices.ts';
import { buildPage, makePage, PAGE_NAME } from './page.ts';

const packages = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });

/** Bundles for Node.js, with every name kept. */
async function bundle(input: InputOptions, output: OutputOptions): Promise<readonly OutputChunk[]> {
  const bundler = await rolldown({ platform: 'node', checks: { ineffectiveDynamicImport: false }, ...input });
  const written = await bundler.write({
    format: 'esm',
    comments: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    ...output,
  });
  return written.output.filter((chunk) => chunk.type === 'chunk');
}

/** The sources in a chunk, as paths from the root. */
const sourcesOf = (chunk: OutputChunk): readonly string[] => chunk.moduleIds.map((id) => relative('.', id));

/** Packages with many files, which load faster in a bundle. */
const INSIDE = ['zod', 'commander'];

/** Bundles the command, so that each command loads its code and what many commands share, and the thread. */
async function buildCommand(): Promise<readonly OutputChunk[]> {
  const chunks = await bundle(
    {
      input: { 'cli/main': 'src/cli/main.ts', 'node/verify-worker': 'src/node/verify-worker.ts' },
      resolve: { conditionNames: ['drillproof:source', 'node', 'import'] },
      external: packages
        .filter((name) => !INSIDE.includes(name))
        .map((name) => new RegExp(`^${name}(?:/|$)`)),
    },
    {
      dir: 'dist',
      entryFileNames: '[name].js',
      // Those of a command have its name.
      chunkFileNames: ({ name, facadeModuleId }) =>
        `cli/${/src\/cli\/(.*)\.ts$/.exec(facadeModuleId ?? '')?.[1]?.replaceAll('/', '-') ?? name}.js`,
      // A file costs about a millisecond, and a megabyte of code 50 ms.
      codeSplitting: {
        groups: [
          {
            name: 'program',
            test: /src\/cli\/(?:process|program|shared\/options\/options|shared\/output\/product)\.ts$/,
          },
          { name: 'codes', test: /src\/(?:codes\/|verify\/check)/ },
          { name: 'verify', test: /src\/cli\/verify\/(?:options|run)\.ts$/ },
          { name: 'shared', minShareCount: 6 },
        ],
      },
    },
  );
  writeNotices('dist/cli', chunks.flatMap(sourcesOf));
  return chunks;
}

async function buildSingle(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const { page } = await makePage();
  const file = join(folder, 'drillproof.mjs');
  const chunks = await bundle(
    {
      input: 'src/single/main.ts',
      resolve: { conditionNames: ['drillproof:single', 'drillproof:source', 'node', 'import'] },
      transform: { define: { PAGE: JSON.stringify(page) } },
      // Few users need a queue, plots and timestamps, and they are large.
      external: ['pg-boss', 'pg-native', 'echarts', 'pkijs'],
    },
    { file, codeSplitting: false, banner: '#!/usr/bin/env node' },
  );
  await chmod(file, 0o755);
  writeNotices(folder, chunks.flatMap(sourcesOf));
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
function writeSources(command: readonly OutputChunk[], page: readonly string[]): void {
  const bundles = command.map((chunk) => ({ path: `dist/${chunk.fileName}`, sources: sourcesOf(chunk) }));
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
  const [command, page] = await Promise.all([
    buildCommand(),
    buildPage('dist/page'),
    packVectors('dist/vectors.zip'),
    removePrivateDeclarations(),
  ]);
  writeSources(command, page);
}
