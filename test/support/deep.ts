import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    deep?: boolean;
  }
}

/**
 * Whether this is `npm run test:deep`, which starts real servers and takes minutes, and not `npm test`. A test file that
 * imports this module runs in both; `*.deep.test.ts` runs in the first only (vitest.config.ts).
 */
export const isDeep = inject('deep') === true;

const EFFORT = Number(process.env['DRILLPROOF_TEST_EFFORT'] ?? 1);

/** Whether to try every flip, disk call and vector, which takes hours: DRILLPROOF_TEST_EFFORT=10. */
export const isExhaustive = EFFORT >= 10;

/** How often a test tries something: `quick` times in `npm test`, `deep` times in `npm run test:deep`. */
export const tries = (quick: number, deep: number = quick): number =>
  Math.ceil((isDeep ? deep : quick) * EFFORT);
