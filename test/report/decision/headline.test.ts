import { describe, expect, it } from 'vitest';
import { RULES, type RuleId } from '../../../src/policy/rules/catalogue.ts';
import type { RuleState } from '../../../src/policy/decision.ts';
import { headlineOf } from '../../../src/report/decision/headline.ts';
import { decision } from './makers.ts';

const ids = Object.keys(RULES) as readonly RuleId[];
const of = (answer: 'yes' | 'no' | 'could_not_tell', ...states: readonly RuleState[]): string =>
  headlineOf(
    decision({
      answer,
      rules: states.map((state, at) => ({ rule: ids[at]!, state, judged: 1, violations: [] })),
    }),
  );

describe('the headline of a decision', () => {
  it.each([
    ['yes', ['passed', 'passed'], 'YES: 2 of 2 rules hold for 1 input'],
    ['yes', ['passed', 'not_applicable'], 'YES: 1 of 1 rules hold for 1 input; 1 more had nothing to judge'],
    ['yes', ['passed', 'waived'], 'YES: 2 of 2 rules hold for 1 input, 1 only by a waiver'],
    ['no', ['failed', 'passed', 'not_checked'], 'NO: 1 of 3 rules hold for 1 input, 1 failed, 1 undecided'],
    ['could_not_tell', ['not_checked'], 'COULD NOT TELL: 0 of 1 rules hold for 1 input, 1 undecided'],
    ['could_not_tell', ['passed', 'not_applicable'], 'COULD NOT TELL: there is nothing to evaluate'],
    ['could_not_tell', [], 'COULD NOT TELL: there is nothing to evaluate'],
  ] as const)('of %s with %j', (answer, states, words) => {
    expect(of(answer, ...states)).toBe(words);
  });
});
