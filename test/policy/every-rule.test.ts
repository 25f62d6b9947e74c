import { expect, it } from 'vitest';
import { RULES } from '../../src/policy/catalogue.ts';
import { evaluate } from '../../src/policy/evaluate.ts';
import { policyOf } from '../../src/policy/policy.ts';
import { PROJECT } from '../../vectors/make/bundle.ts';
import { AS_OF, bundle, decide, digest, documentOf, exportOf, inputOf, local, EVERY, GONE } from './make.ts';

it('evidence that fulfils every rule passes each, without a violation', () => {
  const report = exportOf([bundle(1, { outcome: { virtualUs: 60_000_000 } })]);
  const runs = [{ project: PROJECT, drill: 'checkout', target: 'shop', runs: 1, passed: 1 }];
  const { answer, rules } = evaluate(
    [{ ...inputOf(report), receipts: { verdict: 'sound', finishedAtMs: AS_OF } }],
    policyOf(documentOf(EVERY)),
    {
      asOfMs: AS_OF,
      artifact: { name: 'shop.zip', digest: digest('build') },
      baseline: { name: 'last.json', digest: digest('last'), runs },
    },
  );
  expect(answer).toBe('yes');
  // Rules that need more than a plain bundle; they have tests of their own.
  const every = Object.keys(RULES).filter(
    (rule) => !['signers.timestamp', 'challenge.answered'].includes(rule),
  );
  expect(rules.map(({ rule }) => rule)).toEqual(every);
  const inapplicable = ['completeness.localReports', 'localReports.allowed', 'summary.accepted'];
  for (const { rule, state, violations } of rules) {
    const expected = inapplicable.includes(rule) ? 'not_applicable' : 'passed';
    expect([rule, state, violations]).toEqual([rule, expected, []]);
  }
});

it('each rule counts its subjects', () => {
  const reports = { localReports: [local(1), local(2)] };
  const { localReports: _none, ...rules } = EVERY;
  const decision = decide(
    { ...rules, completeness: { ...EVERY.completeness, bundles: 3, vouched: ['pinned', 'attested'] } },
    [inputOf(exportOf([bundle(1), bundle(2)], reports)), { ...inputOf(bundle(3)), pinned: true }, GONE],
  );
  const examined = Object.fromEntries(decision.rules.map((rule) => [rule.rule, rule.examined]));
  expect(examined).toMatchObject({
    'verdict.export': 1,
    'verdict.bundles': 4,
    'age.max': 4,
    'scope.organizations': 4,
    'scope.projects': 3,
    'drills.required': 1,
    'completeness.vouched': 2,
    'completeness.bundles': 3,
    'completeness.localReports': 2,
    'completeness.coverage': 2,
    'trials.complete': 1,
    'trials.unique': 3,
    'findings.warnings': 6,
  });
});
