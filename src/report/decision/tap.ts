import { RULES } from '../../policy/rules.ts';
import type { Decision, RuleResult } from '../../policy/decision.ts';
import { headlineOf } from './headline.ts';
import { DECISION_RULE, basisOf, reasonsOf, type Reason } from './reasons.ts';

/**
 * A decision as TAP 13, which readers of 14 take too: one test point for the answer and one for each rule, reasons as YAML below it. A waived rule
 * is `# TODO`, which is seen and does not fail; what could not be told is `not ok`.
 */
export function renderDecisionTap(decision: Decision): string {
  const reasons = reasonsOf(decision);
  const points = decision.rules.map((rule, at) => rulePoint(rule, at + 2, reasons));
  return [
    'TAP version 13',
    `1..${points.length + 1}`,
    ...answerPoint(decision, reasons),
    ...points.flat(),
    '',
  ].join('\n');
}

function answerPoint(decision: Decision, reasons: readonly Reason[]): string[] {
  const unexplained = reasons.filter(({ rule }) => rule === DECISION_RULE);
  return [
    `${decision.answer === 'yes' ? 'ok' : 'not ok'} 1 - the answer of the policy is yes`,
    '  ---',
    `  message: ${quoted(headlineOf(decision))}`,
    ...basisOf(decision).map(([name, value]) => `  ${quoted(name)}: ${quoted(value)}`),
    ...reasonLines(unexplained),
    '  ...',
  ];
}

function rulePoint(
  { rule, state, judged }: RuleResult,
  number: number,
  reasons: readonly Reason[],
): string[] {
  const own = reasons.filter((reason) => reason.rule === rule);
  const { result, directive } = POINTS[state];
  const point = `${result} ${number} - ${rule}: ${escaped(RULES[rule].title)}${directive}`;
  if (own.length === 0) return [point];
  return [point, '  ---', `  state: ${quoted(state)}`, `  judged: ${judged}`, ...reasonLines(own), '  ...'];
}

const POINTS: Readonly<Record<RuleResult['state'], { result: 'ok' | 'not ok'; directive: string }>> = {
  passed: { result: 'ok', directive: '' },
  failed: { result: 'not ok', directive: '' },
  not_checked: { result: 'not ok', directive: '' },
  waived: { result: 'not ok', directive: ' # TODO waived' },
  not_applicable: { result: 'ok', directive: ' # SKIP nothing here that it speaks of' },
};

const SHOWN = [
  'state',
  'input',
  'subject',
  'path',
  'message',
  'expected',
  'actual',
  'code',
  'waiver',
  'action',
] as const;

function reasonLines(reasons: readonly Reason[]): string[] {
  if (reasons.length === 0) return [];
  return ['  reasons:', ...reasons.flatMap((reason) => members(reason))];
}

function members(reason: Reason): string[] {
  const known = SHOWN.flatMap((name) => {
    const value = reason[name];
    return value === undefined ? [] : [`${name}: ${quoted(value)}`];
  });
  const findings =
    reason.findings.length === 0 ? [] : [`findings: ${JSON.stringify([...new Set(reason.findings)])}`];
  return [...known, ...findings].map((line, at) => `${at === 0 ? '    - ' : '      '}${line}`);
}

/** A string of JSON is a double-quoted scalar of YAML 1.2. */
const quoted = (text: string): string => JSON.stringify(text);

/** A description ends where a directive begins, unless its # is escaped (TAP 14, Escaping, which readers of 13 share). */
const escaped = (text: string): string => text.replace(/[\\#]/g, String.raw`\$&`);
