import { count, countNoun } from '../../bytes/text/wording.ts';
import { codeEntry } from '../../codes/catalogue.ts';
import { isCode } from '../../codes/facts.ts';
import { DrillproofError } from '../../errors.ts';
import { BAG_MANIFEST, CHECKSUMS } from '../../evidence/export/checksums.ts';
import type { ArchiveOutcome } from '../../mirror/archive.ts';
import type { FileState } from '../../mirror/run.ts';
import type { MirrorCheck } from '../../mirror/check.ts';
import type { MirrorReceipt } from '../../evidence/export/receipt.ts';
import { isS3Url } from '../../node/s3/location.ts';
import type { ArchiveReport } from '../../report/many/archives.ts';
import { size } from '../../report/text/page.ts';
import { quoteShellWord } from '../../report/printable.ts';
import type { Cli } from '../cli.ts';
import { formatTimeSpan } from '../shared/options/values.ts';
import { EXIT, type ExitCode, exitOfCode, worstExit } from '../exit.ts';
import { listAdvice } from '../shared/output/failure.ts';
import { alignFacts, formatTable, writeProduct } from '../shared/output/product.ts';
import { FILE_STATES, type MirrorTally } from './progress.ts';

const PROVEN = 'Every file that the manifest lists matches its digest. Verify the signatures with:';

/** Formats a receipt, and the command lines that verify the mirror again. */
export function formatReceipt(
  receipt: MirrorReceipt,
  to: string,
  { bagit = false }: { readonly bagit?: boolean },
  tally: MirrorTally,
): string {
  const { files, evidenceExportId, manifestDigest, withoutLocalReports } = receipt;
  const bytes = files.reduce((sum, file) => sum + Number(file.bytes), 0);
  const states = formatStates((state) => files.filter((file) => file.state === state).length);
  const lines = alignFacts([
    ['mirrored', evidenceExportId],
    [isS3Url(to) ? 'bucket' : 'folder', to],
    ['manifest', manifestDigest],
    ['files', `${countNoun(files.length, 'file')}, ${size(bytes)} (${states})`],
    ['transfer', formatTransfer(tally)],
    ['took', formatSpan(receipt.finishedAtMs - receipt.startedAtMs)],
    [
      'local reports',
      withoutLocalReports ? 'omitted, as requested: verify reports each as missing, and fails' : undefined,
    ],
  ]);
  const word = quoteShellWord(to);
  const checksums = bagit ? BAG_MANIFEST : CHECKSUMS;
  const alone = isS3Url(to) ? '' : `Without this tool:\n  (cd ${word} && sha256sum -c ${checksums})\n`;
  return `${lines}\n${PROVEN}\n  drillproof verify ${word} --trust trust.json --expect-manifest ${manifestDigest}\n${alone}`;
}

/** Formats the files of an incomplete mirror. The error names the failures. */
export const formatIncomplete = (tally: MirrorTally): string =>
  alignFacts([
    [
      'files',
      `${count(tally.done)} of ${countNoun(tally.files, 'file')}, ${size(tally.provenBytes)} (${formatTalliedStates(tally)})`,
    ],
    ['transfer', formatTransfer(tally)],
    ['failed', tally.failed === 0 ? undefined : countNoun(tally.failed, 'file')],
  ]);

const formatTalliedStates = ({ states }: Pick<MirrorTally, 'states'>): string =>
  formatStates((state) => states[state]);

function formatStates(timesOf: (state: FileState) => number): string {
  const counts = FILE_STATES.map((state) => [state, timesOf(state)] as const).filter(
    ([, times]) => times > 0,
  );
  return counts.length === 0 ? 'none' : counts.map(([state, times]) => `${count(times)} ${state}`).join(', ');
}

type Transfer = Pick<MirrorTally, 'moved' | 'transferMs' | 'retries'>;

/** Formats bytes, time and rate of the transfer; `undefined` without one. */
function formatTransfer({ moved, transferMs, retries }: Transfer): string | undefined {
  if (moved === 0 && retries === 0) return undefined;
  const rate = transferMs < 100 ? '' : `, ${size(Math.round((moved / transferMs) * 1000))}/s`;
  const again = retries === 0 ? '' : `; ${countNoun(retries, 'retry', 'retries')}`;
  return `${size(moved)} in ${formatSpan(transferMs)}${rate}${again}`;
}

const formatSpan = (ms: number): string => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : formatTimeSpan(ms));

const EXITS: Readonly<Record<MirrorCheck['outcome'], ExitCode>> = {
  complete: EXIT.pass,
  incomplete: EXIT.bad,
  unreadable: EXIT.unchecked,
};

export async function writeCheck(cli: Cli, check: MirrorCheck, to: string): Promise<void> {
  cli.exitCode = EXITS[check.outcome];
  await writeProduct(cli, { ...check }, formatMirrorCheck(check, to));
}

/** Throws for an incomplete mirror, which counts as failed among many. */
export function assertComplete({ outcome, files, faults }: MirrorCheck): void {
  if (outcome === 'complete') return;
  const worst =
    faults.find(({ found }) => found === 'missing' || found === 'damaged')?.code ??
    (faults.some(({ found }) => found === 'extra') ? 'mirror.TARGET_EXTRA' : 'io.UNREADABLE');
  const absent = faults.length === files && faults.every(({ found }) => found === 'missing');
  const failures = absent ? [] : faults.map(({ path, found, code }) => ({ path, code, message: found }));
  const message = absent
    ? `it is not in the target: ${countNoun(files, 'file')} missing`
    : `${countNoun(faults.length, 'fault')} in a mirror of ${countNoun(files, 'file')}`;
  throw new DrillproofError(worst, message, { details: { failures } });
}

function formatMirrorCheck(check: MirrorCheck, to: string): string {
  const { outcome, evidenceExportId, manifestDigest, files, bytes, faults } = check;
  const rows = faults.map((fault) => [fault.found, fault.path, fault.code, size(fault.bytes)]);
  const lines = alignFacts([
    [outcome, evidenceExportId],
    ['place', to],
    ['manifest', manifestDigest],
    ['files', `${countNoun(files, 'file')}, ${size(bytes)}; ${faults.length} missing, damaged or extra`],
  ]);
  return rows.length === 0 ? lines : `${lines}\n${formatTable(['found', 'file', 'code', 'size'], rows)}`;
}

export type Discovery = {
  readonly deleted?: readonly string[];
  readonly unavailable?: ReadonlyMap<string, number>;
  readonly kept?: number;
};

type FailedExport = ArchiveReport['failures'][number];
type FailedFile = FailedExport['files'][number];

const MAX_FILES = 10;

type Outcome = Omit<ArchiveOutcome, 'failures'> & {
  readonly failures: readonly { readonly evidenceExportId: string; readonly error: ExportError }[];
};

/** Builds the report on many exports, of which `mirrored` are complete. */
export function buildArchiveReport(
  outcome: Outcome,
  mirrored: ArchiveReport['mirrored'],
  { unavailable = new Map<string, number>(), kept = 0 }: Discovery,
): ArchiveReport {
  const { exports, complete, untried, failures, moreFailures, codes } = outcome;
  return {
    schemaVersion: 1,
    kind: 'mirror.archive',
    exports,
    complete,
    failed: failures.length + moreFailures,
    untried,
    kept,
    unavailable: Object.fromEntries(unavailable),
    mirrored,
    failures: failures.map(({ evidenceExportId, error }) => formatFailure(evidenceExportId, error)),
    codes: [...codes].toSorted(),
  };
}

export function describeTransfer(totals: MirrorTally): NonNullable<ArchiveReport['transfer']> {
  const { files, states, bytes, moved, retries, transferMs } = totals;
  return { files, ...states, bytes, transferredBytes: moved, retries, transferMs };
}

type ExportError = Pick<DrillproofError, 'code' | 'message' | 'details'>;

const formatFailure = (evidenceExportId: string, { code, message, details }: ExportError): FailedExport => ({
  evidenceExportId,
  code,
  message,
  action: codeEntry(code).action,
  files: listFailedFiles(details),
});

export async function writeArchive(cli: Cli, report: ArchiveReport): Promise<void> {
  cli.exitCode = cli.signal.aborted ? EXIT.interrupted : findArchiveExit(report);
  await writeProduct(cli, report, formatArchive(report));
}

const findArchiveExit = ({ exports, kept, codes }: ArchiveReport): ExitCode =>
  exports + kept === 0 ? EXIT.unchecked : worstExit([EXIT.pass, ...codes.map(exitOfCode)]);

function formatArchive(report: ArchiveReport): string {
  const { exports, complete, failed, untried, kept, unavailable, run, transfer, missing, failures } = report;
  const { deletedAtSource = [] } = report;
  const states = Object.entries(unavailable);
  return [
    alignFacts([
      ['run', run === undefined ? undefined : `${run.name}, ${countNoun(run.workers.length, 'worker')}`],
      [
        'exports',
        `${count(exports)}: ${count(complete)} ${missing ? 'examined' : 'complete'}, ${count(failed)} failed, ${count(untried)} untried`,
      ],
      [
        'unavailable',
        states.length === 0 ? undefined : states.map(([state, times]) => `${times} ${state}`).join(', '),
      ],
      [
        'missing',
        missing &&
          `${countNoun(missing.exports, 'export')}, ${countNoun(missing.files, 'file')}, ${size(missing.bytes)}`,
      ],
      ...deletedAtSource
        .slice(0, MAX_DELETED)
        .map(({ evidenceExportId, mirror }) => ['deleted', `${evidenceExportId}, mirror ${mirror}`] as const),
      ['deleted', restOf(deletedAtSource.length - MAX_DELETED)],
      ['kept', kept === 0 ? undefined : `${countNoun(kept, 'export')} that the inventory names, not read`],
      ...(transfer === undefined ? [] : listTransferFacts(transfer)),
    ]),
    failures.length === 0 ? '' : formatFailures(failures, failed - failures.length),
  ].join('');
}

/** Deleted exports that are listed; the JSON has all. */
const MAX_DELETED = 20;
const restOf = (more: number): string | undefined => (more > 0 ? `and ${count(more)} more` : undefined);

function listTransferFacts(
  transfer: NonNullable<ArchiveReport['transfer']>,
): readonly (readonly [string, string | undefined])[] {
  const { files, bytes, transferredBytes: moved, retries, transferMs, ...states } = transfer;
  const done = Object.values(states).reduce((sum, times) => sum + times, 0);
  const text = `${count(done)} of ${countNoun(files, 'file')}, ${size(bytes)} (${formatTalliedStates({ states })})`;
  return [
    ['files', files === 0 ? undefined : text],
    ['transfer', formatTransfer({ moved, retries, transferMs })],
  ];
}

function formatFailures(failures: readonly FailedExport[], moreFailures: number): string {
  const more = moreFailures === 0 ? '' : `and ${countNoun(moreFailures, 'failure')} more\n`;
  const rows = failures.flatMap(({ evidenceExportId, code, message, files }) => [
    [evidenceExportId, code, message],
    ...listFileRows(files),
  ]);
  const faults = failures.flatMap((failure) => [failure, ...failure.files]);
  const advice = listAdvice(faults).map((line) => `${line}\n`);
  return `\n${formatTable(['failed', 'code', 'why'], rows)}${more}\n${advice.join('')}`;
}

function listFileRows(files: readonly FailedFile[]): readonly (readonly string[])[] {
  const more = files.length - MAX_FILES;
  return [
    ...files.slice(0, MAX_FILES).map(({ path, code, message }) => [`  ${path}`, code, message]),
    ...(more > 0 ? [[`  and ${countNoun(more, 'file')} more`, '', '']] : []),
  ];
}

function listFailedFiles(details: Readonly<Record<string, unknown>> | undefined): FailedFile[] {
  const failures: unknown = details?.['failures'];
  return Array.isArray(failures) ? failures.filter(isFailedFile) : [];
}

const isFailedFile = (value: unknown): value is FailedFile =>
  typeof value === 'object' &&
  value !== null &&
  'path' in value &&
  'message' in value &&
  'code' in value &&
  typeof value.code === 'string' &&
  isCode(value.code);
