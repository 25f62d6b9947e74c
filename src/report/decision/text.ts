import { defined } from '../../bytes/arguments.ts';
import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import type { Decision, EvaluatedInput, EvidenceUsed, RuleResult, Violation } from '../../policy/decision.ts';
import { RULES } from '../../policy/catalogue.ts';
import {
  actionOf,
  ANSWER_WORDS,
  formatAnswer,
  formatCause as formatDrill,
  formatWaiver,
  formatWaivers,
  groupByCause,
  indexCauses,
  listWarnings,
  mergeByPlace,
  type Reason,
  sortRules,
  STATE_WORDS,
  warningsOf,
} from './reasons.ts';
import { findGateCall, formatAsOf, formatFact, formatRunFact, formatTrust } from '../text/facts.ts';
import { formatFirst, wrapLabel, sections, type Page } from '../text/page.ts';
import { formatCaseFact, formatCase, buildFailuresSection, MAX_CASES } from '../text/findings.ts';
import { formatParameters } from '../text/vsa.ts';
import type { SignedBy, SigningKey } from '../../verify/report.ts';
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
const STATE_WIDTH = 16;
const VIOLATION_TITLES = [
  ['Violations', 'failed'],
  ['Could not tell', 'not_checked'],
  ['Warnings', 'warned'],
  ['Waived', 'waived'],
] as const;

const MAX_INPUTS = 50;
/** A cause of more rules names them in one line. */
const MAX_NAMES = 2;

/**
 * A decision as text: the answer first, then the violations by cause, every rule with the worst first, and what it rests
 * on; the failures and the answer again at the end. With `full` it has each bundle, signer, envelope and summary too,
 * with `verdict` the answer alone.
 */
export function formatDecision(page: Page, decision: Decision, detail: Detail = 'brief'): string[] {
  const { rules, inputs } = decision;
  const answer = formatFirstLine(page, decision);
  if (detail === 'verdict') return [answer];
  const findCause = indexCauses(decision);
  const entries = rules
    .flatMap(({ violations }) => violations)
    .map((violation): Entry => {
      const cause = findCause(violation);
      return {
        ...violation,
        findings: violation.findings ?? [],
        action: actionOf(violation),
        ...defined({ cause, drill: cause && formatDrill(cause) }),
      };
    });
  return [
    answer,
    ...sections(page, [
      ...VIOLATION_TITLES.map(([title, state]) => ({
        title,
        lines: [
          ...groupByCause(entries.filter((entry) => entry.state === state)).flatMap((group) =>
            formatGroup(page, group),
          ),
          ...(state === 'warned'
            ? listWarnings(decision).flatMap((reason) => formatWarning(page, reason))
            : []),
        ],
      })),
      {
        title: 'Waivers',
        lines: formatWaivers(decision).flatMap((line) => wrapLabel(page, '  - ', escapeText(line))),
      },
      { title: 'Rules', lines: sortRules(decision).flatMap((rule) => formatRule(page, rule)) },
      { title: 'Policy', lines: formatPolicy(page, decision) },
      { title: `Evidence: ${countNoun(inputs.length, 'input')}`, lines: formatInputs(page, inputs) },
      { title: 'Basis', lines: detail === 'full' ? inputs.flatMap((input) => formatBasis(page, input)) : [] },
      buildFailuresSection(
        page,
        entries.filter(({ state }) => state === 'failed'),
        ({ rule }) => rule,
      ),
    ]),
    '',
    answer,
  ];
}

/** One line, however narrow the page: programs search logs for it. */
function formatFirstLine(page: Page, decision: Decision): string {
  const word = ANSWER_WORDS[decision.answer];
  return page.paint[ANSWER_PAINT[decision.answer]](word) + formatAnswer(decision).slice(word.length);
}

function formatPolicy(page: Page, decision: Decision): string[] {
  const { policy, asOfMs, pastTime, trust, run, artifact, baseline, sets = [] } = decision;
  return [
    ...formatFact(page, 'policy', policy.name),
    ...formatFact(page, 'digest', policy.digest),
    ...Object.entries(policy.parameters ?? {}).flatMap(([name, value]) =>
      formatFact(page, 'parameter', `${name} = ${value}`),
    ),
    ...policy.sources.flatMap(({ path, digest }) => formatFact(page, 'file', `${path} ${digest}`)),
    ...formatFact(page, 'artifact', artifact && `${artifact.name} ${artifact.digest}`),
    ...formatFact(page, 'baseline', baseline && `${baseline.name} ${baseline.digest}`),
    ...sets.flatMap(({ set, selects, runs }) =>
      formatFact(page, 'set', `${set}, ${selects}: applied to ${countNoun(runs, 'subject')}`),
    ),
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

const formatStamp = ({ stamp }: SigningKey): string =>
  stamp === undefined ? '' : `; existed by ${isoTime(stamp.atMs)}, as ${stamp.authority} states`;

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
  { id, path, verdict, outcome, signers = [], warnings, reproduction, createdAtMs }: EvidenceUsed,
): string[] {
  const drill =
    outcome && `, drill ${outcome.drillId} on ${outcome.targetId}: ${outcome.verdict} (${outcome.status})`;
  return [
    ...wrapLabel(
      page,
      '    - ',
      escapeText(`${id ?? path ?? 'a bundle without a readable id'}: ${verdict}${drill ?? ''}`),
    ),
    ...(createdAtMs === undefined ? [] : wrapLabel(page, '      created at: ', isoTime(createdAtMs))),
    ...(reproduction === undefined
      ? []
      : [
          ...wrapLabel(page, '      build: ', reproduction.buildHash),
          ...wrapLabel(page, '      package lock: ', reproduction.packageLockHash),
          ...wrapLabel(page, '      seed: ', escapeText(reproduction.seed)),
        ]),
    ...signers.flatMap((key) =>
      wrapLabel(
        page,
        '      signed by: ',
        escapeText(`${formatSigner(key)}${key.in === 'dsse' ? ', in an envelope' : ''}${formatStamp(key)}`),
      ),
    ),
    ...(warnings === undefined ? [] : wrapLabel(page, '      warnings: ', warnings.join(', '))),
  ];
}

function formatRule(page: Page, { rule, state, examined, violations }: RuleResult): string[] {
  const against = violations.filter((violation) => violation.state !== 'waived').length;
  const numbers = against === 0 ? countNoun(examined, 'subject') : `${count(against)} of ${count(examined)}`;
  const label = `  ${STATE_WORDS[state].padEnd(STATE_WIDTH)} `;
  return wrapLabel(page, label, `${rule}: ${RULES[rule].title} (${numbers})`, page.paint[STATE_PAINT[state]]);
}

type Entry = Violation & Pick<Reason, 'findings' | 'action' | 'drill' | 'cause'>;

function formatGroup(page: Page, group: readonly [Entry, ...Entry[]]): string[] {
  const [{ state, action }] = group;
  const rules = [...new Set(group.map(({ rule }) => rule))];
  const names = [...new Set(group.map(({ rule, code }) => `  ${page.paint.bold(rule)} ${code}`))];
  return [
    ...(names.length > MAX_NAMES
      ? wrapLabel(page, '  ', `${rules.length} rules: ${rules.join(', ')}`)
      : names),
    ...(state === 'waived' ? [] : wrapLabel(page, '    to do: ', action)),
    ...formatFirst(mergeByPlace(group), MAX_CASES, (entry) => formatEntry(page, entry), 4),
  ];
}

const formatWarning = (page: Page, { code, subject, message, action }: Reason): string[] => [
  `  ${page.paint.bold(code ?? '')}`,
  ...wrapLabel(page, '    to do: ', action),
  ...wrapLabel(page, '    - ', `${subject}: ${message}`),
];

function formatEntry(page: Page, entry: Entry): string[] {
  const { findings, waiver, drill, set, subject } = entry;
  return [
    ...formatCase(page, { ...entry, subject: set === undefined ? subject : `${subject}, ${set}` }),
    ...formatCaseFact(page, 'drill', drill),
    ...formatCaseFact(page, 'found', findings.length === 0 ? undefined : findings.join(', ')),
    ...formatCaseFact(page, 'waived', waiver && formatWaiver(waiver)),
  ];
}
