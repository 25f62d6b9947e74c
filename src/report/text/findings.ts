import { type Code, codeEntry, type Severity } from '../../codes/index.ts';
import type { BundleReport, Check, ExportReport, Finding } from '../../verify/index.ts';
import { notCheckedLines } from './checks.ts';
import { count, counted } from './figures.ts';
import { indented, labelled, type Page, type Section } from './page.ts';
import { printable } from '../printable.ts';

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info'];
const NAMES: Readonly<Record<Severity, readonly [string, string]>> = {
  error: ['error', 'errors'],
  warning: ['warning', 'warnings'],
  info: ['note', 'notes'],
};
const MARKS = { error: 'bad', warning: 'caution', info: 'dim' } as const;

// Of one code a person reads a few cases; all of them stand in the JSON report.
const MAX_CASES = 10;
const MAX_FAILURES = 50;

type Group = { readonly code: Code; readonly severity: Severity; readonly cases: readonly Finding[] };

/** Findings by code, the most severe first, otherwise in the order in which verification met them. */
function groupFindings(findings: readonly Finding[]): readonly Group[] {
  const groups = new Map<Code, Finding[]>();
  for (const one of findings) {
    const cases = groups.get(one.code);
    if (cases === undefined) groups.set(one.code, [one]);
    else cases.push(one);
  }
  const all = [...groups].map(([code, cases]) => ({ code, severity: cases[0]!.severity, cases }));
  return SEVERITIES.flatMap((severity) => all.filter((group) => group.severity === severity));
}

/** Everything found: the code once, with what it means and what to do, and below it the cases. */
export function findingsSection(page: Page, findings: readonly Finding[]): Section {
  const groups = groupFindings(findings);
  const totals = SEVERITIES.flatMap((severity) => {
    const found = findings.filter((one) => one.severity === severity).length;
    return found === 0 ? [] : [counted(found, ...NAMES[severity])];
  });
  return {
    title: `Findings: ${totals.join(', ')}`,
    lines: groups.flatMap((group) => groupLines(page, group)),
  };
}

function groupLines(page: Page, { code, severity, cases }: Group): string[] {
  const entry = codeEntry(code);
  const mark = page.paint[MARKS[severity]];
  const times = cases.length === 1 ? '' : ` (${count(cases.length)} times)`;
  return [
    `  ${mark(NAMES[severity][0])} ${page.paint.bold(code)}${times}`,
    ...indented(page, entry.meaning, 4),
    ...labelled(page, '    to do: ', entry.action),
    ...cases.slice(0, MAX_CASES).flatMap((one) => caseLines(page, one)),
    ...more(cases.length - MAX_CASES),
  ];
}

function caseLines(page: Page, one: Finding): string[] {
  return [
    ...labelled(page, '    - ', `${place(one)}: ${printable(one.message)}`),
    ...compared(page, 'expected ', one.expected),
    ...compared(page, 'actual   ', one.actual),
  ];
}

function compared(page: Page, label: string, value: string | undefined): string[] {
  return value === undefined ? [] : labelled(page, `      ${label}`, printable(value));
}

/** The failures once more, one line each, where a person looks last. */
export function failuresSection(page: Page, findings: readonly Finding[]): Section {
  const errors = findings.filter((one) => one.severity === 'error');
  const lines = errors
    .slice(0, MAX_FAILURES)
    .flatMap((one) => labelled(page, `  ${one.code} `, place(one), page.paint.bad));
  return { title: 'Failures', lines: [...lines, ...more(errors.length - MAX_FAILURES)] };
}

function place({ subject, path }: Finding): string {
  return printable(path === undefined ? subject : `${subject} ${path}`);
}

function more(left: number): string[] {
  return left <= 0 ? [] : [`    and ${count(left)} more; --format json lists them all`];
}

/**
 * What every report ends with: what was not checked and why, what was found, what the result does not mean, and the
 * failures once more. `checks` has one group for each kind of subject, with one list for each subject.
 */
export function closing(
  page: Page,
  checks: readonly (readonly (readonly Check[])[])[],
  findings: readonly Finding[],
  caveats: readonly string[],
): readonly Section[] {
  return [
    { title: 'Not checked', lines: checks.flatMap((group) => notCheckedLines(page, group)) },
    findingsSection(page, findings),
    { title: 'What this does not mean', lines: caveats.flatMap((text) => labelled(page, '  - ', text)) },
    failuresSection(page, findings),
  ];
}

/** Every finding of a report and of what it holds. */
export const findingsIn = (report: ExportReport | BundleReport): readonly Finding[] =>
  report.kind === 'bundle'
    ? report.findings
    : [report, ...report.parts, ...report.localReports].flatMap(({ findings }) => findings);
