import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const source = 'drillproof:source';
const deepOnly = 'test/**/*.deep.test.ts';
const exclude = [...configDefaults.exclude, deepOnly];

const testFiles = (pattern: RegExp): string[] =>
  globSync('test/**/*.test.ts').filter((path) => pattern.test(readFileSync(path, 'utf8')));

/** Test files that try more, or use real servers too, in the deep run. */
const scaled = testFiles(/support\/deep\.ts/);
/** Test files that replace modules, which must not reach other files. */
const mocking = testFiles(/vi\.mock\(|failing-disk\.ts/);

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
        },
      },
      { extends: true, test: { name: 'quick mocks', include: mocking, exclude } },
      { extends: true, test: { name: 'deep', include: [deepOnly, ...scaled], provide: { deep: true } } },
    ],
  },
});
