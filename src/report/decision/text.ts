import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import type { Decision, EvaluatedInput, EvidenceUsed, RuleResult, Violation } from '../../policy/decision.ts';
import { RULES } from '../../policy/catalogue.ts';
import {
  actionOf,
  ANSWER_WORDS,
  formatAnswer,
  formatWaiver,
  listWarnings,
  type Reason,
  warningsOf,
} from './reasons.ts';
import { findGateCall, formatAsOf, formatFact, formatRunFact, formatTrust } from '../text/facts.ts';
import { formatFirst, wrapLabel, sections, type Page } from '../text/page.ts';
import { formatCaseFact, formatCase, buildFailuresSection, MAX_CASES } from '../text/findings.ts';
import { groupBy } from '../text/tally.ts';
import { formatParameters } from '../text/vsa.ts';
import type { SignedBy } from '../../verify/report.ts';
import { escapeText } from '../printable.ts';
import type { Detail } from '../text/text.ts';

const ANSWER_PAINT = { yes: 'good', no: 'bad', could_not_tell: 'caution' } as const;
const STATE_PAINT = {
  passed: 'good',
  failed: 'bad',
  warned: 'caution',
  waived: 'caution',
  not_checked: 'caution',
  not_applicable: 'dim',
} as const;
const STATE_WIDTH = 15;
const VIOLATION_TITLES = [
  ['Violations', 'failed'],
  ['Undecided', 'not_checked'],
  ['Warnings', 'warned'],
  ['Waived', 'waived'],
] as const;

const MAX_INPUTS = 50;

/**
 * A decision as text: the answer first, then every rule with its violations, the failures last; with `full` also each
 * bundle, signer, envelope and summary that it rests on, with `verdict` the answer alone.
 */
export function formatDecision(page: Page, decision: Decision, detail: Detail = 'brief'): string[] {
  const { rules, inputs } = decision;
  if (detail === 'verdict') return [formatFirstLine(page, decision)];
  const failures = rules.flatMap(({ violations }) => violations.filter(({ state }) => state === 'failed'));
  return [
    formatFirstLine(page, decision),
    ...sections(page, [
      { title: 'Policy', lines: formatPolicy(page, decision) },
      { title: `Evidence: ${countNoun(inputs.length, 'input')}`, lines: formatInputs(page, inputs) },
      { title: 'Basis', lines: detail === 'full' ? inputs.flatMap((input) => formatBasis(page, input)) : [] },
      { title: 'Rules', lines: rules.flatMap((rule) => formatRule(page, rule)) },
      ...VIOLATION_TITLES.map(([title, state]) => ({
        title,
        lines: [
          ...rules.flatMap((rule) => formatViolations(page, rule, state)),
          ...(state === 'warned'
            ? listWarnings(decision).flatMap((reason) => formatWarning(page, reason))
            : []),
        ],
      })),
      { title: 'Waivers that do not count', lines: formatUnusedWaivers(page, decision) },
      buildFailuresSection(page, failures, ({ rule }) => rule),
    ]),
  ];
}

/** One line, however narrow the page: programs search logs for it. */
function formatFirstLine(page: Page, decision: Decision): string {
  const word = ANSWER_WORDS[decision.answer];
  return page.paint[ANSWER_PAINT[decision.answer]](word) + formatAnswer(decision).slice(word.length);
}

function formatPolicy(page: Page, decision: Decision): string[] {
  const { policy, asOfMs, pastTime, trust, run } = decision;
  return [
    ...formatFact(page, 'policy', policy.name),
    ...formatFact(page, 'digest', policy.digest),
    ...Object.entries(policy.parameters ?? {}).flatMap(([name, value]) =>
      formatFact(page, 'parameter', `${name} = ${value}`),
    ),
    ...policy.sources.flatMap(({ path, digest }) => formatFact(page, 'file', `${path} ${digest}`)),
    ...formatAsOf(page, asOfMs),
    ...formatFact(page, 'past time', pastTime && 'waivers and keys that have expired since count'),
    ...formatTrust(page, trust),
    ...formatRunFact(page, run, findGateCall(decision)),
  ];
}

const formatInputs = (page: Page, inputs: readonly EvaluatedInput[]): string[] =>
  formatFirst(inputs, MAX_INPUTS, (input) => wrapLabel(page, '  - ', formatInput(input)));

function formatInput(input: EvaluatedInput): string {
  const { name, kind, id, verdict, completeness, bundles, localReports } = input;
  const facts = [
    kind === 'export' ? `export ${id ?? 'without a readable id'}` : kind,
    verdict,
    kind === 'export' ? countNoun(bundles, 'bundle') : undefined,
    localReports > 0 ? countNoun(localReports, 'local report') : undefined,
    completeness === undefined ? undefined : `list ${completeness}`,
    ...warningsOf(input),
  ];
  return escapeText(`${name}: ${facts.filter((words) => words !== undefined).join(', ')}`);
}

function formatBasis(
  page: Page,
  { name, signer, envelopes, summary, warnings, evidence }: EvaluatedInput,
): string[] {
  return [
    ...wrapLabel(page, '  - ', escapeText(name)),
    ...formatBasisFact(page, 'list signed by', signer && formatSigner(signer)),
    ...formatBasisFact(page, 'warnings', warnings?.join(', ')),
    ...(envelopes ?? []).flatMap((digest) => formatBasisFact(page, 'envelope', digest)),
    ...(summary === undefined ? [] : formatSummary(page, summary)),
    ...(evidence ?? []).flatMap((bundle) => formatBundle(page, bundle)),
  ];
}

const formatBasisFact = (page: Page, label: string, value: string | undefined): string[] =>
  value === undefined ? [] : wrapLabel(page, `    ${label}: `, escapeText(value));

const formatSigner = ({ issuer, keyId, issuedAtMs }: SignedBy): string =>
  `${issuer}, key ${keyId}, ${isoTime(issuedAtMs)}`;

const formatSummary = (page: Page, summary: NonNullable<EvaluatedInput['summary']>): string[] => [
  ...formatBasisFact(
    page,
    'summary',
    `${summary.result} by ${summary.verifierId}, ${isoTime(summary.timeVerifiedMs)}`,
  ),
  ...formatBasisFact(page, 'policy', summary.policyDigest),
  ...formatBasisFact(page, 'parameters', formatParameters(summary)),
  ...summary.thumbprints.flatMap((key) => formatBasisFact(page, 'signed by key', key)),
  ...summary.inputs.flatMap((digest) => formatBasisFact(page, 'about', digest)),
];

function formatBundle(
  page: Page,
  { id, path, verdict, outcome, signers = [], warnings }: EvidenceUsed,
): string[] {
  const drill =
    outcome && `, drill ${outcome.drillId} on ${outcome.targetId}: ${outcome.verdict} (${outcome.status})`;
  return [
    ...wrapLabel(
      page,
      '    - ',
      escapeText(`${id ?? path ?? 'a bundle without a readable id'}: ${verdict}${drill ?? ''}`),
    ),
    ...signers.flatMap((key) =>
      wrapLabel(
        page,
        '      signed by: ',
        escapeText(`${formatSigner(key)}${key.in === 'dsse' ? ', in an envelope' : ''}`),
      ),
    ),
    ...(warnings === undefined ? [] : wrapLabel(page, '      warnings: ', warnings.join(', '))),
  ];
}

function formatRule(page: Page, { rule, state, judged, violations }: RuleResult): string[] {
  const against = violations.filter((violation) => violation.state !== 'waived').length;
  const numbers = against === 0 ? countNoun(judged, 'subject') : `${count(against)} of ${count(judged)}`;
  const label = `  ${state.replace('_', ' ').padEnd(STATE_WIDTH)} `;
  return wrapLabel(page, label, `${rule}: ${RULES[rule].title} (${numbers})`, page.paint[STATE_PAINT[state]]);
}

function formatViolations(page: Page, { rule, violations }: RuleResult, state: Violation['state']): string[] {
  const kinds = groupBy(
    violations.filter((violation) => violation.state === state),
    (violation) => `${violation.code} ${actionOf(violation)}`,
  );
  return [...kinds.values()].flatMap((group) => [
    `  ${page.paint.bold(rule)} ${group[0].code}`,
    ...(state === 'waived' ? [] : wrapLabel(page, '    to do: ', actionOf(group[0]))),
    ...formatFirst(group, MAX_CASES, (violation) => formatViolation(page, violation), 4),
  ]);
}

const formatWarning = (page: Page, { code, subject, message, action }: Reason): string[] => [
  `  ${page.paint.bold(code ?? '')}`,
  ...wrapLabel(page, '    to do: ', action),
  ...wrapLabel(page, '    - ', `${subject}: ${message}`),
];

function formatViolation(page: Page, violation: Violation): string[] {
  const { findings = [], waiver } = violation;
  return [
    ...formatCase(page, violation),
    ...formatCaseFact(page, 'found', findings.length === 0 ? undefined : findings.join(', ')),
    ...formatCaseFact(page, 'waived', waiver && formatWaiver(waiver)),
  ];
}

function formatUnusedWaivers(page: Page, { unusedWaivers, asOfMs }: Decision): string[] {
  return unusedWaivers.flatMap(({ code, subject, expiresAtMs, owner, reason }) => {
    const why = expiresAtMs <= asOfMs ? `expired ${isoTime(expiresAtMs)}` : 'met nothing';
    return wrapLabel(page, '  - ', escapeText(`${code} ${subject}: ${why} (${owner}: ${reason})`));
  });
}
