import { describe, expect, it } from 'vitest';
import {
  bundle,
  decide,
  digest,
  inExport,
  stateOf,
  unattested,
  type Rules,
  problemsOf,
  omit,
  waiverOf,
} from '../make.ts';

describe('a required drill', () => {
  const rule = 'drills.required';
  const waivers = [waiverOf('policy.DRILL_MISSING', 'refund')];
  const open = bundle(2, unattested('incomplete'));

  it('is named with all of its conditions', () => {
    const [build, target] = [digest('build'), { pattern: 's*' }];
    const required = [{ drill: 'refund', target, scenario: 'plain', build, outcome: 'passed' }, 'refund'];
    const base = { state: 'failed', subject: 'refund', actual: 'no verified run; the evidence has checkout' };
    const expected = `at least 1 run with target like s*, scenario plain, build ${build} and outcome passed`;
    expect(problemsOf({ drills: { required } }, inExport(bundle(1)), rule)).toStrictEqual([
      { ...base, expected },
      { ...base, expected: 'at least 1 run' },
    ]);
  });

  it.each<[object, string, string]>([
    [
      { ran: '7d', signers: { distinct: 2 } },
      'at least 1 run with an age of at most 7d and signatures by 2 different keys',
      '0 of 1 verified run; nearest run_vector-1: signed by acme-ci; expected signatures by 2 different keys',
    ],
    [
      { signed: '1d', signers: { distinct: 2, issuers: ['a', 'b'] } },
      'at least 1 run with a signature at most 1d old and signatures by 2 different keys of a or b',
      '0 of 1 verified run; nearest run_vector-1: signed by acme-ci; expected signatures by 2 different keys of a or b',
    ],
    [{ min: 1, seeds: 3 }, 'at least 1 run with 3 different seeds', '1 of 1 verified run; 1 different seed'],
    [
      { assertions: ['x', 'y'] },
      'at least 1 run with passed assertions x and y',
      '0 of 1 verified run; nearest run_vector-1: assertions without x, y; expected x, y passed',
    ],
    [
      { latest: true, outcome: 'failed' },
      'the latest run with outcome failed',
      '0 of 1 latest run; nearest run_vector-1: outcome passed; expected failed',
    ],
    [
      { passRate: 100, outcome: 'failed' },
      'at least 1 run with outcome failed and a pass rate of 100 %',
      '0 of 1 verified run; 1 of 1 passed; nearest run_vector-1: outcome passed; expected failed',
    ],
  ])('states %j in words', (conditions, expected, actual) => {
    const required = [{ drill: 'checkout', ...conditions }];
    expect(problemsOf({ drills: { required } }, inExport(bundle(1)), rule)).toMatchObject([
      { expected, actual },
    ]);
  });

  it.each([
    ['an undecided bundle could be the drill', 1, [bundle(1), open], 'not_checked'],
    ['an undecided bundle is not enough', 2, [bundle(1), open], 'failed'],
    ['no waiver covers an undecided bundle', 1, [open], 'not_checked'],
    ['a waiver covers a missing drill', 1, [bundle(1)], 'waived'],
  ] as const)('that is missing: %s', (_, min, parts, state) => {
    const rules: Rules = { drills: { required: [{ drill: 'refund', min }] }, waivers };
    expect(stateOf(decide(rules, inExport(...parts)), rule)).toBe(state);
  });

  it('ran in time only if its report has the time of a signature', () => {
    const rules: Rules = { drills: { required: [{ drill: 'checkout', ran: '30d' }] } };
    expect(stateOf(decide(rules, inExport(bundle(1))), rule)).toBe('passed');
    expect(stateOf(decide(rules, inExport(omit(bundle(1), 'signers'))), rule)).toBe('failed');
  });
});
