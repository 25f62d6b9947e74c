import type { BundleReport, ExportReport, Run, Verdict } from '../verify/index.ts';
import { count, countNoun } from './text/page.ts';

/** What the caller requires in addition to intact evidence, and what the caller accepts. */
export type Requirements = {
  readonly accept?: 'intact';
  readonly requireCoverage?: boolean;
  readonly requireList?: boolean;
};

/** Options that change how a result is shown, where it goes or how fast it comes, not what it is. */
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
  return Array.isArray(value) ? value.map((item: unknown) => optionWords(item)) : optionWords(value);
}

/** A value with members as it is written on the command line: `0/8`, or `key.pem,issuer=acme`. */
function optionWords(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const {
    index,
    count: shards,
    file,
    ...members
  } = value as Readonly<Record<string, string | number | undefined>>;
  if (file === undefined) return `${index}/${shards}`;
  const named = Object.entries(members).map(([name, member]) => `,${name}=${member}`);
  return `${file}${named.join('')}`;
}

/** The exit code of a verdict (formats §4). `intact` passes only when the caller accepts it. */
export function exitOfVerdict(verdict: Verdict, acceptIntact: boolean): 0 | 1 | 3 {
  if (verdict === 'verified') return 0;
  if (verdict === 'intact') return acceptIntact ? 0 : 1;
  return verdict === 'incomplete' ? 3 : 1;
}

/**
 * The report as the command answers: with the run, and `failed` where evidence is good but lacks what was required, so
 * that the first line, the JSON verdict and the exit code agree.
 */
export function finishReport(
  report: ExportReport | BundleReport,
  requirements: Requirements,
  run: Omit<Run, 'exitCode' | 'unmet'>,
): (ExportReport | BundleReport) & { readonly run: Run } {
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

function missingOf(
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
