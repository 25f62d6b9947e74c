import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../../src/policy/evaluate.ts';
import { policyOf } from '../../src/policy/policy.ts';
import type { Decision } from '../../src/policy/decision.ts';
import type { EvidenceInput } from '../../src/policy/facts.ts';
import type { BundleReport } from '../../src/verify/report.ts';
import { anyInputs, anyRules, exportOfParts } from './arbitrary.ts';
import { AS_OF, decide, documentOf, findingOf, GONE, layersOf, omit, type Rules } from './make.ts';
import { tries } from '../support/deep.ts';
import { forAll } from '../support/property.ts';

const RUNS = tries(50, 500);

/** Each removes evidence, or a fact about it. */
const REMOVALS: Readonly<Record<string, (part: BundleReport) => BundleReport>> = {
  outcome: (part) => omit(part, 'outcome'),
  facts: (part) => omit(part, 'outcome', 'reproduction', 'signers', 'signer'),
  file: (part) => ({
    ...part,
    verdict: 'failed',
    provenance: 'claimed',
    findings: [findingOf('part.MISSING', part.evidenceBundleId ?? 'bundle')],
  }),
  // Without its signature a part is at best intact, because the manifest of the export lists the same bytes.
  signature: (part) => ({
    ...omit(part, 'outcome', 'reproduction', 'signers', 'signer'),
    verdict: part.verdict === 'verified' ? 'intact' : part.verdict,
    provenance: 'claimed',
    signed: false,
  }),
  readable: (part) => ({ ...part, verdict: 'incomplete', provenance: 'claimed' }),
};

it('the generated cases have many that are answered with yes, and many that are not', () => {
  const cases = fc.sample(fc.tuple(anyInputs, anyRules), { numRuns: 300, seed: 1 });
  const yes = cases.filter(([inputs, rules]) => decide(rules, inputs).answer === 'yes').length;
  expect(yes).toBeGreaterThan(30);
  expect(yes).toBeLessThan(200);
});

const REQUIRES: Rules = { drills: { required: ['checkout'] }, completeness: { bundles: { min: 2 } } };

const states = (inputs: readonly EvidenceInput[]) =>
  decide(REQUIRES, inputs).rules.filter(
    ({ rule }) => rule === 'drills.required' || rule === 'completeness.bundles',
  );

const summarizeDecision = ({ answer, rules }: Decision) => ({
  answer,
  rules: rules.map(({ rule, state, examined }) => ({ rule, state, examined })),
});

it('adding a rule never turns no, or could not tell, into yes', () => {
  forAll(RUNS, [anyInputs, anyRules, anyRules], (inputs, rules, more) => {
    const both = evaluate(inputs, layersOf(rules, more), { asOfMs: AS_OF });
    if (both.answer === 'yes') {
      expect(decide(rules, inputs).answer).toBe('yes');
      expect(decide(more, inputs).answer).toBe('yes');
    }
  });
});

it('adding a rule to the same file never turns no, or could not tell, into yes', () => {
  forAll(RUNS, [anyInputs, anyRules, anyRules], (inputs, rules, more) => {
    // The second adds the rules that the first does not have. An absent verdict is the strictest one.
    const { verdict: _verdict, ...added } = more;
    const merged = { ...added, ...rules };
    if (decide(merged, inputs).answer === 'yes') expect(decide(rules, inputs).answer).toBe('yes');
  });
});

it('removing evidence from within an export never turns no, or could not tell, into yes', () => {
  forAll(
    RUNS,
    [anyInputs, anyRules, fc.nat(), fc.nat(), fc.constantFrom(...Object.keys(REMOVALS))],
    (inputs, rules, which, where, what) => {
      const at = inputs.length === 0 ? -1 : which % inputs.length;
      const less = inputs.map((input, i) => {
        if (i !== at || !('report' in input) || input.report.kind !== 'export') return input;
        const { parts } = input.report;
        const changed = parts.map((part, p) => (p === where % parts.length ? REMOVALS[what]!(part) : part));
        const { completeness, localReports } = input.report;
        return { ...input, report: exportOfParts(changed, { completeness, localReports }) };
      });
      if (decide(rules, less).answer === 'yes') expect(decide(rules, inputs).answer).toBe('yes');
    },
  );
});

it('an input that cannot be read in place of evidence never makes a yes', () => {
  forAll(RUNS, [anyInputs, anyRules, fc.nat()], (inputs, rules, which) => {
    fc.pre(inputs.length > 0);
    const less = inputs.map((input, i) => (i === which % inputs.length ? GONE : input));
    expect(decide(rules, less).answer).not.toBe('yes');
  });
});

it('removing a whole input never satisfies a requirement', () => {
  forAll(RUNS, [anyInputs, fc.nat()], (inputs, which) => {
    const less = inputs.filter((_, i) => i !== which % inputs.length);
    for (const [i, { state }] of states(less).entries())
      if (state === 'passed') expect(states(inputs)[i]?.state).toBe('passed');
  });
});

describe('a decision', () => {
  it('does not depend on the order of the inputs', () => {
    forAll(RUNS, [anyInputs, anyRules], (inputs, rules) => {
      const [reversed, same] = [inputs.toReversed(), inputs].map((list) => decide(rules, list));
      expect(summarizeDecision(reversed!)).toEqual(summarizeDecision(same!));
    });
  });

  it('is the same for the same inputs, and is no exactly when a rule failed', () => {
    forAll(RUNS, [anyInputs, anyRules], (inputs, rules) => {
      const decision = decide(rules, inputs);
      expect(decide(rules, structuredClone(inputs))).toEqual(decision);
      expect(decision.answer === 'no').toBe(decision.rules.some(({ state }) => state === 'failed'));
      if (decision.answer === 'yes')
        for (const { state } of decision.rules)
          expect(['passed', 'waived', 'not_applicable']).toContain(state);
    });
  });

  it('is never yes without inputs', () => {
    forAll(RUNS, [anyRules], (rules) => decide(rules, []).answer !== 'yes');
  });

  it('has for every violation the code of its rule, a subject and a message', () => {
    forAll(RUNS, [anyInputs, anyRules], (inputs, rules) => {
      for (const { rule, violations } of decide(rules, inputs).rules)
        for (const violation of violations) {
          expect(violation.rule).toBe(rule);
          expect(violation.subject).not.toBe('');
          expect(violation.message).toMatch(/^\S[^\n]*$/);
        }
    });
  });
});

it('evaluate refuses a time that is not in whole milliseconds', () => {
  expect(() => evaluate([], policyOf(documentOf({})), { asOfMs: 0.5 })).toThrow(TypeError);
});
