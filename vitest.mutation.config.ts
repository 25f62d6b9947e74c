import { configDefaults, defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The tests of the rooms that are mutated, without those that take minutes and find what the others find. */
const { projects: _projects, ...shared } = base.test ?? {};

export default defineConfig({
  ...base,
  test: {
    ...shared,
    include: ['test/policy/**/*.test.ts', 'test/verify/**/*.test.ts', 'test/vectors/native.test.ts'],
    exclude: [...configDefaults.exclude, 'test/**/*.deep.test.ts'],
    // Every mutant runs every property.
    env: { DRILLPROOF_TEST_EFFORT: '0.5' },
  },
});
