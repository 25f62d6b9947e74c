import { count, counted } from '../../report/index.ts';
import type { BundleReport, ExportReport, Run } from '../../verify/index.ts';
import { exitOfVerdict } from '../shared/output/exit-codes.ts';

/** What the caller requires besides intact evidence, and what the caller accepts. */
export type Requirements = {
  readonly accept?: 'intact';
  readonly requireCoverage?: boolean;
  readonly requireList?: boolean;
};

type Judged = ExportReport | BundleReport;

/**
 * The report as the command answers: with the run, and `failed` where evidence is good but lacks what was required, so
 * that the first line, the JSON verdict and the exit code agree.
 */
export function finishReport(
  report: Judged,
  requirements: Requirements,
  run: Omit<Run, 'exitCode' | 'unmet'>,
): Judged & { readonly run: Run } {
  const missing = missingOf(report, requirements);
  const isGood = report.verdict === 'verified' || report.verdict === 'intact';
  const verdict = isGood && missing.length > 0 ? 'failed' : report.verdict;
  const accepted = requirements.accept === 'intact';
  const unaccepted = verdict === 'intact' && !accepted ? [UNACCEPTED] : [];
  const exitCode = exitOfVerdict(verdict, accepted);
  return { ...report, verdict, run: { ...run, exitCode, unmet: [...missing, ...unaccepted] } };
}

const UNACCEPTED = {
  requirement: '--accept intact',
  message: 'not given, so intact does not pass',
};

function missingOf(report: Judged, { requireCoverage, requireList }: Requirements): Run['unmet'] {
  const list = report.kind === 'export' && report.completeness === 'claimed';
  return [
    ...(requireCoverage === true ? uncovered(report) : []),
    ...(requireList === true && list
      ? [{ requirement: '--require-list', message: 'the list of bundles is neither attested nor pinned' }]
      : []),
  ];
}

function uncovered({ coverage }: Judged): Run['unmet'] {
  const bytes = coverage.totalBytes - coverage.coveredBytes;
  const files = coverage.uncovered.length;
  if (bytes === 0 && files === 0) return [];
  const where = files === 0 ? '' : `, ${counted(files, 'whole file')} among them`;
  const message = `no digest covers ${count(bytes)} of ${counted(coverage.totalBytes, 'byte')}${where}`;
  return [{ requirement: '--require-coverage', message }];
}
