import { checkArguments, defined, listOf, OBJECT, TEXT, withMembers } from '../bytes/arguments.ts';
import type { Code } from '../codes/catalogue.ts';
import {
  codeFacts,
  type CodeFacts,
  isStatementCode,
  type StatementCode,
  statementCodeFacts,
} from '../codes/facts.ts';
import { DrillproofError } from '../errors.ts';
import type { Finding, Report } from './report.ts';

export type FindingDetail = Pick<Finding, 'message'> & {
  readonly [K in 'path' | 'expected' | 'actual']?: string | undefined;
};

/** A finding with the class and severity of its code. */
export const finding = (code: Code, subject: string, detail: FindingDetail): Finding =>
  describeCode(code, codeFacts(code), subject, detail);

/** `finding` about a signed statement, which needs less of the catalogue in a bundle of a program. */
export const statementFinding = (code: StatementCode, subject: string, detail: FindingDetail): Finding =>
  describeCode(code, statementCodeFacts(code), subject, detail);

function describeCode(
  code: Code,
  { class: codeClass, severity }: CodeFacts,
  subject: string,
  detail: FindingDetail,
): Finding {
  const { path, message, expected, actual } = detail; // a detail may be a whole finding: its code must not win
  // Reports keep this order of members.
  return defined({ code, class: codeClass, severity, subject, path, message, expected, actual });
}

/**
 * The findings of an error from reading evidence: one for each fault that a parser collected, one for everything else.
 * @throws the error itself if it is `internal.BUG` or not a `DrillproofError`: a fault of the program, not of the evidence
 */
export function findingsOf(error: unknown, subject: string, path?: string): Finding[] {
  if (!(error instanceof DrillproofError) || error.code === 'internal.BUG') throw error;
  const { code } = error;
  return listFaults(error, path).map((detail) => finding(code, subject, detail));
}

/** `findingsOf` for an error from parsing a signed statement. @throws the error itself if it has another code */
export function statementFindingsOf(error: unknown, subject: string): Finding[] {
  if (!(error instanceof DrillproofError) || !isStatementCode(error.code)) throw error;
  const { code } = error;
  return listFaults(error).map((detail) => statementFinding(code, subject, detail));
}

function listFaults(error: DrillproofError, path?: string): FindingDetail[] {
  const issues = listIssues(error);
  const faults = issues.length === 0 ? [error] : issues;
  return faults.map((fault) => ({ message: fault.message, path: joinPath(path, fault.path) }));
}

/** One broken rule of a document, as the parsers collect them in `details.issues`. */
type Issue = { readonly path: string; readonly message: string };

function listIssues(error: DrillproofError): readonly Issue[] {
  const issues = error.details?.['issues'];
  return Array.isArray(issues) ? (issues as Issue[]) : [];
}

/** The most findings of one code about one subject that a report lists. */
const MAX_FINDINGS = 100;
/** The most findings of one code about all bundles of an export, except that every bundle keeps one. */
const MAX_EXPORT_FINDINGS = 10_000;

/** The most findings of one code about each bundle of an export with this number of parts. */
export const shareFindings = (parts: number): number =>
  Math.max(1, Math.min(MAX_FINDINGS, Math.floor(MAX_EXPORT_FINDINGS / parts)));

/** Keeps the first findings of each code and subject; the last of them has the number of the others. */
export function limitFindings(findings: readonly Finding[], most = MAX_FINDINGS): readonly Finding[] {
  if (findings.length <= most) return findings;
  const kept: Finding[] = [];
  const groups = new Map<string, { times: number; last: number; more: number }>();
  for (const entry of findings) {
    const key = `${entry.code} ${entry.subject}`;
    const group = groups.get(key) ?? { times: 0, last: 0, more: 0 };
    groups.set(key, group);
    group.more += entry.more ?? 0;
    if (group.times++ >= most) group.more++;
    else group.last = kept.push(entry) - 1;
  }
  for (const { last, more } of groups.values()) if (more > 0) kept[last] = { ...kept[last]!, more };
  return kept;
}

/** The number of findings, with those that are only counted. */
export const countFindings = (findings: readonly Finding[]): number =>
  findings.reduce((sum, { more = 0 }) => sum + 1 + more, 0);

function joinPath(outer: string | undefined, inner: string | undefined): string | undefined {
  if (outer === undefined || outer === inner) return inner;
  return inner === undefined || inner === '' ? outer : `${outer}#${inner}`;
}

const LINES = listOf(OBJECT);
const PART = withMembers('a report', { verdict: TEXT, findings: LINES });
const REPORT = withMembers('a report', { kind: TEXT, verdict: TEXT, findings: LINES, checks: LINES });
const EXPORT = withMembers('a report on an export', { parts: listOf(PART), localReports: listOf(PART) });

/** @throws TypeError for anything that does not have the form of a report */
export function checkReport(report: Report): void {
  checkArguments({ report: REPORT }, { report });
  if (report.kind === 'export') checkArguments({ report: EXPORT }, { report });
}

/**
 * Every finding of a report: of an export also those of its parts and local reports, whose `subject` names them. A report
 * lists at most 100 findings of a code about a subject; `more` of the last one is the number of the others.
 * @throws TypeError for anything that is not a report
 * @example
 * for (const { code, subject, message } of allFindings(report)) console.error(code, subject, message);
 */
export function allFindings(report: Report): readonly Finding[] {
  checkReport(report);
  if (report.kind !== 'export') return report.findings;
  return [report, ...report.parts, ...report.localReports].flatMap(({ findings }) => findings);
}
