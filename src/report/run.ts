import { count, countNoun } from '../bytes/text/wording.ts';
import {
  checkArguments,
  FLAG,
  type MembersOf,
  OBJECT,
  oneOf,
  optional,
  optionsOf,
  withMembers,
} from '../bytes/arguments.ts';
import { DrillproofError } from '../errors.ts';
import { allFindings } from '../verify/finding.ts';
import { type BundleReport, type ExportReport, type Run, type Verdict, VERDICTS } from '../verify/report.ts';
import { escapeText } from './printable.ts';
import { listFailures } from './text/headline.ts';

/** What the caller requires of a report, in addition to a good verdict (formats §4). */
export type Requirements = {
  /** Also passes `intact`: every byte matches, but no trusted signature was verified. */
  readonly accept?: 'intact';
  /** A digest covers every byte, apart from the claims of `export.json` and the files of a mirror. */
  readonly requireCoverage?: boolean;
  /** The list of bundles of an export is attested or pinned. */
  readonly requireList?: boolean;
};

/** Options that change the presentation, the output or the speed, but not the result. */
const PRESENTATION = new Set([
  'format',
  'json',
  'quiet',
  'verbose',
  'force',
  'textfile',
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

/** Formats a value with members as on the command line: `key.pem,issuer=acme`. */
function formatOption(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { file, ...members } = value as Readonly<Record<string, string | undefined>>;
  const words = Object.entries(members).map(([name, member]) => `,${name}=${member}`);
  return `${file}${words.join('')}`;
}

/** The exit code of a verdict (formats §4). `intact` passes only when the caller accepts it. */
export function exitOfVerdict(verdict: Verdict, acceptIntact: boolean): 0 | 1 | 3 {
  if (verdict === 'verified') return 0;
  if (verdict === 'intact') return acceptIntact ? 0 : 1;
  return verdict === 'incomplete' ? 3 : 1;
}

type Result = Pick<Run, 'exitCode'> & {
  readonly verdict: Verdict;
  readonly unmet: readonly { readonly requirement: keyof Requirements; readonly message: string }[];
};

/** Compares a report with requirements: a good verdict becomes `failed` if one is not met. */
function applyRequirements(report: ExportReport | BundleReport, requirements: Requirements): Result {
  const missing = listUnmet(report, requirements);
  const isGood = report.verdict === 'verified' || report.verdict === 'intact';
  const verdict = isGood && missing.length > 0 ? 'failed' : report.verdict;
  const acceptsIntact = requirements.accept === 'intact';
  const unmet = verdict === 'intact' && !acceptsIntact ? [...missing, UNACCEPTED] : missing;
  return { verdict, unmet, exitCode: exitOfVerdict(verdict, acceptsIntact) };
}

/** Adds the run to a report, so that the first line, the JSON verdict and the exit code agree about the requirements. */
export function finishReport(
  report: ExportReport | BundleReport,
  requirements: Requirements,
  run: Omit<Run, 'exitCode' | 'unmet'>,
): (ExportReport | BundleReport) & { readonly run: Run } {
  const { verdict, exitCode, unmet } = applyRequirements(report, requirements);
  const options = unmet.map(({ requirement, message }) => ({ requirement: OPTIONS[requirement], message }));
  return { ...report, verdict, run: { ...run, exitCode, unmet: options } };
}

const OPTIONS: Readonly<Record<keyof Requirements, string>> = {
  accept: '--accept intact',
  requireCoverage: '--require-coverage',
  requireList: '--require-list',
};

const REQUIREMENTS: MembersOf<Requirements> = {
  accept: optional(oneOf(['intact'])),
  requireCoverage: optional(FLAG),
  requireList: optional(FLAG),
};

/**
 * Throws unless `drillproof verify` would pass with the same requirements: the verdict is `verified`, or `intact` if that
 * is accepted, and each requirement holds (formats §4).
 * @param requirements.accept `intact` accepts evidence without a trusted signature, too
 * @param requirements.requireList the list of bundles is attested or pinned, so that none can be missing
 * @param requirements.requireCoverage a digest covers every byte, apart from the claims of `export.json`
 * @throws TypeError for an argument of the wrong kind; DrillproofError `expect.UNMET`, or `expect.UNDECIDED` if something
 *   could not be checked, with `verdict`, `unmet` and `findings` (the errors) in `details`
 * @example
 * assertVerified(report, { requireList: true, requireCoverage: true });
 */
export function assertVerified(report: ExportReport | BundleReport, requirements: Requirements = {}): void {
  checkArguments(
    {
      report: withMembers('a report on an export or a bundle', {
        kind: oneOf(['export', 'bundle']),
        verdict: oneOf(VERDICTS),
        coverage: OBJECT,
      }),
      requirements: optionsOf(REQUIREMENTS),
    },
    { report, requirements },
  );
  const { verdict, exitCode, unmet } = applyRequirements(report, requirements);
  if (exitCode === 0) return;
  const errors = allFindings(report).filter(({ severity }) => severity === 'error');
  const reasons = [
    ...unmet.map(({ requirement, message }) => `${requirement}: ${message}`),
    ...listFailures(report),
  ];
  const id = report.kind === 'export' ? report.evidenceExportId : report.evidenceBundleId;
  const name = `the ${report.kind} ${escapeText(id ?? 'without a readable id')}`;
  throw new DrillproofError(
    exitCode === 3 ? 'expect.UNDECIDED' : 'expect.UNMET',
    `${name} is ${verdict}${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`,
    { details: { verdict, unmet, findings: errors } },
  );
}

const UNACCEPTED = {
  requirement: 'accept',
  message: 'intact does not pass by itself, because a bundle has no verified signature of a trusted key',
} as const;

function listUnmet(
  report: ExportReport | BundleReport,
  { requireCoverage, requireList }: Requirements,
): Result['unmet'] {
  const list = report.kind === 'export' && report.completeness === 'claimed';
  return [
    ...(requireCoverage === true ? listUncovered(report) : []),
    ...(requireList === true && list
      ? [
          {
            requirement: 'requireList',
            message: 'the list of bundles is neither attested nor pinned',
          } as const,
        ]
      : []),
  ];
}

function listUncovered({ coverage }: Pick<ExportReport, 'coverage'>): Result['unmet'] {
  const bytes = coverage.totalBytes - coverage.coveredBytes;
  const files = coverage.uncovered.length;
  if (bytes === 0 && files === 0) return [];
  const where = files === 0 ? '' : `, ${countNoun(files, 'whole file')} among them`;
  const message = `no digest covers ${count(bytes)} of ${countNoun(coverage.totalBytes, 'byte')}${where}`;
  return [{ requirement: 'requireCoverage', message }];
}
