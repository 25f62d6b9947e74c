import { groupBy } from '../../bytes/async.ts';
import type { Decision, RuleResult } from '../../policy/decision.ts';
import { RULES } from '../../policy/catalogue.ts';
import {
  basisOf,
  DECISION_RULE,
  formatFacts,
  placeOf,
  reasonsOf,
  type Reason,
  formatAnswer,
} from './reasons.ts';

/** A test case. A waived violation is skipped, so that it is visible and does not fail. */
type Case = {
  readonly name: string;
  readonly kind: 'passed' | 'failure' | 'error' | 'skipped';
  readonly message?: string;
  readonly body?: string;
};
type Suite = { readonly name: string; readonly examined: number; readonly cases: readonly Case[] };

/**
 * A decision as JUnit XML: a test suite for the answer and one for each rule. `failure` is a violation, `error` an
 * undecided rule. The first suite never passes unless the answer is yes, and there is always at least one test.
 */
export function renderDecisionJunit(decision: Decision): string {
  const reasons = reasonsOf(decision);
  const suites = [
    buildAnswerSuite(decision, reasons),
    ...decision.rules.map((rule) => buildRuleSuite(rule, reasons)),
  ];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="drillproof gate"${counts(
      suites.flatMap(({ cases }) => cases),
      false,
    )}>`,
    ...suites.flatMap((suite, at) => formatSuite(decision, suite, at)),
    '</testsuites>',
    '',
  ].join('\n');
}

const KINDS = { failed: 'failure', not_checked: 'error', warned: 'skipped', waived: 'skipped' } as const;
const ANSWERED = { yes: 'passed', no: 'failure', could_not_tell: 'error' } as const;

function buildAnswerSuite(decision: Decision, reasons: readonly Reason[]): Suite {
  const open = reasons.filter(({ state }) => state !== 'waived' && state !== 'warned');
  const body = open.map((reason) => `${reason.rule}: ${placeOf(reason)}: ${reason.message}`).join('\n');
  const kind = ANSWERED[decision.answer];
  const failed = kind === 'passed' ? {} : { message: formatAnswer(decision), body };
  const name = 'the answer of the policy is yes';
  const warnings = reasons.filter(({ rule, state }) => rule === DECISION_RULE && state === 'warned');
  const cases = warnings.map((reason) => buildSubjectCase(`${reason.code} ${nameCase(reason)}`, [reason]));
  return {
    name: DECISION_RULE,
    examined: decision.inputs.length,
    cases: [{ name, kind, ...failed }, ...cases],
  };
}

function buildRuleSuite({ rule, state, examined }: RuleResult, reasons: readonly Reason[]): Suite {
  const groups = groupBy(
    reasons.filter((reason) => reason.rule === rule),
    nameCase,
  );
  const { title } = RULES[rule];
  const cases = [...groups].map(([name, group]) => buildSubjectCase(name, group));
  return { name: rule, examined, cases: cases.length > 0 ? cases : [buildBareCase(title, state)] };
}

const nameCase = ({ input, subject }: Reason): string =>
  input === undefined || input === subject ? subject : `${subject} in ${input}`;

function buildSubjectCase(name: string, group: readonly [Reason, ...Reason[]]): Case {
  const [worst] = group; // reasons are sorted
  const body = group.map(reasonText).join('\n\n');
  return { name, kind: KINDS[worst.state], message: worst.message, body };
}

function buildBareCase(name: string, state: RuleResult['state']): Case {
  if (state === 'not_applicable') return { name, kind: 'skipped', message: 'no subject for this rule' };
  if (state === 'passed' || state === 'waived' || state === 'warned') return { name, kind: 'passed' };
  return { name, kind: state === 'failed' ? 'failure' : 'error', message: 'no subject is named' };
}

const reasonText = (reason: Reason): string =>
  [
    `rule: ${reason.rule} (${reason.title})`,
    `subject: ${placeOf(reason)}`,
    `message: ${reason.message}`,
    ...formatFacts(reason),
  ].join('\n');

function formatSuite(decision: Decision, { name, examined, cases }: Suite, id: number): string[] {
  const properties = id === 0 ? basisOf(decision) : ([['examined', String(examined)]] as const);
  return [
    `  <testsuite id="${id}" name="${escapeXml(name)}"${counts(cases, true)}>`,
    '    <properties>',
    ...properties.map(
      ([key, value]) => `      <property name="${escapeXml(key)}" value="${escapeXml(value)}"/>`,
    ),
    '    </properties>',
    ...cases.flatMap((testCase) => formatCase(name, testCase)),
    '  </testsuite>',
  ];
}

function formatCase(suite: string, { name, kind, message = '', body = '' }: Case): string[] {
  const open = `    <testcase classname="drillproof.${escapeXml(suite)}" name="${escapeXml(name)}" time="0"`;
  if (kind === 'passed') return [`${open}/>`];
  const type = kind === 'skipped' ? '' : ` type="${kind === 'failure' ? 'failed' : 'could_not_tell'}"`;
  const inner = `      <${kind}${type} message="${escapeXml(message)}">${escapeXml(body)}</${kind}>`;
  return [`${open}>`, inner, '    </testcase>'];
}

function counts(cases: readonly Case[], skips: boolean): string {
  const countKind = (kind: Case['kind']): number => cases.filter((testCase) => testCase.kind === kind).length;
  const skipped = skips ? ` skipped="${countKind('skipped')}"` : '';
  return ` tests="${cases.length}" failures="${countKind('failure')}" errors="${countKind('error')}"${skipped} time="0"`;
}

/** Escapes text and attributes. Characters that XML 1.0 cannot contain (§2.2, Char) become U+FFFD. */
const escapeXml = (text: string): string =>
  text
    .replace(/[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
