import { describe, expect, it } from 'vitest';
import { COUNTS } from './counts.ts';
import { CASE_KINDS } from '../../src/selftest/result.ts';
import { readVectors } from './read.ts';

/** Tests every published case with the primitives of this process. */
export function testEveryCase(): void {
  describe.each(Object.keys(COUNTS))('%s', (kind) => {
    const file = readVectors(kind);
    const tests = CASE_KINDS[kind]!;

    it(`the vectors ${kind} have exactly the published number of cases`, () => {
      expect([file.cases.length, file.numberOfCases]).toEqual([COUNTS[kind], COUNTS[kind]]);
    });

    it.each(file.cases)(`the vector ${kind} $id has the expected outcome`, async ({ input, expected }) => {
      const outcomes = await tests.outcomes(input);
      expect([...outcomes.keys()]).toEqual(tests.ways);
      for (const [way, outcome] of outcomes) expect({ way, ...outcome }).toEqual({ way, ...expected });
    });
  });
}
