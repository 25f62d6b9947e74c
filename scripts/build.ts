/**
 * Builds what users get. Usage: node scripts/build.ts [single [FOLDER]]
 *
 * tsc has written each module of the library to `dist/`, at its path in `src/`, without types. This adds what must be
 * bundled: the command, the thread that verifies parts, and the page. `single` is the command in one file, with its
 * packages and the page inside, to copy into an image. Bundling removes types, white space and unused code only.
 */
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import manifest from '../package.json' with { type: 'json' };
import { writeNotices } from './notices.ts';
import { buildPage, makePage } from './page.ts';

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

/** Bundles the command, so that each command loads only its code, and the thread. A selftest replaces `#platform`. */
async function buildCommand(): Promise<void> {
  const { metafile } = await build({
    ...common,
    entryPoints: { 'cli/main': 'src/cli/main.ts', 'node/verify-worker': 'src/node/verify-worker.ts' },
    outdir: 'dist',
    splitting: true,
    chunkNames: 'cli/[name]-[hash]',
    conditions: ['drillproof:source'],
    external: ['#platform', ...packages.filter((name) => !INSIDE.has(name))],
  });
  writeNotices('dist/cli', [metafile]);
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
    external: ['pg-boss', 'pg-native'],
  });
  await chmod(file, 0o755);
  writeNotices(folder, [metafile]);
}

const [kind = 'package', folder = 'single'] = process.argv.slice(2);
if (kind === 'single') await buildSingle(folder);
else await Promise.all([buildCommand(), buildPage('dist/page')]);
