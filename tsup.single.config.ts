import { defineConfig } from 'tsup';
import { directImports } from './scripts/direct-imports.ts';
import { notices } from './scripts/notices.ts';

/** One file with everything inside, to copy into an image: Node.js runs it, and nothing is installed. */
export default defineConfig({
  entry: { drillproof: 'src/single/main.ts' },
  outDir: 'single',
  outExtension: () => ({ js: '.mjs' }),
  format: 'esm',
  target: 'node22',
  platform: 'node',
  splitting: false,
  clean: true,
  removeNodeProtocol: false,
  minify: true,
  noExternal: [/.*/],
  external: [/^node:/, 'pg-native', 'pg-boss'],
  // Some of what is inside was written for require().
  banner: {
    js: "import { createRequire as single } from 'node:module'; const require = single(import.meta.url);",
  },
  esbuildPlugins: [directImports, notices],
  esbuildOptions(o) {
    o.conditions = ['drillproof:single', 'drillproof:source', 'node'];
    o.legalComments = 'none';
    o.metafile = true;
  },
});
