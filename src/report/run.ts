import type { BundleReport, ExportReport, Run, Verdict } from '../verify/report.ts';
import { count, countNoun } from './text/page.ts';

export type Requirements = {
  readonly accept?: 'intact';
  readonly requireCoverage?: boolean;
  readonly requireList?: boolean;
};

/** Options that change the presentation, the output or the speed, but not the result. */
const PRESENTATION = new Set([
  'format',
  'json',
  'quiet',
  'verbose',
  'force',
  'jobs',
  'sign',
  'signer',
  'publicKey',
  'signerTimeout',
  'issuer',
  'previous',
  'sarifCategory',
  'stepSummary',
  'vsaSigner',
]);

/** The options of a run by their names without dashes, as reports state them. */
export const describeOptions = (options: object): Run['options'] =>
  Object.fromEntries(
    Object.entries(options)
      .filter(([name, value]) => value !== undefined && !PRESENTATION.has(name))
      .map(([name, value]: [string, unknown]) => [toKebab(name), toPlainValue(value)]),
  );

const toKebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function toPlainValue(value: unknown): Run['options'][string] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) ? value.map((item: unknown) => formatOption(item)) : formatOption(value);
}

/** Formats a value with members as on the command line: `0/8`, or `key.pem,issuer=acme`. */
function formatOption(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const {
    index,
    count: shards,
    file,
    ...members
  } = value as Readonly<Record<string, string | number | undefined>>;
  if (file === undefined) return `${index}/${shards}`;
  const words = Object.entries(members).map(([name, member]) => `,${name}=${member}`);
  return `${file}${words.join('')}`;
}

/** The exit code of a verdict (formats §4). `intact` passes only when the caller accepts it. */
export function exitOfVerdict(verdict: Verdict, acceptIntact: boolean): 0 | 1 | 3 {
  if (verdict === 'verified') return 0;
  if (verdict === 'intact') return acceptIntact ? 0 : 1;
  return verdict === 'incomplete' ? 3 : 1;
}

/**
 * Adds the run to a report. A good verdict becomes `failed` if a requirement is not met, so that the first line, the JSON
 * verdict and the exit code agree.
 */
export function finishReport(
  report: ExportReport | BundleReport,
  requirements: Requirements,
  run: Omit<Run, 'exitCode' | 'unmet'>,
): (ExportReport | BundleReport) & { readonly run: Run } {
  const missing = listUnmet(report, requirements);
  const isGood = report.verdict === 'verified' || report.verdict === 'intact';
  const verdict = isGood && missing.length > 0 ? 'failed' : report.verdict;
  const acceptsIntact = requirements.accept === 'intact';
  const unaccepted = verdict === 'intact' && !acceptsIntact ? [UNACCEPTED] : [];
  const exitCode = exitOfVerdict(verdict, acceptsIntact);
  return { ...report, verdict, run: { ...run, exitCode, unmet: [...missing, ...unaccepted] } };
}

const UNACCEPTED = {
  requirement: '--accept intact',
  message: 'not given, so intact does not pass',
};

function listUnmet(
  report: ExportReport | BundleReport,
  { requireCoverage, requireList }: Requirements,
): Run['unmet'] {
  const list = report.kind === 'export' && report.completeness === 'claimed';
  return [
    ...(requireCoverage === true ? listUncovered(report) : []),
    ...(requireList === true && list
      ? [{ requirement: '--require-list', message: 'the list of bundles is neither attested nor pinned' }]
      : []),
  ];
}

function listUncovered({ coverage }: Pick<ExportReport, 'coverage'>): Run['unmet'] {
  const bytes = coverage.totalBytes - coverage.coveredBytes;
  const files = coverage.uncovered.length;
  if (bytes === 0 && files === 0) return [];
  const where = files === 0 ? '' : `, ${countNoun(files, 'whole file')} among them`;
  const message = `no digest covers ${count(bytes)} of ${countNoun(coverage.totalBytes, 'byte')}${where}`;
  return [{ requirement: '--require-coverage', message }];
}
