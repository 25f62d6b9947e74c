import * as fc from 'fast-check';

type Arbitraries<Values extends unknown[]> = { [At in keyof Values]: fc.Arbitrary<Values[At]> };

/** Tries `numRuns` random values: the predicate must neither throw nor return false. */
export function forAll<Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  arbitraries: Arbitraries<Values>,
  predicate: (...values: Values) => boolean | void,
): void {
  fc.assert(fc.property(...arbitraries, predicate), { numRuns });
}

/** As `forAll`, for a predicate that is asynchronous. */
export function forAllAsync<Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  arbitraries: Arbitraries<Values>,
  predicate: (...values: Values) => Promise<boolean | void>,
): Promise<void> {
  return fc.assert(fc.asyncProperty(...arbitraries, predicate), { numRuns });
}
