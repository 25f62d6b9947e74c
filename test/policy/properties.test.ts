import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate, policyOf, type Decision, type EvidenceInput } from '../../src/policy/index.ts';
import { policyDigest, type Policy } from '../../src/policy/policy.ts';
import type { BundleReport } from '../../src/verify/report.ts';
import { anyInputs, anyRules, exportOfParts } from './arbitrary.ts';
import { AS_OF, decide, documentOf, findingOf, type Rules } from './make.ts';
import { tries } from '../support/deep.ts';

const RUNS = { numRuns: tries(50, 500) };
const RANK = { yes: 0, could_not_tell: 1, no: 1 } as const;
const isYes = ({ answer }: Decision): boolean => RANK[answer] === 0;

const layered = (...rules: readonly Rules[]): Policy => {
  const layers = rules.map(documentOf);
  return { name: 'layers', digest: policyDigest(layers), sources: [], layers };
};
const judge = (policy: Policy, inputs: readonly EvidenceInput[]): Decision =>
  evaluate(inputs, policy, { asOfMs: AS_OF });

/** Each of these takes evidence away, or what is known of it. */
const WAYS: Readonly<Record<string, (part: BundleReport) => BundleReport>> = {
  outcome: ({ outcome: _outcome, ...rest }) => rest,
  facts: ({ outcome: _outcome, reproduction: _pins, signers: _signers, signer: _signer, ...rest }) => rest,
  file: (part) => ({
    ...part,
    verdict: 'failed',
    provenance: 'claimed',
    findings: [findingOf('part.MISSING', part.evidenceBundleId ?? 'bundle')],
  }),
  // What does not match matches no better unsigned: the manifest of the export lists the part as it was.
  signature: ({ outcome: _outcome, reproduction: _pins, signers: _signers, signer: _signer, ...rest }) => ({
    ...rest,
    verdict: rest.verdict === 'verified' ? 'intact' : rest.verdict,
    provenance: 'claimed',
    signed: false,
  }),
  readable: (part) => ({ ...part, verdict: 'incomplete', provenance: 'claimed' }),
};

it('is asked of cases of which many are answered with yes', () => {
  const cases = fc.sample(fc.tuple(anyInputs, anyRules), { numRuns: 300, seed: 1 });
  const yes = cases.filter(([inputs, rules]) => decide(rules, inputs).answer === 'yes').length;
  expect(yes).toBeGreaterThan(30);
  expect(yes).toBeLessThan(200);
});

const REQUIRES: Rules = { drills: { required: ['checkout'] }, completeness: { bundles: { min: 2 } } };

const states = (of: readonly EvidenceInput[]) =>
  decide(REQUIRES, of).rules.filter(
    ({ rule }) => rule === 'drills.required' || rule === 'completeness.bundles',
  );

const gist = ({ answer, rules }: Decision) => ({
  answer,
  rules: rules.map(({ rule, state, judged }) => ({ rule, state, judged })),
});

it('adding a rule never turns no, or could not tell, into yes', () => {
  fc.assert(
    fc.property(anyInputs, anyRules, anyRules, (inputs, rules, more) => {
      const both = judge(layered(rules, more), inputs);
      if (isYes(both)) {
        expect(decide(rules, inputs).answer).toBe('yes');
        expect(decide(more, inputs).answer).toBe('yes');
      }
    }),
    RUNS,
  );
});

it('adding a rule to the same file never does either', () => {
  fc.assert(
    fc.property(anyInputs, anyRules, anyRules, (inputs, rules, more) => {
      // What the first says stays; the second fills only where it is silent, verdicts apart, whose silence is the strictest.
      const { verdict: _verdict, ...silent } = more;
      const merged = { ...silent, ...rules };
      if (decide(merged, inputs).answer === 'yes') expect(decide(rules, inputs).answer).toBe('yes');
    }),
    RUNS,
  );
});

it('removing evidence from within an export never turns no, or could not tell, into yes', () => {
  fc.assert(
    fc.property(
      anyInputs,
      anyRules,
      fc.nat(),
      fc.nat(),
      fc.constantFrom(...Object.keys(WAYS)),
      (inputs, rules, which, where, what) => {
        const at = inputs.length === 0 ? -1 : which % inputs.length;
        const less = inputs.map((one, i) => {
          if (i !== at || !('report' in one) || one.report.kind !== 'export') return one;
          const { parts } = one.report;
          const changed = parts.map((part, p) => (p === where % parts.length ? WAYS[what]!(part) : part));
          const { completeness, localReports } = one.report;
          return { ...one, report: exportOfParts(changed, { completeness, localReports }) };
        });
        if (decide(rules, less).answer === 'yes') expect(decide(rules, inputs).answer).toBe('yes');
      },
    ),
    RUNS,
  );
});

it('removing evidence leaves an input that cannot be read, which never makes a yes', () => {
  fc.assert(
    fc.property(anyInputs, anyRules, fc.nat(), (inputs, rules, which) => {
      const failure = { code: 'io.UNREADABLE', message: 'the disk' } as const;
      const less = inputs.map((one, i) => (i === which % inputs.length ? { name: one.name, failure } : one));
      fc.pre(inputs.length > 0);
      expect(decide(rules, less).answer).not.toBe('yes');
    }),
    RUNS,
  );
});

it('removing a whole input never satisfies a requirement', () => {
  fc.assert(
    fc.property(anyInputs, fc.nat(), (inputs, which) => {
      const less = inputs.filter((_, i) => i !== which % inputs.length);
      for (const [i, { state }] of states(less).entries())
        if (state === 'passed') expect(states(inputs)[i]?.state).toBe('passed');
    }),
    RUNS,
  );
});

describe('a decision', () => {
  it('does not depend on the order of the inputs', () => {
    fc.assert(
      fc.property(anyInputs, anyRules, (inputs, rules) => {
        expect(gist(decide(rules, inputs.toReversed()))).toEqual(gist(decide(rules, inputs)));
      }),
      RUNS,
    );
  });

  it('is the same for the same inputs, and is no exactly when a rule failed', () => {
    fc.assert(
      fc.property(anyInputs, anyRules, (inputs, rules) => {
        const decision = decide(rules, inputs);
        expect(decide(rules, structuredClone(inputs))).toEqual(decision);
        expect(decision.answer === 'no').toBe(decision.rules.some(({ state }) => state === 'failed'));
        if (decision.answer === 'yes')
          for (const { state } of decision.rules)
            expect(['passed', 'waived', 'not_applicable']).toContain(state);
      }),
      RUNS,
    );
  });

  it('is never yes without inputs', () => {
    fc.assert(
      fc.property(anyRules, (rules) => {
        expect(decide(rules, []).answer).not.toBe('yes');
      }),
      RUNS,
    );
  });

  it('has for every violation the code of its rule, a subject and a message', () => {
    fc.assert(
      fc.property(anyInputs, anyRules, (inputs, rules) => {
        for (const { rule, violations } of decide(rules, inputs).rules)
          for (const one of violations) {
            expect(one.rule).toBe(rule);
            expect(one.subject).not.toBe('');
            expect(one.message).toMatch(/^\S[^\n]*$/);
          }
      }),
      RUNS,
    );
  });
});

it('asks for a time in whole milliseconds', () => {
  expect(() => evaluate([], policyOf(documentOf({})), { asOfMs: 0.5 })).toThrow(TypeError);
});
