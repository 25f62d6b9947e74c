import { describe, expect, it } from 'vitest';
import { matchesSelector } from '../../../src/policy/rules/conditions.ts';
import type { Selector } from '../../../src/policy/document/parts.ts';
import {
  AS_OF,
  bundle,
  decide,
  digest,
  inExport,
  omit,
  stateOf,
  summaryFacts,
  unattested,
  violationsOf,
  type Rules,
} from '../make.ts';

const clock = { asOfMs: AS_OF, skewMs: 0 };
const prod = (n: number, over: Parameters<typeof bundle>[1] = {}) =>
  bundle(n, { ...over, pins: { targetId: 'prod' } });
const world = { worldInstanceId: 'w1', environment: { stage: 'prod' }, virtualUs: 60_000_000 };

const ACCEPTED = {
  verifier: 'ci',
  policies: [digest('policy')],
  inputs: [digest('manifest')],
  maxAge: '1d',
  resource: 'urn:shop',
};

describe('a selector', () => {
  it.each<[Selector, boolean]>([
    [{ target: 'shop' }, true],
    [{ target: 'sho' }, false],
    [{ target: { pattern: 's*' }, drill: ['x', 'checkout'] }, true],
    [{ not: { target: 'shop' } }, false],
    [{ not: { target: 'shop', drill: 'x' } }, true],
    [{ anyOf: [{ drill: 'x' }, { target: 'shop' }] }, true],
    [{ anyOf: [{ drill: 'x' }, { drill: 'y' }] }, false],
    [{ environment: { stage: 'prod' }, world: 'w1' }, true],
    [{ environment: { stage: 'prod', absent: { pattern: '*' } } }, false],
    [{ ran: '1h' }, true],
    [{ from: '2025-12-31T23:00:00Z' }, true],
    [{ until: '2025-12-31T23:00:00Z' }, false],
    [{ until: '2025-12-31T23:00:00.001Z' }, true],
    [{ rerun: true }, false],
    [{ rerun: false, outcome: 'passed', status: 'completed' }, true],
  ])('%j matches the run: %s', (selector, expected) => {
    expect(matchesSelector(selector, bundle(1, { outcome: world }), clock)).toBe(expected);
  });

  it('is undecided if the report does not have a fact, unless another condition decides', () => {
    const report = bundle(1);
    for (const selector of [
      { world: 'w1' },
      { not: { world: 'w1' } },
      { anyOf: [{ drill: 'x' }, { world: 'w1' }] },
    ])
      expect(matchesSelector(selector, report, clock)).toBeUndefined();
    expect(matchesSelector({ world: 'w1', target: 'prod' }, report, clock)).toBe(false);
    expect(matchesSelector({ anyOf: [{ world: 'w1' }, { target: 'shop' }] }, report, clock)).toBe(true);
  });
});

const countShop = (range: { min?: number; max?: number }): Rules => ({
  verdict: { bundles: 'intact', export: 'intact' },
  allOf: [{ when: { target: 'shop' }, completeness: { bundles: range } }],
});

describe('a set of rules', () => {
  const two: Rules = { allOf: [{ name: 'prod', when: { target: 'prod' }, signers: { distinct: 2 } }] };

  it('is about the selected runs only, and its violations name it', () => {
    expect(decide(two, inExport(bundle(1))).answer).toBe('yes');
    const decision = decide(two, inExport(bundle(1), prod(2)));
    expect(violationsOf(decision, 'signers.distinct')).toMatchObject([{ set: 'prod', state: 'failed' }]);
    expect(decision.sets).toMatchObject([{ set: 'prod', runs: 1 }]);
  });

  it('keeps a bundle that is not verified, which could be any run, whatever it claims', () => {
    const hidden = bundle(1, unattested('failed'));
    expect(stateOf(decide(two, inExport(hidden)), 'signers.distinct')).toBe('not_checked');
    const unless: Rules = { allOf: [{ unless: { target: 'shop' }, outcome: { verdict: ['x'] } }] };
    expect(stateOf(decide(unless, inExport(hidden)), 'outcome.verdict')).toBe('not_checked');
    expect(stateOf(decide(unless, inExport(bundle(1))), 'outcome.verdict')).toBe('not_applicable');
  });

  it('keeps a run whose report does not have the fact, without counting its facts', () => {
    const rules: Rules = { allOf: [{ when: { world: 'w1' }, outcome: { verdict: ['passed'] } }] };
    expect(stateOf(decide(rules, inExport(bundle(1))), 'outcome.verdict')).toBe('not_checked');
    expect(stateOf(decide(rules, inExport(bundle(1, { outcome: world }))), 'outcome.verdict')).toBe('passed');
  });

  it('makes no required rule pass if it is about no run', () => {
    const nowhere = { when: { target: 'nowhere' } };
    for (const rules of [
      { drills: { required: ['checkout'] } },
      { completeness: { bundles: { min: 1 } } },
    ] satisfies Rules[])
      expect(decide({ allOf: [{ ...nowhere, ...rules }] }, inExport(bundle(1))).answer).toBe('no');
    const any: Rules = { anyOf: [{ ...nowhere, age: { run: '1d' } }, { age: { run: '1s' } }] };
    expect(decide(any, inExport(bundle(1))).answer).toBe('no');
  });

  it('fails without its runs, although a summary is given too, and is replaced by summaries alone', () => {
    const rules: Rules = {
      summary: { accepted: [{ ...ACCEPTED }] },
      allOf: [{ when: { target: 'nowhere' }, drills: { required: ['checkout'] } }],
    };
    const summary = { name: 'vsa', summary: summaryFacts() };
    expect(decide(rules, [...inExport(bundle(1)), summary]).answer).toBe('no');
    expect(decide(rules, [summary]).answer).toBe('yes');
    expect(decide(rules, []).answer).toBe('could_not_tell');
  });

  it('counts a bundle that could be of the selection as possible only', () => {
    const parts = inExport(bundle(1), bundle(2, unattested('intact')));
    const state = (range: { min?: number; max?: number }) =>
      stateOf(decide(countShop(range), parts), 'completeness.bundles');
    expect([state({ min: 1 }), state({ min: 2 }), state({ min: 3 })]).toEqual([
      'passed',
      'not_checked',
      'failed',
    ]);
    expect([state({ max: 2 }), state({ max: 1 }), state({ max: 0 })]).toEqual([
      'passed',
      'not_checked',
      'failed',
    ]);
  });

  it('inside a set is about the runs that both select, and a set of anyOf can have sets', () => {
    const nested: Rules = {
      allOf: [{ when: { target: 'prod' }, allOf: [{ when: { drill: 'refund' }, age: { run: '1s' } }] }],
    };
    expect(decide(nested, inExport(prod(1))).answer).toBe('yes');
    const both = bundle(1, { pins: { targetId: 'prod', drillId: 'refund' } });
    expect(decide(nested, inExport(both)).answer).toBe('no');
    const inner: Rules = {
      anyOf: [
        { age: { run: '1s' } },
        { anyOf: [{ age: { run: '2s' } }, { allOf: [{ age: { run: '1d' } }] }] },
      ],
    };
    expect(decide(inner, inExport(bundle(1))).answer).toBe('yes');
  });
});

it('each cell of a matrix is required, and the nearest run decides the code', () => {
  const required = [
    { drill: ['checkout', 'refund'], target: ['shop', 'prod'], each: ['drill', 'target'] as const },
  ];
  const decision = decide({ drills: { required } }, inExport(bundle(1)));
  expect(violationsOf(decision, 'drills.required').map(({ code }) => code)).toEqual([
    'policy.DRILL_ELSEWHERE',
    'policy.DRILL_MISSING',
    'policy.DRILL_MISSING',
  ]);
  const [{ candidates } = {}] = violationsOf(decision, 'drills.required');
  expect(candidates).toMatchObject([{ accepted: false, reasons: ['target shop; expected prod'] }]);
});

it.each([
  ['DRILL_OTHER_BUILD', { build: 'sha256:x' }, {}],
  ['DRILL_TOO_OLD', { ran: '59m' }, {}],
  ['DRILL_TOO_NEW', { until: '2025-01-01' }, {}],
  ['DRILL_SIGNATURE_OLD', { signed: '59m' }, {}],
  ['DRILL_SIGNERS', { signers: { issuers: ['else'] } }, {}],
  ['DRILL_OUTCOME', { outcome: 'failed' }, {}],
  ['DRILL_ASSERTION', { assertions: ['absent'] }, {}],
  ['DRILL_LATEST', { latest: true, outcome: 'failed' }, {}],
  ['DRILL_TOO_FEW', { min: 2 }, {}],
  ['DRILL_NOT_VARIED', { targets: 2 }, {}],
  ['DRILL_PASS_RATE', { passRate: 100 }, { outcome: { verdict: 'failed' } }],
  ['DRILL_RERUN', { reruns: 'refuse' }, { rerunOfHostedRunId: 'hrun_000000000009' }],
  ['DRILL_UNVERIFIED', {}, unattested('failed')],
] as const)('a required drill has the code %s for %j', (code, conditions, parts) => {
  const rules: Rules = {
    drills: { required: [{ drill: 'checkout', ...conditions }] },
    trials: { reruns: 'allow' },
  };
  const report = bundle(1, parts);
  expect(violationsOf(decide(rules, inExport(report)), 'drills.required')).toMatchObject([
    { code: `policy.${code}` },
  ]);
});

it('a run without its times has an unknown age, which is no fresh run', () => {
  const rules: Rules = { drills: { required: [{ drill: 'checkout', ran: '1d' }] } };
  expect(decide(rules, inExport(omit(bundle(1), 'createdAtMs'))).answer).toBe('no');
});
