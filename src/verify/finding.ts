import { checkArguments, defined, LIST, TEXT, withMembers } from '../bytes/arguments.ts';
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

function joinPath(outer: string | undefined, inner: string | undefined): string | undefined {
  if (outer === undefined || outer === inner) return inner;
  return inner === undefined || inner === '' ? outer : `${outer}#${inner}`;
}

/**
 * Every finding of a report: of an export also those of its parts and local reports, whose `subject` names them.
 * @throws TypeError for anything that is not a report
 * @example
 * for (const { code, subject, message } of allFindings(report)) console.error(code, subject, message);
 */
export function allFindings(report: Report): readonly Finding[] {
  checkArguments({ report: withMembers('a report', { kind: TEXT, findings: LIST }) }, { report });
  if (report.kind !== 'export') return report.findings;
  return [report, ...report.parts, ...report.localReports].flatMap(({ findings }) => findings);
}
