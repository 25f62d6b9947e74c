import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const source = 'drillproof:source';
const deepOnly = 'test/**/*.deep.test.ts';
const exclude = [...configDefaults.exclude, deepOnly];

const testFiles = (pattern: RegExp): string[] =>
  globSync('test/**/*.test.ts').filter((path) => pattern.test(readFileSync(path, 'utf8')));

/** Test files that try more, or use real servers too, in the deep run. */
const scaled = testFiles(/support\/deep\.ts/);
/** Test files that replace modules, which must not reach other files. */
const mocking = testFiles(/vi\.(mock|resetModules)\(|failing-disk\.ts/);

// Commands and threads that tests start load the sources again; this halves the time of their start.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

export default defineConfig({
  ssr: { resolve: { conditions: [source, 'node'] } },
  test: {
    execArgv: [`--conditions=${source}`],
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, ...mocking],
          isolate: false, // loading src for every file would take most of the time
          experimental: { viteModuleRunner: false }, // Node.js strips types faster, but hoists no mocks
        },
      },
      { extends: true, test: { name: 'quick mocks', include: mocking, exclude } },
      { extends: true, test: { name: 'deep', include: [deepOnly, ...scaled], provide: { deep: true } } },
    ],
  },
});
