import { count, countNoun } from '../../bytes/text/wording.ts';
import { codeEntry } from '../../codes/catalogue.ts';
import { SEVERITIES, type Severity } from '../../codes/entry.ts';
import type { Check, CheckState, Finding } from '../../verify/report.ts';
import { countFindings } from '../../verify/finding.ts';
import { CHECK_TEXTS } from '../../verify/check-texts.ts';
import { buildListSection, formatFirst, wrapIndented, wrapLabel, type Page, type Section } from './page.ts';
import { escapeText } from '../printable.ts';
import { groupBy } from '../../bytes/async.ts';
import { countChecks, type CheckCount } from './tally.ts';

const STATES: Readonly<Record<CheckState, { word: string; paint: 'good' | 'bad' | 'caution' | 'dim' }>> = {
  passed: { word: 'passed', paint: 'good' },
  failed: { word: 'FAILED', paint: 'bad' },
  not_checked: { word: 'not checked', paint: 'caution' },
  not_applicable: { word: 'n/a', paint: 'dim' },
};

const MAX_REASONS = 3;
const STATE_WIDTH = Math.max(...Object.values(STATES).map(({ word }) => word.length));

/** The states of checks, the worst first. */
const ORDER = ['failed', 'not_checked', 'passed', 'not_applicable'] as const satisfies readonly CheckState[];

export function formatChecks(page: Page, checks: readonly Check[]): string[] {
  const sorted = checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  return sorted.flatMap(({ id, state, reason }) => {
    const { word, paint } = STATES[state];
    const label = `  ${word.padEnd(STATE_WIDTH)}  `;
    const why = state === 'not_applicable' && reason !== undefined ? ` (${escapeText(reason)})` : '';
    return wrapLabel(page, label, `${CHECK_TEXTS[id].sentence}${why}`, page.paint[paint]);
  });
}

const rankOf = ({ states }: CheckCount): number => ORDER.findIndex((state) => states.has(state));

export function formatCheckCounts(page: Page, lists: readonly (readonly Check[])[]): string[] {
  const rows = countChecks(lists).toSorted((a, b) => rankOf(a) - rankOf(b));
  return rows.flatMap((row) => {
    const label = `  ${formatShare(row).padEnd(STATE_WIDTH)}  `;
    return wrapLabel(
      page,
      label,
      `${CHECK_TEXTS[row.id].sentence}${formatOtherStates(row)}`,
      page.paint[selectPaint(row)],
    );
  });
}

function formatShare({ states }: CheckCount): string {
  const applicable = [...states].reduce((sum, [state, n]) => (state === 'not_applicable' ? sum : sum + n), 0);
  if (applicable === 0) return STATES.not_applicable.word;
  return `${count(states.get('passed') ?? 0)}/${count(applicable)}`;
}

function formatOtherStates({ states }: CheckCount): string {
  const rest = (['failed', 'not_checked'] as const).flatMap((state) => {
    const n = states.get(state);
    return n === undefined ? [] : [`${count(n)} ${STATES[state].word}`];
  });
  return rest.length === 0 ? '' : ` (${rest.join(', ')})`;
}

function selectPaint({ states }: CheckCount): 'bad' | 'caution' | 'good' | 'dim' {
  if (states.has('failed')) return 'bad';
  if (states.has('not_checked')) return 'caution';
  return states.has('passed') ? 'good' : 'dim';
}

const groupUnchecked = (lists: readonly (readonly Check[])[]) =>
  groupBy(
    countChecks(lists).filter(({ states }) => states.has('not_checked')),
    reasonsOf,
  );

function formatUnchecked(page: Page, lists: readonly (readonly Check[])[]): string[] {
  const formatCount = ({ states }: CheckCount): string =>
    lists.length === 1 ? '' : ` (${count(states.get('not_checked') ?? 0)} of ${count(lists.length)})`;
  return [...groupUnchecked(lists)].flatMap(([reason, rows]) => [
    ...wrapLabel(page, '  - ', `${reason}:`),
    ...rows.flatMap((row) => wrapLabel(page, '      ', `${CHECK_TEXTS[row.id].sentence}${formatCount(row)}`)),
  ]);
}

export const summarizeUnchecked = (lists: readonly (readonly Check[])[]): readonly string[] =>
  [...groupUnchecked(lists)].map(([reason, rows]) => `${countNoun(rows.length, 'check')} (${reason})`);

function reasonsOf({ reasons }: CheckCount): string {
  const all = [...reasons.keys()].map(escapeText);
  if (all.length === 0) return 'no reason is recorded';
  const omitted = all.length - MAX_REASONS;
  return all.slice(0, MAX_REASONS).join('; ') + (omitted > 0 ? `; and ${count(omitted)} other reasons` : '');
}

const NAMES = { error: 'error', warning: 'warning', info: 'note' } as const;
const MARKS = { error: 'bad', warning: 'caution', info: 'dim' } as const;

export const formatSeverity = ({ paint }: Page, severity: Severity): string =>
  paint[MARKS[severity]](NAMES[severity]);

export const MAX_CASES = 10;
const MAX_FAILURES = 50;

/** The findings by code, the most severe first. */
export function buildFindingsSection(page: Page, findings: readonly Finding[]): Section {
  const totals = SEVERITIES.flatMap((severity) => {
    const times = countFindings(findings.filter((finding) => finding.severity === severity));
    return times === 0 ? [] : [countNoun(times, NAMES[severity])];
  });
  return {
    title: `Findings: ${totals.join(', ')}`,
    lines: groupFindings(findings).flatMap((group) => formatGroup(page, group)),
  };
}

export function groupFindings(findings: readonly Finding[]): readonly (readonly [Finding, ...Finding[]])[] {
  const groups = [...groupBy(findings, ({ code }) => code).values()];
  return SEVERITIES.flatMap((severity) => groups.filter(([first]) => first.severity === severity));
}

/** `attestation.TIME_CLAIMED (2 times)`, for each code of a severity. */
export function countCodes(findings: readonly Finding[], severity: Severity): string | undefined {
  const groups = groupFindings(findings.filter((finding) => finding.severity === severity));
  const words = groups.map((group) => {
    const times = countFindings(group);
    return times === 1 ? group[0].code : `${group[0].code} (${count(times)} times)`;
  });
  return words.length === 0 ? undefined : words.join(', ');
}

function formatGroup(page: Page, cases: readonly [Finding, ...Finding[]]): string[] {
  const [{ code, severity }] = cases;
  const entry = codeEntry(code);
  const times = countFindings(cases);
  return [
    `  ${formatSeverity(page, severity)} ${page.paint.bold(code)}${times === 1 ? '' : ` (${count(times)} times)`}`,
    ...wrapIndented(page, entry.meaning, 4),
    ...wrapLabel(page, '    to do: ', entry.action),
    ...formatFirst(cases, MAX_CASES, (finding) => formatCase(page, finding), 4),
  ];
}

type Problem = Pick<Finding, 'subject' | 'path' | 'message' | 'expected' | 'actual'>;

export function formatCase(page: Page, problem: Problem): string[] {
  return [
    ...wrapLabel(page, '    - ', `${formatPlace(problem)}: ${escapeText(problem.message)}`),
    ...formatCaseFact(page, 'expected', problem.expected),
    ...formatCaseFact(page, 'actual', problem.actual),
  ];
}

export function formatCaseFact(page: Page, name: string, value: string | undefined): string[] {
  return value === undefined ? [] : wrapLabel(page, `      ${name.padEnd(8)} `, escapeText(value));
}

const formatPlace = ({ subject, path }: Pick<Finding, 'subject' | 'path'>): string =>
  escapeText(path === undefined || path === subject ? subject : `${subject} ${path}`);

export function buildFailuresSection<P extends Problem>(
  page: Page,
  failures: readonly P[],
  nameOf: (failure: P) => string,
): Section {
  const lines = formatFirst(failures, MAX_FAILURES, (failure) =>
    wrapLabel(page, `  ${nameOf(failure)} `, formatPlace(failure), page.paint.bad),
  );
  return { title: 'Failures', lines };
}

export const buildErrorsSection = (page: Page, findings: readonly Finding[]): Section =>
  buildFailuresSection(
    page,
    findings.filter(({ severity }) => severity === 'error'),
    ({ code }) => code,
  );

/**
 * The last sections of every report: unchecked checks with their reasons, caveats, and the failures again.
 * `checks` has one group for each kind of subject, with one list for each subject.
 */
export function buildClosingSections(
  page: Page,
  checks: readonly (readonly (readonly Check[])[])[],
  findings: readonly Finding[],
  caveats: readonly string[],
): readonly Section[] {
  return [
    { title: 'Not checked', lines: checks.flatMap((group) => formatUnchecked(page, group)) },
    buildListSection(page, 'What this does not mean', caveats),
    buildErrorsSection(page, findings),
  ];
}
