import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

// Those that flip every byte take minutes for each mutant, and find what the others find.
const SLOW = [
  'test/verify/flips-*.test.ts',
  'test/verify/flips/archive-flips.test.ts',
  'test/verify/mix/mix-portable.test.ts',
];

/** The tests that ask what the mutated rooms decide. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    test: {
      include: ['test/policy/**/*.test.ts', 'test/verify/**/*.test.ts', 'test/vectors/native.test.ts'],
      exclude: [...configDefaults.exclude, ...SLOW],
      // The properties are asked anew of every mutant.
      env: { DRILLPROOF_TEST_RUNS: '30' },
    },
  }),
);
