import { count, countNoun } from '../../bytes/text/wording.ts';
import type { Code } from '../../codes/catalogue.ts';
import type { AttestationReport, BundleReport, ExportReport, Finding, Verdict } from '../../verify/report.ts';
import { escapeText } from '../printable.ts';
import { type Page, type Paint, wrap } from './page.ts';
import { describeBadDrills, listOutcomes, listVerdicts, partsOf } from './tally.ts';

const MAX_CODES = 3;

export const VERDICT_PAINT: Readonly<
  Record<Verdict | AttestationReport['verdict'], 'good' | 'caution' | 'bad'>
> = {
  verified: 'good',
  intact: 'caution',
  incomplete: 'caution',
  failed: 'bad',
  valid: 'good',
  not_checked: 'caution',
  invalid: 'bad',
};

export function wrapHeadline(
  page: Page,
  verdict: keyof typeof VERDICT_PAINT,
  text: string,
  tone: keyof Paint = VERDICT_PAINT[verdict],
): string[] {
  const word = verdict.toUpperCase().replace('_', ' ');
  const [first = '', ...rest] = wrap(`${word} ${text}`, page.width - HEADLINE_INDENT);
  const painted = page.paint[tone](word) + first.slice(word.length);
  return [painted, ...rest.map((line) => ' '.repeat(HEADLINE_INDENT) + line)];
}

const HEADLINE_INDENT = 2;

export const formatVerdictLines = (page: Page, report: ExportReport | BundleReport): string[] =>
  wrapHeadline(page, report.verdict, formatHeadline(report), toneOfReport(report));

/** The colour of a result: that of the verdict or, if it is worse, that of the drills. */
export function toneOfReport(report: ExportReport | BundleReport): 'good' | 'caution' | 'bad' {
  const tones = [VERDICT_PAINT[report.verdict], describeBadDrills(report)?.tone];
  return (['bad', 'caution'] as const).find((tone) => tones.includes(tone)) ?? 'good';
}

/**
 * The verdict in one line: what failed or how many parts are verified, the list, drills that did not pass, and unmet
 * requirements.
 */
export function formatHeadline(report: ExportReport | BundleReport, allDrills = false): string {
  const unmet = (report.run?.unmet ?? []).map(({ requirement, message }) => `${requirement}: ${message}`);
  const failures = listFailures(report);
  const outcomes = allDrills || describeBadDrills(report) ? listOutcomes(partsOf(report)) : [];
  const facts = [
    ...(report.kind === 'bundle'
      ? failures
      : [
          ...(failures.length === 0 ? [summarizeParts(report.parts)] : failures),
          report.completeness === 'claimed'
            ? 'completeness not attested (list claimed)'
            : `list ${report.completeness}`,
        ]),
    ...report.findings.flatMap(({ code, message }) =>
      code === 'coverage.LOW' ? [`${code}: ${message}`] : [],
    ),
    ...(outcomes.length > 0 ? [`drills: ${outcomes.map(escapeText).join(', ')}`] : []),
  ];
  const name =
    report.kind === 'bundle'
      ? `evidence bundle ${escapeText(report.evidenceBundleId ?? report.path ?? 'part')}`
      : escapeText(report.evidenceExportId ?? 'export');
  const words = report.verdict === 'failed' ? [...unmet, ...facts] : [...facts, ...unmet];
  return words.length === 0 ? name : `${name}: ${words.join('; ')}`;
}

/** `2 of 300 parts: part.DIGEST_MISMATCH`, for each kind of file in which there is an error. */
export function listFailures(report: ExportReport | BundleReport): readonly string[] {
  if (report.kind === 'bundle') return codesOf([report]);
  return [
    ...codesOf([report]),
    ...countFailures(report.parts, 'part'),
    ...countFailures(report.localReports, 'local report'),
  ];
}

type Findings = { readonly findings: readonly Finding[] };

const errorsIn = ({ findings }: Findings): readonly Finding[] =>
  findings.filter(({ severity }) => severity === 'error');

function countFailures(items: readonly Findings[], name: string): readonly string[] {
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
