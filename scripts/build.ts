/**
 * Builds what users get. Usage: node scripts/build.ts [single [FOLDER]]
 *
 * `dist/` has one file per module for the library, so that a bundler keeps only what a program uses. `dist/bundled/` has
 * the library again for Node.js and the command, in few files, because loading many files is slow. tsc adds the
 * declarations. `dist/page/` has the page that verifies in a browser. `single` is the command in one file, with everything
 * inside, to copy into an image.
 */
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type BuildOptions, build, transform } from 'esbuild';
import { replaceBuiltins } from './builtins.ts';
import { writeApart, writeCodeCache } from './code-cache.ts';
import { directImports, importDirectly, markPure } from './direct-imports.ts';
import { makeLazy } from './lazy.ts';
import { oneChunk } from './one-chunk.ts';
import { notices } from './notices.ts';
import { buildPage, makePage } from './page.ts';
import { PACKED, packPackages, writeSingle } from './single.ts';

const TARGET = 'node22';

const builtins = replaceBuiltins('process.getBuiltinModule');

const bundled = {
  bundle: true,
  format: 'esm',
  target: TARGET,
  platform: 'node',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [builtins, directImports],
} as const satisfies BuildOptions;

const PUBLIC = ['index', 'contract', 'client', 'node', 'server', 'web'];
/** The modules in `imports` of package.json. */
const SELECTED = [
  'node/platform-node',
  'bytes/platform-portable',
  'node/packaging',
  'node/verify-worker-code',
];

/** The modules that `verify` loads. */
const COMMON = ['cli/process', 'cli/run', 'cli/verify/command', 'cli/verify/run'];

/** Modules whose files are published with a code cache of V8: one that `verify` loads, and one of policies. */
const LARGE = ['cli/process', 'policy/document/yaml'];

const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  'dependencies' | 'peerDependencies',
  Readonly<Record<string, string>>
>;
const PACKAGES = Object.keys({ ...dependencies, ...peerDependencies });

/** Writes each module of the library, at its path in `src/`. */
async function buildLibrary(): Promise<void> {
  const worker = await bundleWorker();
  const define = { VERIFY_WORKER: JSON.stringify(worker) };
  const { metafile } = await build({
    ...bundled,
    entryPoints: [...PUBLIC, ...SELECTED].map((name) => `src/${name}.ts`),
    outdir: 'dist',
    write: false,
    metafile: true,
    external: [...PACKAGES, '#*'],
  });
  await Promise.all(
    Object.keys(metafile.inputs)
      .filter((path) => path.startsWith('src/'))
      .map((path) => writeModule(path, define)),
  );
  await mkdir('dist/node', { recursive: true });
  await writeFile('dist/node/verify-worker.js', worker);
}

async function writeModule(path: string, define: Readonly<Record<string, string>>): Promise<void> {
  const source = markPure(importDirectly(path)).replaceAll(/((?:from|import) ?\(?'\.[^']*)\.ts'/g, "$1.js'");
  const { code } = await transform(source, { loader: 'ts', target: TARGET, define });
  const to = path.replace(/^src/, 'dist').replace(/ts$/, 'js');
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, code);
}

/** Bundles the thread that verifies parts as text, so that it needs no file. */
async function bundleWorker(): Promise<string> {
  const { outputFiles } = await build({
    ...bundled,
    entryPoints: ['src/node/verify-worker.ts'],
    write: false,
    conditions: ['drillproof:source'],
    // yauzl calls require().
    banner: { js: 'const require = process.getBuiltinModule;' },
  });
  return outputFiles[0]!.text;
}

const split = {
  ...bundled,
  outdir: 'dist',
  chunkNames: 'bundled/[name]-[hash]',
  splitting: true,
  conditions: ['drillproof:source'],
} satisfies BuildOptions;

/** Bundles the library for Node.js, with zod inside. */
const buildBundled = (): Promise<unknown> =>
  build({
    ...split,
    entryPoints: {
      ...Object.fromEntries(PUBLIC.map((name) => [`bundled/${name}`, `src/${name}.ts`])),
      'bundled/yaml': 'src/policy/document/yaml.ts', // on its own, so that bundlers can remove it
    },
    external: [...PACKAGES.filter((name) => name !== 'zod'), '#verify-worker-code'],
  });

/**
 * Bundles the command with packages that have many files. The modules that most commands need are in one file. It is in
 * CommonJS, because V8 caches code only for scripts.
 */
async function buildCommand(): Promise<void> {
  const { outputFiles, metafile } = await build({
    ...split,
    chunkNames: 'cli/[name]-[hash]',
    entryPoints: { 'cli/main': 'src/cli/main.ts' },
    external: PACKAGES.filter((name) => !['zod', 'commander', 'yaml'].includes(name)),
    plugins: [builtins, oneChunk(COMMON), directImports],
    minify: false, // toCommonJs does
    write: false,
    metafile: true,
  });
  await mkdir('dist/cli', { recursive: true });
  await writeFile('dist/cli/package.json', '{ "type": "commonjs" }\n');
  const large = Object.entries(metafile.outputs).flatMap(([path, { inputs }]) =>
    LARGE.some((name) => `src/${name}.ts` in inputs) ? [resolve(path)] : [],
  );
  for (const { path, text } of outputFiles) {
    const js = await toCommonJs(text);
    const code = js.includes('__url')
      ? `const __url = require('node:url').pathToFileURL(__filename).href;${js}`
      : js;
    if (large.includes(path)) writeApart(path, code);
    else await writeFile(path, code);
  }
  writeCodeCache('dist/cli/main.js');
}

async function toCommonJs(text: string): Promise<string> {
  const common = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: TARGET,
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': '__url' },
  });
  const { code } = await transform(makeLazy(common.code), { format: 'cjs', target: TARGET, minify: true });
  return code;
}

/** Bundles the command with the portable primitives, which `selftest` tests too. */
const buildPortable = (): Promise<unknown> =>
  build({
    ...bundled,
    platform: 'neutral',
    entryPoints: { 'portable/main': 'src/cli/main.ts' },
    outdir: 'dist',
    conditions: ['drillproof:source', 'import'],
    external: [...PACKAGES.filter((name) => name !== 'zod'), '#verify-worker-code', 'node:*', 'echarts/*'],
  });

/** Writes the command as one file, with packages and the page inside. */
async function buildSingle(folder: string): Promise<void> {
  const packages = await packPackages();
  const { outputFiles, metafile } = await build({
    ...split,
    entryPoints: { main: 'src/cli/main.ts', thread: 'src/node/verify-worker.ts' },
    define: { PAGE: JSON.stringify(await makePage()) },
    outdir: folder,
    chunkNames: '[name]-[hash]',
    conditions: ['drillproof:single', 'drillproof:source'],
    external: ['pg-boss', ...PACKED],
    plugins: [replaceBuiltins('require'), oneChunk(COMMON), directImports, notices],
    minify: false,
    write: false,
    metafile: true,
  });
  const modules = outputFiles.map(async ({ path, text }) => ({ path, code: await toCommonJs(text) }));
  writeSingle(join(folder, 'drillproof.mjs'), await Promise.all(modules), packages, metafile);
}

const [kind = 'package', folder = kind === 'single' ? 'single' : 'dist'] = process.argv.slice(2);
await rm(folder, { recursive: true, force: true });
if (kind === 'single') await buildSingle(folder);
else
  await Promise.all([
    buildLibrary(),
    buildBundled(),
    buildCommand(),
    buildPortable(),
    buildPage(join(folder, 'page')),
  ]);
