import { describe, expect, it } from 'vitest';
import type { EvidenceInput } from '../../../src/policy/facts.ts';
import {
  bundle,
  decide,
  exportOf,
  inputOf,
  inExport,
  unattested,
  violationsOf,
  type BundleParts,
  type Rules,
  ONE,
  TWO,
  EXPORT,
  EVERY,
  problemsOf,
  single,
  omit,
} from '../make.ts';

const bundleCounts = (bundles: number, inputs: readonly EvidenceInput[]) =>
  problemsOf({ completeness: { bundles } }, inputs, 'completeness.bundles');
const coverageOf = (covered: number, total: number, uncovered: string[] = []) => ({
  coverage: { totalBytes: total, coveredBytes: covered, attestedBytes: 0, uncovered, mirrorFiles: [] },
});
const uncoveredIn = (inputs: readonly EvidenceInput[]) => problemsOf(EVERY, inputs, 'completeness.coverage');

describe('completeness', () => {
  const rule = 'completeness.vouched';

  it('has the required and the actual completeness', () => {
    const rules: Rules = { completeness: { vouched: ['pinned'] } };
    const pinned = { ...inputOf(bundle(3)), pinned: true };
    const inputs = [inputOf(exportOf([bundle(1)])), inputOf(bundle(2)), pinned];
    expect(problemsOf(rules, inputs, rule)).toStrictEqual([
      { state: 'failed', input: 0, subject: EXPORT, expected: 'pinned', actual: 'attested' },
      { state: 'failed', input: 1, subject: TWO, expected: 'pinned', actual: 'claimed' },
    ]);
    const attested: Rules = { completeness: { vouched: ['attested'] } };
    expect(problemsOf(attested, [pinned], rule)).toMatchObject([{ expected: 'attested', actual: 'pinned' }]);
  });

  it('is undecided if the list could not be read', () => {
    const report = { ...omit(exportOf([]), 'manifestDigest'), completeness: 'claimed' as const };
    expect(problemsOf(EVERY, [inputOf(report)], rule)).toStrictEqual([
      { state: 'not_checked', input: 0, subject: EXPORT },
    ]);
  });

  it('has the required and the actual number over all inputs', () => {
    const base = { subject: 'all' };
    for (const expected of [2, 0])
      expect(bundleCounts(expected, inExport(bundle(1)))).toStrictEqual([
        { ...base, state: 'failed', expected: String(expected), actual: '1' },
      ]);
    expect(bundleCounts(2, inExport(bundle(1), bundle(2, unattested('incomplete'))))).toStrictEqual([
      { ...base, state: 'not_checked', expected: '2', actual: 'at least 1' },
    ]);
  });

  it('counts each byte of an export once, and of a single part', () => {
    const base = { input: 0, subject: ONE };
    const failed = { ...base, state: 'failed' };
    const uncoveredOf = (parts: BundleParts) => uncoveredIn([inputOf(bundle(1, parts))]);
    expect(uncoveredIn(single(coverageOf(1, 2)))).toEqual([]);
    expect(uncoveredOf(coverageOf(1, 3))).toStrictEqual([
      { ...failed, expected: '3 bytes', actual: '1 byte' },
    ]);
    expect(uncoveredOf(coverageOf(3, 3, ['empty', 'more']))).toStrictEqual([
      { ...failed, expected: '3 bytes', actual: '3 bytes', path: 'empty' },
    ]);
    expect(uncoveredOf(coverageOf(0, 0))).toMatchObject([{ state: 'failed' }]);
    expect(uncoveredOf({ ...coverageOf(0, 3), verdict: 'incomplete' })).toStrictEqual([
      { ...base, state: 'not_checked' },
    ]);
    const decision = decide(EVERY, [inputOf(bundle(1, coverageOf(1, 3)))]);
    const [short] = violationsOf(decision, 'completeness.coverage');
    expect(short?.message).toContain('2 bytes');
  });
});
