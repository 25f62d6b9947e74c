import type { Severity } from '../../codes/index.ts';
import type { BundleReport, ExportReport, Finding } from '../../verify/index.ts';
import { printable } from '../printable.ts';
import { notCheckedWords } from './checks.ts';
import { COMPLETENESS, coverageWords, fact, headline, runFact, untrustedLine } from './facts.ts';
import { count, counted, labelled, sections, type Page } from './page.ts';
import { findingsIn, findingsSection } from './findings.ts';
import { formatHeadline } from './headline.ts';
import { countOutcomes, countSigners } from './tally.ts';

const MAX_KEYS = 3;
const PART_COMPLETENESS = 'a part does not show whether other bundles are missing';
const CONTENT = 'whether what the evidence says is true';

/** The verdict and the most important facts in a few lines, errors in full, and the verdict again. */
export function briefText(page: Page, report: ExportReport | BundleReport): string[] {
  const verdict = verdictLines(page, report);
  const findings = findingsIn(report);
  const errors = findings.filter(({ severity }) => severity === 'error');
  return [
    ...verdict,
    ...signedBy(page, report),
    ...fact(page, 'drills', drillWords(report)),
    ...fact(page, 'not checked', [...notCheckedWords(checksIn(report)), CONTENT].join('; ')),
    ...fact(page, 'completeness', completenessOf(report)),
    ...fact(page, 'coverage', coverageWords(report)),
    ...fact(page, 'warnings', countCodes(findings, 'warning')),
    ...fact(page, 'notes', countCodes(findings, 'info')),
    ...runFact(page, report.run),
    ...(errors.length === 0 ? [] : [...sections(page, [findingsSection(page, errors)]), '']),
    ...verdict,
  ];
}

/** The verdict with what it is about. */
export const verdictLines = (page: Page, report: ExportReport | BundleReport): string[] =>
  headline(page, report.verdict, formatHeadline(report));

const partsOf = (report: ExportReport | BundleReport): readonly BundleReport[] =>
  report.kind === 'export' ? report.parts : [report];

const checksIn = (report: ExportReport | BundleReport) =>
  report.kind === 'export'
    ? [report, ...report.parts, ...report.localReports].map(({ checks }) => checks)
    : [report.checks];

const completenessOf = (report: ExportReport | BundleReport): string =>
  report.kind === 'export' ? COMPLETENESS[report.completeness] : PART_COMPLETENESS;

function signedBy(page: Page, report: ExportReport | BundleReport): string[] {
  const signers = countSigners(
    partsOf(report).flatMap(({ signer }) => (signer === undefined ? [] : [signer])),
  );
  const ofList = report.kind === 'export' ? report.signer : undefined;
  const isOfList = ({ issuer, keyId }: { issuer: string; keyId: string }): boolean =>
    ofList?.issuer === issuer && ofList.keyId === keyId;
  const rows = [
    ...signers.map((row) => ({
      ...row,
      what: `${counted(row.parts, 'part')}${isOfList(row) ? ' and the list' : ''}`,
    })),
    ...(ofList === undefined || signers.some(isOfList) ? [] : [{ ...ofList, what: 'the list' }]),
  ];
  if (rows.length === 0) return fact(page, 'signed by', untrustedLine(findingsIn(report)).trim());
  const more = rows.length - MAX_KEYS;
  return [
    ...rows
      .slice(0, MAX_KEYS)
      .flatMap(({ issuer, keyId, what }, at) => [
        ...fact(page, at === 0 ? 'signed by' : '', `${issuer} (${what})`),
        ...labelled(page, '    ', printable(`key ${keyId}`)),
      ]),
    ...(more > 0 ? fact(page, '', `and ${counted(more, 'more key')}; --verbose lists them`) : []),
  ];
}

function drillWords(report: ExportReport | BundleReport): string | undefined {
  const parts = partsOf(report);
  const counts = countOutcomes(parts);
  const total = counts.reduce((sum, [, n]) => sum + n, 0);
  const left = parts.length - total;
  const words = counts.map(([verdict, n]) => `${count(n)} ${verdict}`);
  return [...words, ...(left > 0 ? [`${count(left)} not counted (failed, unsigned or not read)`] : [])].join(
    ', ',
  );
}

/** `2 × attestation.TIME_CLAIMED`, for each code of a severity. */
function countCodes(findings: readonly Finding[], severity: Severity): string | undefined {
  const codes = findings.filter((finding) => finding.severity === severity).map(({ code }) => code);
  const words = [...new Set(codes)].map((code) => {
    const times = codes.filter((other) => other === code).length;
    return times === 1 ? code : `${code} (${count(times)} times)`;
  });
  return words.length === 0 ? undefined : words.join(', ');
}
