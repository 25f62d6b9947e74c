import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    deep?: boolean;
  }
}

/** True in `npm run test:deep`. A test file that imports this module runs in both, `*.deep.test.ts` only there. */
export const isDeep = inject('deep') === true;

const EFFORT = Number(process.env['DRILLPROOF_TEST_EFFORT'] ?? 1);

/** True with DRILLPROOF_TEST_EFFORT=10: tests try every flip, disk call and vector, which takes hours. */
export const isExhaustive = EFFORT >= 10;

/** The number of tries: `quick` in `npm test`, `deep` in `npm run test:deep`. */
export const tries = (quick: number, deep: number = quick): number =>
  Math.ceil((isDeep ? deep : quick) * EFFORT);
