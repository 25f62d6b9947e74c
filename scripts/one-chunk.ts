import { globSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import { readForBundle } from './direct-imports.ts';

const DYNAMIC = /import\('(\.[^']*)'\)/g;
const NAME = 'one-chunk';

/** Lists the files that are imported dynamically, for which esbuild creates chunks. */
const listDynamic = (): Set<string> =>
  new Set(
    globSync('src/**/*.ts', { exclude: ['src/single/**'] }).flatMap((path) =>
      Array.from(readFileSync(path, 'utf8').matchAll(DYNAMIC), ([, to = '']) => resolve(dirname(path), to)),
    ),
  );

/**
 * Puts modules and all their imports into one chunk: every dynamically imported file imports them too, so esbuild does not
 * split them. Each additional file takes a third of a millisecond to load.
 */
export const oneChunk = (modules: readonly string[]): Plugin => ({
  name: NAME,
  setup(build) {
    const dynamic = listDynamic();
    build.onResolve({ filter: /^one-chunk$/ }, () => ({ path: NAME, namespace: NAME }));
    build.onLoad({ filter: /./, namespace: NAME }, () => ({
      contents: modules.map((module, at) => `export * as module${at} from './src/${module}.ts';`).join('\n'),
      resolveDir: process.cwd(),
    }));
    build.onLoad({ filter: /\.ts$/ }, ({ path }) =>
      dynamic.has(path) ? { contents: `${readForBundle(path)}\nimport '${NAME}';`, loader: 'js' } : undefined,
    );
  },
});
