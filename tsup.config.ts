import { defineConfig, type Options } from 'tsup';
import { directImports } from './scripts/direct-imports.ts';

const common: Options = {
  format: 'esm',
  target: 'node22',
  platform: 'neutral', // node: imports stay as written; nothing is polyfilled
  splitting: true,
  clean: false, // the build script empties dist once; two configurations share it
  removeNodeProtocol: false, // "sqlite" without node: is no module
  dts: false, // tsc emits the declarations
  sourcemap: false,
  external: [/^#/, /^node:/],
  esbuildPlugins: [directImports],
};

export default defineConfig([
  {
    ...common,
    // One entry per public path and per file that `imports` names, at the path it has in src:
    // TypeScript maps dist/x.js back to src/x.ts by rootDir and outDir, so no `paths` are needed.
    entry: {
      index: 'src/index.ts',
      contract: 'src/contract.ts',
      client: 'src/client.ts',
      node: 'src/node.ts',
      'node/platform-node': 'src/node/platform-node.ts',
      'node/packaging': 'src/node/packaging.ts',
      'bytes/platform-portable': 'src/bytes/platform-portable.ts',
      server: 'src/server.ts',
    },
  },
  {
    ...common,
    // What has to start fast, the command and the thread that judges parts: a copy with zod inside and
    // minified, because loading many files is slow.
    entry: { 'cli/main': 'src/cli/main.ts', 'node/verify-worker': 'src/node/verify-worker.ts' },
    noExternal: ['zod'],
    minify: true,
    esbuildOptions(o) {
      o.chunkNames = 'cli/[name]-[hash]';
    },
  },
]);
