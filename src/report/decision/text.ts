import { isoTime } from '../../bytes/index.ts';
import {
  type Decision,
  type EvaluatedInput,
  type RuleResult,
  RULES,
  type Violation,
} from '../../policy/index.ts';
import { actionOf } from './action.ts';
import { ANSWER_WORDS, headlineOf } from './headline.ts';
import { asOfFact, fact, runFact, trustFacts } from '../text/facts.ts';
import { count, counted } from '../text/figures.ts';
import { labelled, sections, type Page } from '../text/page.ts';
import { printable } from '../printable.ts';

const ANSWER_PAINT = { yes: 'good', no: 'bad', could_not_tell: 'caution' } as const;
const STATE_PAINT = {
  passed: 'good',
  failed: 'bad',
  waived: 'caution',
  not_checked: 'caution',
  not_applicable: 'dim',
} as const;
const STATE_WIDTH = 15;

// Of one rule a person reads a few cases; all of them stand in the JSON form.
const MAX_CASES = 10;
const MAX_FAILURES = 50;
const MAX_INPUTS = 50;

/** A decision as text: the answer first, then every rule with what stands against it, the failures last. */
export function decisionText(page: Page, decision: Decision): string[] {
  const { rules, inputs } = decision;
  return [
    headLine(page, decision),
    ...sections(page, [
      { title: 'Policy', lines: policyLines(page, decision) },
      { title: `Evidence: ${counted(inputs.length, 'input')}`, lines: inputLines(page, inputs) },
      { title: 'Rules', lines: rules.flatMap((rule) => ruleLines(page, rule)) },
      { title: 'Violations', lines: rules.flatMap((rule) => violationsOf(page, rule, 'failed')) },
      {
        title: 'Undecided',
        lines: rules.flatMap((rule) => violationsOf(page, rule, 'not_checked')),
      },
      { title: 'Waived', lines: rules.flatMap((rule) => violationsOf(page, rule, 'waived')) },
      { title: 'Waivers that do not count', lines: unusedLines(page, decision) },
      { title: 'Failures', lines: failureLines(page, rules) },
    ]),
  ];
}

/** One line, however narrow the page: programs that cut a log look for it. */
function headLine(page: Page, decision: Decision): string {
  const word = ANSWER_WORDS[decision.answer];
  return page.paint[ANSWER_PAINT[decision.answer]](word) + headlineOf(decision).slice(word.length);
}

function policyLines(page: Page, { policy, asOfMs, trust, run }: Decision): string[] {
  return [
    ...fact(page, 'policy', policy.name),
    ...fact(page, 'digest', policy.digest),
    ...policy.sources.flatMap(({ path, digest }) => fact(page, 'file', `${path} ${digest}`)),
    ...asOfFact(page, asOfMs),
    ...trustFacts(page, trust),
    ...runFact(page, run),
  ];
}

function inputLines(page: Page, inputs: readonly EvaluatedInput[]): string[] {
  const left = inputs.length - MAX_INPUTS;
  return [
    ...inputs.slice(0, MAX_INPUTS).flatMap((input) => labelled(page, '  - ', inputWords(input))),
    ...(left > 0 ? [`  and ${count(left)} more; --format json lists them all`] : []),
  ];
}

function inputWords({
  name,
  kind,
  id,
  verdict,
  completeness,
  bundles,
  localReports,
}: EvaluatedInput): string {
  const facts = [
    kind === 'export' ? `export ${id ?? 'without a readable id'}` : kind,
    verdict,
    kind === 'export' ? counted(bundles, 'bundle') : undefined,
    localReports > 0 ? counted(localReports, 'local report') : undefined,
    completeness === undefined ? undefined : `list ${completeness}`,
  ];
  return printable(`${name}: ${facts.filter((one) => one !== undefined).join(', ')}`);
}

function ruleLines(page: Page, { rule, state, judged, violations }: RuleResult): string[] {
  const against = violations.filter((one) => one.state !== 'waived').length;
  const numbers = against === 0 ? counted(judged, 'subject') : `${count(against)} of ${count(judged)}`;
  const label = `  ${state.replace('_', ' ').padEnd(STATE_WIDTH)} `;
  return labelled(page, label, `${rule}: ${RULES[rule].title} (${numbers})`, page.paint[STATE_PAINT[state]]);
}

/** What stands against one rule, together where the same is to be done about it. */
function violationsOf(page: Page, { rule, violations }: RuleResult, state: Violation['state']): string[] {
  const found = violations.filter((one) => one.state === state);
  const kinds = new Set(found.map(kindOf));
  return [...kinds].flatMap((kind) =>
    casesOf(
      page,
      rule,
      found.filter((one) => kindOf(one) === kind),
    ),
  );
}

const kindOf = (one: Violation): string => `${one.code} ${actionOf(one)}`;

function casesOf(page: Page, rule: RuleResult['rule'], found: readonly Violation[]): string[] {
  const [first] = found;
  if (first === undefined) return [];
  const left = found.length - MAX_CASES;
  return [
    `  ${page.paint.bold(rule)} ${first.code}`,
    ...(first.state === 'waived' ? [] : labelled(page, '    to do: ', actionOf(first))),
    ...found.slice(0, MAX_CASES).flatMap((one) => caseLines(page, one)),
    ...(left > 0 ? [`    and ${count(left)} more; --format json lists them all`] : []),
  ];
}

function caseLines(page: Page, one: Violation): string[] {
  const { message, expected, actual, findings = [], waiver } = one;
  return [
    ...labelled(page, '    - ', `${place(one)}: ${printable(message)}`),
    ...compared(page, 'expected ', expected),
    ...compared(page, 'actual   ', actual),
    ...compared(page, 'found    ', findings.length === 0 ? undefined : findings.join(', ')),
    ...compared(
      page,
      'waived   ',
      waiver && `until ${isoTime(waiver.expiresAtMs)} by ${waiver.owner}: ${waiver.reason}`,
    ),
  ];
}

const compared = (page: Page, label: string, value: string | undefined): string[] =>
  value === undefined ? [] : labelled(page, `      ${label}`, printable(value));

function unusedLines(page: Page, { unusedWaivers, asOfMs }: Decision): string[] {
  return unusedWaivers.flatMap(({ code, subject, expiresAtMs, owner, reason }) => {
    const why = expiresAtMs <= asOfMs ? `expired ${isoTime(expiresAtMs)}` : 'met nothing';
    return labelled(page, '  - ', printable(`${code} ${subject}: ${why} (${owner}: ${reason})`));
  });
}

/** The failures once more, one line each, where a person looks last. */
function failureLines(page: Page, rules: readonly RuleResult[]): string[] {
  const failures = rules.flatMap(({ violations }) => violations.filter(({ state }) => state === 'failed'));
  const left = failures.length - MAX_FAILURES;
  return [
    ...failures
      .slice(0, MAX_FAILURES)
      .flatMap((one) => labelled(page, `  ${one.rule} `, place(one), page.paint.bad)),
    ...(left > 0 ? [`  and ${count(left)} more; --format json lists them all`] : []),
  ];
}

const place = ({ subject, path }: Violation): string =>
  printable(path === undefined || path === subject ? subject : `${subject} ${path}`);
