import { verdictLines } from './brief.ts';
import type { BundleReport, ExportReport, Verdict } from '../../verify/index.ts';
import { caveatsOf } from './caveats.ts';
import { checkLines, manyCheckLines } from './checks.ts';

import {
  asOfFact,
  completenessLines,
  coverageLines,
  fact,
  runFact,
  signerLines,
  trustFacts,
  untrustedLine,
  VERDICT_PAINT,
} from './facts.ts';
import { count, counted, firstLines, indented, labelled, sections, type Page } from './page.ts';
import { printable } from '../printable.ts';
import { closing, findingsIn } from './findings.ts';
import { partsSummary } from './headline.ts';
import { countOutcomes, isOutcomeCounted, verdictCounts } from './tally.ts';

const MAX_PARTS = 20;
const GOOD_OUTCOME = 'passed';

/** The report of an export as text: the verdict first, the failures last. */
export function exportText(page: Page, report: ExportReport): string[] {
  const partChecks = report.parts.map((part) => part.checks);
  const localChecks = report.localReports.map((local) => local.checks);
  return [
    ...verdictLines(page, report),
    ...sections(page, [
      { title: 'Export', lines: identity(page, report) },
      { title: 'Checked of the export', lines: checkLines(page, report.checks) },
      {
        title: `Checked of ${counted(report.parts.length, 'part')}`,
        lines: manyCheckLines(page, partChecks),
      },
      { title: 'Parts', lines: partLines(page, report.parts) },
      { title: 'Drill outcomes', lines: outcomeLines(page, report.parts) },
      { title: 'Signed by', lines: signers(page, report) },
      { title: 'Completeness', lines: completenessLines(page, report.completeness) },
      { title: 'Byte coverage', lines: coverageLines(page, report.coverage) },
      { title: 'Local reports', lines: localLines(page, report) },
      ...closing(
        page,
        [[report.checks], partChecks, localChecks],
        findingsIn(report),
        caveatsOf('export', report),
      ),
    ]),
    '',
    ...verdictLines(page, report),
  ];
}

function identity(page: Page, report: ExportReport): string[] {
  return [
    ...fact(page, 'export', report.evidenceExportId),
    ...fact(page, 'organization', report.organizationId),
    ...fact(page, 'manifest', report.manifestDigest),
    ...asOfFact(page, report.asOfMs),
    ...fact(page, 'depth', report.depth),
    ...trustFacts(page, report.trust),
    ...runFact(page, report.run),
  ];
}

function partLines(page: Page, parts: readonly BundleReport[]): string[] {
  const best = parts.some(({ verdict }) => verdict === 'verified') ? 'verified' : 'intact';
  const worse = parts.filter(({ verdict }) => verdict !== best);
  return [
    `  ${partsSummary(parts)}`,
    ...firstLines(worse, MAX_PARTS, ({ verdict, evidenceBundleId, path, findings }) => {
      const reason = findings.find(({ severity }) => severity === 'error')?.code ?? '';
      const name = printable(evidenceBundleId ?? path ?? 'a part');
      return verdictLine(page, verdict, `${name} ${reason}`.trimEnd());
    }),
  ];
}

const verdictLine = (page: Page, verdict: Verdict, text: string): string[] =>
  labelled(page, `  ${verdict.padEnd(10)}  `, text, page.paint[VERDICT_PAINT[verdict]]);

function outcomeLines(page: Page, parts: readonly BundleReport[]): string[] {
  const counts = countOutcomes(parts);
  if (counts.length === 0) return [];
  const summary = counts.map(([verdict, n]) => `${count(n)} ${printable(verdict)}`).join(', ');
  const unknown = parts.filter((part) => !isOutcomeCounted(part)).length;
  const others = parts.filter((part) => isOutcomeCounted(part) && part.outcome?.verdict !== GOOD_OUTCOME);
  return [
    ...indented(
      page,
      `${summary}${unknown === 0 ? '' : `, ${count(unknown)} not counted (failed, unsigned or not read)`}`,
    ),
    ...firstLines(others, MAX_PARTS, (part) => outcomeLine(page, part)),
  ];
}

function outcomeLine(page: Page, { outcome, evidenceBundleId }: BundleReport): string[] {
  if (outcome === undefined) return [];
  const what = `${outcome.verdict}: ${outcome.drillId} on ${outcome.targetId}`;
  return labelled(page, '  - ', printable(`${what} (${evidenceBundleId ?? 'no id'})`));
}

function signers(page: Page, report: ExportReport): string[] {
  const ofParts = report.parts.flatMap(({ signer }) => (signer === undefined ? [] : [signer]));
  const unsigned = report.parts.filter(({ signed }) => !signed).length;
  const list = report.signer === undefined ? [] : [report.signer];
  const lines = [
    ...signerLines(page, ofParts, 'part'),
    ...signerLines(page, list, 'list'),
    ...(unsigned === 0 ? [] : [`  - no key: ${counted(unsigned, 'unsigned part')}`]),
  ];
  const findings = report.parts.flatMap((part) => part.findings);
  return lines.length === 0 && report.parts.length > 0 ? [untrustedLine(findings)] : lines;
}

function localLines(page: Page, { localReports }: ExportReport): string[] {
  if (localReports.length === 0) return [];
  const summary = verdictCounts(localReports.map(({ verdict }) => verdict));
  return [
    `  ${summary.map(([verdict, n]) => `${count(n)} ${verdict}`).join(', ')} (user-produced, unattested)`,
    ...manyCheckLines(
      page,
      localReports.map(({ checks }) => checks),
    ),
    ...firstLines(
      localReports.filter(({ verdict }) => verdict !== 'intact'),
      MAX_PARTS,
      ({ verdict, localReportId }) => verdictLine(page, verdict, printable(localReportId)),
    ),
  ];
}
