import { count, countNoun, isoTime, joinWords } from '../../bytes/text/wording.ts';
import type {
  BundleReport,
  Coverage,
  ExportReport,
  Finding,
  Run,
  SignedBy,
  TrustUsed,
} from '../../verify/report.ts';
import { type Paint, percent, size, wrapIndented, wrapLabel, type Page } from './page.ts';
import type { Decision } from '../../policy/decision.ts';
import { escapeText, quoteShellWord } from '../printable.ts';
import { countSigners } from './tally.ts';

const NAME_WIDTH = 16;

export function formatFact(
  page: Page,
  name: string,
  value: string | undefined,
  tone?: keyof Paint,
): string[] {
  if (value === undefined) return [];
  const lines = wrapLabel(page, `  ${name.padEnd(NAME_WIDTH)}`, escapeText(value));
  return tone === undefined ? lines : lines.map(page.paint[tone]);
}

export function formatAsOf(page: Page, asOfMs: number): string[] {
  return formatFact(page, 'verified as of', isoTime(asOfMs));
}

export function formatTrust(page: Page, trust: TrustUsed | undefined): string[] {
  if (trust === undefined) return formatFact(page, 'trust store', 'none given');
  return [
    ...formatFact(page, 'trust store', trust.fingerprint),
    ...formatFact(page, '', `with ${countNoun(trust.keys, 'key')}`),
  ];
}

export function formatSigners(page: Page, signers: readonly SignedBy[], what = 'part'): string[] {
  return countSigners(signers).flatMap((row) => {
    const many = signers.length === 1 && what === '' ? '' : `, ${countNoun(row.parts, what)}`;
    const key = `${escapeText(row.issuer)}${many}`;
    return [
      ...wrapLabel(page, '  - ', key),
      ...wrapLabel(page, '    ', `key ${escapeText(row.keyId)}`),
      ...wrapIndented(page, `signed ${formatTimeRange(row.firstIssuedAtMs, row.lastIssuedAtMs)}`, 4),
    ];
  });
}

/** Explains why no signer is named. */
export function explainNoSigner(findings: readonly Finding[]): string {
  const hasNoStore = findings.some(({ code }) => code === 'trust.STORE_ABSENT');
  const few = findings.find(({ code }) => code === 'dsse.THRESHOLD_MISSED');
  if (few !== undefined) return `  too few trusted keys: ${few.actual} of ${few.expected}`;
  return hasNoStore ? '  unknown: no trusted keys were given' : '  no trusted key';
}

export const formatTimeRange = (firstMs: number, lastMs: number): string =>
  firstMs === lastMs ? isoTime(firstMs) : `${isoTime(firstMs)} to ${isoTime(lastMs)}`;

export function formatRunFact(page: Page, run: Run | undefined, call?: Call): string[] {
  if (run === undefined || page.width !== Infinity) return []; // a terminal shows the command itself
  return formatFact(page, 'run', formatRun(run, call));
}

/** A command and the paths that it reads. */
export type Call = readonly [command: 'verify' | 'gate', ...paths: string[]];

/** The call of a gate. A list names paths itself. */
export const findGateCall = ({ run, inputs }: Decision): Call => [
  'gate',
  ...(run?.options['list'] === undefined ? inputs.map(({ name }) => name) : []),
];

/** `drillproof verify ./mirror --trust trust.json, version 1.0.0, exit code 0`. */
export const formatRun = (run: Run, call?: Call): string => `${formatCall(run, call)}, ${formatEnd(run)}`;

export const formatEnd = ({ tool, exitCode }: Run): string =>
  `version ${tool.version}, exit code ${exitCode}`;

/** `drillproof verify ./mirror --trust trust.json`, for a shell. */
export function formatCall(
  {
    tool,
    path,
    options,
  }: Pick<Run, 'options'> & { readonly tool: { readonly name: string }; readonly path?: string },
  call?: Call,
): string {
  const [command, ...paths] = call ?? ['verify', ...(path === undefined ? [] : [path])];
  const flags = Object.entries(options).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter((word) => word !== false)
      .map((word) => (word === true ? `--${name}` : `--${name} ${formatOptionValue(name, word)}`)),
  );
  return [tool.name, command, ...paths.map(quotePath), ...flags].join(' ');
}

/** Quotes a path. One that begins with a dash would be read as an option. */
const quotePath = (path: string): string => quoteShellWord(path.startsWith('-') ? `./${path}` : path);

/** Formats a value as the command reads it: a time, a duration in seconds, or a word of a shell. */
function formatOptionValue(name: string, value: string | number): string {
  if (name === 'as-of') return isoTime(Number(value));
  return DURATIONS.has(name) ? `${Number(value) / 1000}s` : quoteShellWord(String(value));
}

/** Options whose values are milliseconds in a report, and whole seconds on the command line. */
const DURATIONS: ReadonlySet<string> = new Set(['timeout', 'wait']);

export function summarizeCoverage(report: ExportReport | BundleReport): string {
  const { totalBytes, coveredBytes, attestedBytes } = report.coverage;
  const signed = `${percent(attestedBytes, totalBytes)} of ${size(totalBytes)} under a trusted signature`;
  if (attestedBytes === totalBytes) return signed;
  if (attestedBytes === 0) return `${signed}, ${percent(coveredBytes, totalBytes)} under a digest`;
  const rest = (Math.ceil(((totalBytes - attestedBytes) / totalBytes) * 1000) / 10).toFixed(1);
  const parts = report.kind === 'export' ? listUnsigned(report) : ['ZIP metadata'];
  return `${signed}; ${rest} %: ${joinWords(parts)}, which no trusted key signs`;
}

function listUnsigned({ signer, parts, localReports, coverage, checks }: ExportReport): string[] {
  const rests = parts.filter((part) => part.coverage.attestedBytes < part.coverage.totalBytes);
  const unsigned = rests.filter((part) => part.coverage.attestedBytes === 0).length;
  const metadata = rests.length - unsigned;
  const isContainerUncovered =
    checks.some(({ id }) => id === 'export.container') &&
    rests.length + coverage.uncovered.length === 0 &&
    coverage.coveredBytes < coverage.totalBytes;
  return [
    ...(signer === undefined ? ['manifest.json'] : []),
    'export.json',
    ...(unsigned === 0 ? [] : [countNoun(unsigned, 'unverified part')]),
    ...(metadata === 0 ? [] : [`ZIP metadata of ${countNoun(metadata, 'part')}`]),
    ...(isContainerUncovered ? ['ZIP metadata of the export'] : []),
    ...(localReports.length === 0 ? [] : [countNoun(localReports.length, 'local report')]),
    ...(coverage.uncovered.length === 0
      ? []
      : [`${countNoun(coverage.uncovered.length, 'file')} without a digest`]),
  ];
}

const MAX_FILES = 10;

export function formatCoverage(page: Page, coverage: Coverage): string[] {
  const { totalBytes, coveredBytes, attestedBytes, uncovered, mirrorFiles } = coverage;
  return [
    `  ${count(totalBytes)} bytes examined${totalBytes < 1024 ? '' : ` (${size(totalBytes)})`}`,
    `  ${count(coveredBytes)} match a digest in the chain (${percent(coveredBytes, totalBytes)})`,
    `  ${count(attestedBytes)} are under a trusted signature (${percent(attestedBytes, totalBytes)})`,
    ...formatFiles(page, uncovered, 'that nothing covers'),
    ...formatFiles(page, mirrorFiles, 'of the mirror, outside coverage'),
  ];
}

function formatFiles(page: Page, files: readonly string[], which: string): string[] {
  if (files.length === 0) return [];
  const omitted = files.length - MAX_FILES;
  const names = files.slice(0, MAX_FILES).map(escapeText).join(', ');
  const rest = omitted > 0 ? ` and ${count(omitted)} more` : '';
  return wrapIndented(page, `${countNoun(files.length, 'file')} ${which}: ${names}${rest}`);
}
