import { globSync, readFileSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';

const source = 'drillproof:source';
const deepOnly = 'test/**/*.deep.test.ts';

/** Test files that try more, or use real servers too, in the deep run. */
const scaled = globSync('test/**/*.test.ts').filter((path) =>
  readFileSync(path, 'utf8').includes('support/deep.ts'),
);

export default defineConfig({
  ssr: { resolve: { conditions: [source, 'node'] } },
  test: {
    execArgv: [`--conditions=${source}`],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, deepOnly],
        },
      },
      { extends: true, test: { name: 'deep', include: [deepOnly, ...scaled], provide: { deep: true } } },
    ],
  },
});
