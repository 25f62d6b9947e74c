import { describe, expect, it } from 'vitest';
import type { EvidenceInput } from '../../../src/policy/facts.ts';
import { idOf } from '../../../vectors/make/bundle.ts';
import { bundle, digest, inExport, type BundleParts, ONE, TWO, problemsOf, omit } from '../make.ts';

const trial = (n: number, pins: BundleParts['pins']) =>
  bundle(n, { pins: { originalTrialCount: 3, ...pins } });
const attempt = (originalAttempt: number) => trial(1, { originalAttempt, originalAttemptLimit: 3 });
const twice = (parts: BundleParts) =>
  problemsOf({}, inExport(bundle(1, parts), bundle(2, parts), bundle(3, parts)), 'trials.unique');
const inTrials = (...trials: readonly number[]) =>
  inExport(...trials.map((originalTrial, i) => trial(i + 1, { originalTrial })));
/** A bundle for each pair of a trial and an attempt. */
const inAttempts = (originalTrialCount: number, ...rows: readonly (readonly [number, number])[]) =>
  inExport(
    ...rows.map(([originalTrial, originalAttempt], i) =>
      trial(i + 1, { originalTrialCount, originalTrial, originalAttempt, originalAttemptLimit: 2 }),
    ),
  );
const attempts = (which: 'every' | 'first', n: number) =>
  problemsOf({ trials: { attempts: which } }, inExport(attempt(n)), 'trials.attempts');

describe('trials', () => {
  const rule = 'trials.complete';
  const valuesOf = (inputs: readonly EvidenceInput[]) =>
    problemsOf({ trials: { complete: true } }, inputs, rule).map(({ expected, actual }) => [
      expected,
      actual,
    ]);

  it.each<[readonly number[], string, string]>([
    [[1], 'trials 1 to 3', '1; 2 missing, the first 2'],
    [[3, 1], 'trials 1 to 3', '1, 3; 1 missing, the first 2'],
    [[2, 3], 'trials 1 to 3', '2, 3; 1 missing, the first 1'],
    [[0, 1], 'trials 0 to 2', '0, 1; 1 missing, the first 2'],
    [[1, 2, 3, 4], 'trials 1 to 3', '1, 2, 3, 4'],
    [[1, 4], 'trials 1 to 3', '1, 4; 2 missing, the first 2'],
    [[-1, 1, 2, 3], 'trials 1 to 3', '-1, 1, 2, 3'],
    [[-1, 1, 2], 'trials 1 to 3', '-1, 1, 2; 1 missing, the first 3'],
    [[1, 1, 2, 3], 'trials 1 to 3, 2 times each', '1, 2, 3; 2 missing, the first 2'],
    [[1, 2, 2, 3], 'trials 1 to 3, 2 times each', '1, 2, 3; 2 missing, the first 1'],
  ])('%j of three are not complete', (trials, expected, actual) => {
    expect(valuesOf(inTrials(...trials))).toEqual([[expected, actual]]);
  });

  it('are not started again by a later attempt', () => {
    expect(valuesOf(inAttempts(1, [1, 1], [1, 2]))).toEqual([]);
    const missing = ['trials 1 to 2, 2 times each', '1, 2; 1 missing, the first 2'];
    expect(valuesOf(inAttempts(2, [1, 1], [1, 2], [1, 2], [2, 1]))).toEqual([missing]);
  });

  it('belong to one run regardless of the order of members in the report', () => {
    const [first, second] = [1, 2].map((n) =>
      bundle(n, { pins: { originalTrial: n, originalTrialCount: 2 } }),
    );
    const reversed = Object.fromEntries(Object.entries(second!.reproduction!).toReversed());
    const reproduction = reversed as NonNullable<typeof second>['reproduction'] & object;
    expect(valuesOf(inExport(first!, { ...second!, reproduction }))).toEqual([]);
  });

  it('name the attempt that is present and the missing one', () => {
    const base = { state: 'failed', input: 0, subject: ONE };
    expect(attempts('every', 3)).toStrictEqual([
      { ...base, expected: 'attempt 2 of the trial too', actual: 'trial 1, attempt 3 of 3' },
    ]);
    expect(attempts('first', 2)).toStrictEqual([
      { ...base, expected: 'attempt 1', actual: 'trial 1, attempt 2 of 3' },
    ]);
    expect(attempts('every', 4)).toStrictEqual([{ ...base, actual: 'trial 1, attempt 4 of 3' }]);
    expect(attempts('every', -1)).toStrictEqual([{ ...base, actual: 'trial 1, attempt -1 of 3' }]);
    const all = inExport(...[2, 1].map((n) => ({ ...attempt(n), evidenceBundleId: idOf('evidence', n) })));
    expect(problemsOf({ trials: { attempts: 'every' } }, all, 'trials.attempts')).toEqual([]);
  });

  it('are undecided as reruns if their manifest could not be read', () => {
    const report = omit(bundle(1), 'hostedRunId');
    expect(problemsOf({}, inExport(report), 'trials.reruns')).toMatchObject([{ state: 'not_checked' }]);
  });

  it('are unique by each of their names', () => {
    const base = { state: 'failed', input: 0 };
    const names = [{ runId: 'run_x' }, { hostedRunId: idOf('hrun', 9) }, { manifestDigest: digest('m') }];
    for (const parts of names)
      expect(twice(parts)).toStrictEqual([
        { ...base, subject: TWO, actual: `also in ${ONE}` },
        { ...base, subject: idOf('evidence', 3), actual: `also in ${ONE}` },
      ]);
    expect(twice({ evidenceBundleId: ONE })).toHaveLength(1); // both have the same id
  });

  it('are not repeated because all of them lack a name', () => {
    const nameless = [1, 2].map((n) => omit(bundle(n), 'runId', 'hostedRunId', 'evidenceBundleId'));
    expect(problemsOf({}, inExport(...nameless), 'trials.unique')).toEqual([]);
  });
});
