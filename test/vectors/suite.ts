import { describe, expect, it } from 'vitest';
import { COUNTS } from './counts.ts';
import { CASE_KINDS } from '../../src/selftest/index.ts';
import { assertKnownVerdict, readVectors } from './read.ts';

/** Puts every published case to the implementation that this process runs on. */
export function everyCaseHolds(): void {
  describe.each(Object.keys(COUNTS))('%s', (kind) => {
    const file = readVectors(kind);
    const judge = CASE_KINDS[kind];
    if (judge === undefined) throw new TypeError(`nobody judges ${kind}`);

    it('has exactly the cases that were published', () => {
      expect(file.cases.length).toBe(COUNTS[kind]);
      expect(file.numberOfCases).toBe(COUNTS[kind]);
    });

    it.each(file.cases.map((one) => [one.id, one] as const))('%s', async (_, { input, expected }) => {
      assertKnownVerdict(expected.verdict);
      const outcomes = await judge.outcomes(input);
      expect([...outcomes.keys()]).toEqual(judge.ways);
      for (const [way, outcome] of outcomes) expect({ way, ...outcome }).toEqual({ way, ...expected });
    });
  });
}
