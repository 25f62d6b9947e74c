import { defined } from '../bytes/index.ts';
import { type Code, codeFacts } from '../codes/index.ts';
import { DrillproofError } from '../errors.ts';
import type { Finding } from './report.ts';

export type FindingDetail = Pick<Finding, 'message'> & {
  readonly [K in 'path' | 'expected' | 'actual']?: string | undefined;
};

/** A finding with the class and severity of its code. */
export function finding(code: Code, subject: string, detail: FindingDetail): Finding {
  const { class: codeClass, severity } = codeFacts(code);
  const { path, message, expected, actual } = detail; // a detail may be a whole finding: its code must not win
  // The order of the members is that of every report so far.
  return defined({ code, class: codeClass, severity, subject, path, message, expected, actual });
}

/**
 * The findings of an error from reading evidence: one for each fault that a parser collected, one for everything else.
 * @throws the error itself if it is `internal.BUG` or not a `DrillproofError`: a fault of the program, not of the evidence
 */
export function findingsOf(error: unknown, subject: string, path?: string): Finding[] {
  if (!(error instanceof DrillproofError) || error.code === 'internal.BUG') throw error;
  const issues = issuesOf(error);
  if (issues.length === 0)
    return [finding(error.code, subject, { message: error.message, path: at(path, error.path) })];
  return issues.map((issue) =>
    finding(error.code, subject, { message: issue.message, path: at(path, issue.path) }),
  );
}

/** One broken rule of a document, as the parsers collect them in `details.issues`. */
type Issue = { readonly path: string; readonly message: string };

function issuesOf(error: DrillproofError): readonly Issue[] {
  const issues = error.details?.['issues'];
  return Array.isArray(issues) ? (issues as Issue[]) : [];
}

function at(outer: string | undefined, inner: string | undefined): string | undefined {
  if (outer === undefined || outer === inner) return inner;
  return inner === undefined || inner === '' ? outer : `${outer}#${inner}`;
}
