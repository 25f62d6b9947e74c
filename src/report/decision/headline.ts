import type { Decision, RuleState } from '../../policy/index.ts';
import { count, counted } from '../text/figures.ts';

export const ANSWER_WORDS = { yes: 'YES', no: 'NO', could_not_tell: 'COULD NOT TELL' } as const;

/** How a rule may end other than by holding, worst first. */
const ENDS = [
  ['failed', 'failed'],
  ['not_checked', 'undecided'],
  ['waived', 'only by a waiver'],
] as const satisfies readonly (readonly [RuleState, string])[];

/**
 * One line: the answer, and how many rules ended how. What had nothing to judge is said apart, since it neither held
 * nor failed.
 */
export function headlineOf(decision: Decision): string {
  const { answer, inputs, rules } = decision;
  const of = (state: RuleState): number => rules.filter((rule) => rule.state === state).length;
  const idle = of('not_applicable');
  const asked = rules.length - idle;
  if (answer === 'could_not_tell' && of('not_checked') === 0)
    return `${ANSWER_WORDS[answer]}: there is nothing to evaluate`;
  const ends = ENDS.flatMap(([state, words]) => (of(state) === 0 ? [] : [`${count(of(state))} ${words}`]));
  const holds = `${count(of('passed') + of('waived'))} of ${count(asked)} rules hold`;
  const rest = idle === 0 ? '' : `; ${count(idle)} more had nothing to judge`;
  return `${ANSWER_WORDS[answer]}: ${[`${holds} for ${counted(inputs.length, 'input')}`, ...ends].join(', ')}${rest}`;
}
