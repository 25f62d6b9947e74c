import { codeEntry, SEVERITIES, type Severity } from '../../codes/index.ts';
import type { BundleReport, Check, ExportReport, Finding } from '../../verify/index.ts';
import { notCheckedLines } from './checks.ts';
import { count, counted, firstLines, indented, labelled, type Page, type Section } from './page.ts';
import { printable } from '../printable.ts';
import { groupBy } from './tally.ts';

const NAMES: Readonly<Record<Severity, readonly [string, string]>> = {
  error: ['error', 'errors'],
  warning: ['warning', 'warnings'],
  info: ['note', 'notes'],
};
const MARKS = { error: 'bad', warning: 'caution', info: 'dim' } as const;

/** People read a few cases of one code; the JSON report has all of them. */
export const MAX_CASES = 10;
const MAX_FAILURES = 50;

/** The findings by code, the most severe first: each code once, with what it means and what to do, then its cases. */
export function findingsSection(page: Page, findings: readonly Finding[]): Section {
  const groups = [...groupBy(findings, ({ code }) => code).values()];
  const totals = SEVERITIES.flatMap((severity) => {
    const times = findings.filter((finding) => finding.severity === severity).length;
    return times === 0 ? [] : [counted(times, ...NAMES[severity])];
  });
  return {
    title: `Findings: ${totals.join(', ')}`,
    lines: SEVERITIES.flatMap((severity) =>
      groups.filter(([{ severity: own }]) => own === severity).flatMap((group) => groupLines(page, group)),
    ),
  };
}

function groupLines(page: Page, cases: readonly [Finding, ...Finding[]]): string[] {
  const [{ code, severity }] = cases;
  const entry = codeEntry(code);
  const mark = page.paint[MARKS[severity]];
  const times = cases.length === 1 ? '' : ` (${count(cases.length)} times)`;
  return [
    `  ${mark(NAMES[severity][0])} ${page.paint.bold(code)}${times}`,
    ...indented(page, entry.meaning, 4),
    ...labelled(page, '    to do: ', entry.action),
    ...firstLines(cases, MAX_CASES, (finding) => caseLines(page, finding), 4),
  ];
}

/** Something that is wrong with a subject: a finding of a verification, or a violation of a policy. */
type Problem = Pick<Finding, 'subject' | 'path' | 'message' | 'expected' | 'actual'>;

export function caseLines(page: Page, problem: Problem): string[] {
  return [
    ...labelled(page, '    - ', `${formatPlace(problem)}: ${printable(problem.message)}`),
    ...caseFact(page, 'expected', problem.expected),
    ...caseFact(page, 'actual', problem.actual),
  ];
}

export function caseFact(page: Page, name: string, value: string | undefined): string[] {
  return value === undefined ? [] : labelled(page, `      ${name.padEnd(8)} `, printable(value));
}

const formatPlace = ({ subject, path }: Pick<Finding, 'subject' | 'path'>): string =>
  printable(path === undefined || path === subject ? subject : `${subject} ${path}`);

/** The failures again, one line each, at the end, where people look. */
export function failuresSection<P extends Problem>(
  page: Page,
  failures: readonly P[],
  nameOf: (failure: P) => string,
): Section {
  const lines = firstLines(failures, MAX_FAILURES, (failure) =>
    labelled(page, `  ${nameOf(failure)} `, formatPlace(failure), page.paint.bad),
  );
  return { title: 'Failures', lines };
}

export const errorsSection = (page: Page, findings: readonly Finding[]): Section =>
  failuresSection(
    page,
    findings.filter(({ severity }) => severity === 'error'),
    ({ code }) => code,
  );

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
    errorsSection(page, findings),
  ];
}

/** Every finding of a report and of what it holds. */
export const findingsIn = (report: ExportReport | BundleReport): readonly Finding[] =>
  report.kind === 'bundle'
    ? report.findings
    : [report, ...report.parts, ...report.localReports].flatMap(({ findings }) => findings);
