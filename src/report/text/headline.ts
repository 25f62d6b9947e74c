import type { Code } from '../../codes/catalogue.ts';
import type {
  AttestationReport,
  BundleReport,
  Completeness,
  ExportReport,
  Finding,
  Verdict,
} from '../../verify/report.ts';
import { escapeText } from '../printable.ts';
import { count, countNoun, type Page, wrap } from './page.ts';
import { listVerdicts } from './tally.ts';

const MAX_CODES = 3;

export const VERDICT_PAINT: Readonly<
  Record<Verdict | AttestationReport['verdict'], 'good' | 'caution' | 'bad'>
> = {
  verified: 'good',
  intact: 'caution',
  incomplete: 'caution',
  failed: 'bad',
  valid: 'good',
  not_judged: 'caution',
  invalid: 'bad',
};

export function wrapHeadline(page: Page, verdict: keyof typeof VERDICT_PAINT, text: string): string[] {
  const word = verdict.toUpperCase().replace('_', ' ');
  const [first = '', ...rest] = wrap(`${word} ${text}`, page.width - HEADLINE_INDENT);
  const painted = page.paint[VERDICT_PAINT[verdict]](word) + first.slice(word.length);
  return [painted, ...rest.map((line) => ' '.repeat(HEADLINE_INDENT) + line)];
}

const HEADLINE_INDENT = 2;

const LIST: Readonly<Record<Completeness, string>> = {
  pinned: 'list pinned',
  attested: 'list attested',
  claimed: 'completeness not attested (list claimed)',
};

export const formatVerdictLines = (page: Page, report: ExportReport | BundleReport): string[] =>
  wrapHeadline(page, report.verdict, formatHeadline(report));

export function formatHeadline(report: ExportReport | BundleReport): string {
  const unmet = (report.run?.unmet ?? []).map(({ requirement, message }) => `${requirement}: ${message}`);
  if (report.kind === 'bundle') {
    const name = escapeText(report.evidenceBundleId ?? report.path ?? 'part');
    const facts = [...unmet, ...codesOf([report])];
    return `evidence bundle ${name}${facts.length === 0 ? '' : `: ${facts.join('; ')}`}`;
  }
  const name = escapeText(report.evidenceExportId ?? 'export');
  const failures = failuresOf(report);
  const summary = failures.length === 0 ? [summarizeParts(report.parts)] : failures;
  const facts = [...summary, LIST[report.completeness]];
  return `${name}: ${(report.verdict === 'failed' ? [...unmet, ...facts] : [...facts, ...unmet]).join('; ')}`;
}

/** `2 of 300 parts: part.DIGEST_MISMATCH`, for each kind of file in which there is an error. */
function failuresOf(report: ExportReport): readonly string[] {
  return [
    ...codesOf([report]),
    ...listFailures(report.parts, 'part'),
    ...listFailures(report.localReports, 'local report'),
  ];
}

type Findings = { readonly findings: readonly Finding[] };

const errorsIn = ({ findings }: Findings): readonly Finding[] =>
  findings.filter(({ severity }) => severity === 'error');

function listFailures(items: readonly Findings[], name: string): readonly string[] {
  const bad = items.filter((item) => errorsIn(item).length > 0);
  return codesOf(bad).map((codes) => `${count(bad.length)} of ${countNoun(items.length, name)}: ${codes}`);
}

function codesOf(items: readonly Findings[]): readonly string[] {
  const codes = [...new Set<Code>(items.flatMap((item) => errorsIn(item).map(({ code }) => code)))];
  if (codes.length === 0) return [];
  const more = codes.length - MAX_CODES;
  return [codes.slice(0, MAX_CODES).join(', ') + (more > 0 ? ` and ${countNoun(more, 'more code')}` : '')];
}

export function summarizeParts(parts: readonly BundleReport[]): string {
  const [first] = parts;
  if (first === undefined) return 'no parts';
  if (parts.some(({ verdict }) => verdict !== first.verdict)) return listVerdicts(parts).join(', ');
  return `${count(parts.length)} of ${countNoun(parts.length, 'part')} ${first.verdict}`;
}
