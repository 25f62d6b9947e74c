import { type Code, codeEntry, isCode } from '../../codes/index.ts';
import type { ArchiveOutcome, ExportFailure } from '../../mirror/index.ts';
import { type ArchiveReport, count, counted, type ShardFacts, size } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { exitOfCode, worstExit } from '../shared/output/exit-codes.ts';
import { adviceFor } from '../shared/output/failure.ts';
import type { MirrorTally } from './tally.ts';
import { talliedText, transferText } from './output.ts';
import { writeProduct } from '../shared/output/product.ts';
import { facts, table } from '../shared/output/table.ts';

/** What is told of exports that were not meant, and of the share of them that this is about. */
export type Aside = {
  readonly left?: ReadonlyMap<string, number>;
  readonly older?: number;
  readonly shard?: ShardFacts;
};

type Failure = ArchiveReport['failures'][number];
type FailedFile = Failure['files'][number];

/** Files of one export that are named; the receipt of the export has all. */
const MAX_FILES = 10;

/** What became of many exports; `mirrored` has the digest of the manifest of each that is complete. */
export function archiveReport(
  outcome: ArchiveOutcome,
  mirrored: ReadonlyMap<string, string>,
  totals: MirrorTally,
  { left = new Map<string, number>(), older = 0, shard }: Aside,
): ArchiveReport {
  const { exports, complete, untried, failures, moreFailures, codes } = outcome;
  return {
    schemaVersion: 1,
    kind: 'mirror.archive',
    exports,
    complete,
    failed: failures.length + moreFailures,
    untried,
    older,
    left: Object.fromEntries(left),
    mirrored: [...mirrored].map(([evidenceExportId, manifestDigest]) => ({
      evidenceExportId,
      manifestDigest,
    })),
    transfer: transferOf(totals),
    failures: failures.map(failureRow),
    codes: [...codes].toSorted(),
    ...(shard !== undefined && { shard }),
  };
}

/** What was moved, for programs. */
export function transferOf(totals: MirrorTally): NonNullable<ArchiveReport['transfer']> {
  const { files, states, bytes, moved, retries, transferMs } = totals;
  return { files, ...states, bytes, transferredBytes: moved, retries, transferMs };
}

const failureRow = ({ evidenceExportId, error }: ExportFailure): Failure =>
  failureOf(evidenceExportId, error);

/** Why an export is not here, and which of its files. */
export const failureOf = (
  evidenceExportId: string,
  { code, message, details }: { code: Code; message: string; details?: Readonly<Record<string, unknown>> },
): Failure => ({
  evidenceExportId,
  code,
  message,
  action: codeEntry(code).action,
  files: filesOf(details),
});

/** Tells what became of many exports, and sets the exit code to the worst of it. */
export async function writeArchive(cli: Cli, report: ArchiveReport): Promise<void> {
  cli.exitCode = cli.signal.aborted ? EXIT.interrupted : exitOfArchive(report);
  await writeProduct(cli, report, archiveText(report));
}

/** The worst of what became of them. A shard may have none of them; a whole may not. */
function exitOfArchive({ exports, codes, shard }: ArchiveReport): ExitCode {
  if (exports === 0 && shard === undefined) return EXIT.unchecked;
  return worstExit([EXIT.pass, ...codes.map(exitOfCode)]);
}

/** For people: what there is of everything first, and last what failed and what to do about it. */
function archiveText(report: ArchiveReport): string {
  const { exports, complete, failed, untried, older, left, shard, run, transfer, failures } = report;
  const states = Object.entries(left);
  return [
    facts([
      ['shard', shard === undefined ? undefined : `${shard.index} of ${shard.count}, counted from 0`],
      ['run', run === undefined ? undefined : `${run.name}, ${counted(run.workers.length, 'worker')}`],
      [
        'exports',
        `${count(exports)}: ${count(complete)} complete, ${count(failed)} failed, ${count(untried)} untried`,
      ],
      [
        'left',
        states.length === 0 ? undefined : states.map(([state, times]) => `${times} ${state}`).join(', '),
      ],
      ['older', older === 0 ? undefined : counted(older, 'export')],
      ...(transfer === undefined ? [] : transferLines(transfer)),
    ]),
    failures.length === 0 ? '' : failuresText(failures, failed - failures.length),
  ].join('');
}

function transferLines(
  transfer: NonNullable<ArchiveReport['transfer']>,
): readonly (readonly [string, string | undefined])[] {
  const { files, bytes, transferredBytes: moved, retries, transferMs, ...states } = transfer;
  const done = Object.values(states).reduce((sum, times) => sum + times, 0);
  const told = `${count(done)} of ${counted(files, 'file')}, ${size(bytes)} (${talliedText({ states })})`;
  return [
    ['files', files === 0 ? undefined : told],
    ['transfer', transferText({ moved, retries, transferMs })],
  ];
}

function failuresText(failures: readonly Failure[], moreFailures: number): string {
  const more = moreFailures === 0 ? '' : `and ${counted(moreFailures, 'failure')} more\n`;
  const rows = failures.flatMap(({ evidenceExportId, code, message, files }) => [
    [evidenceExportId, code, message],
    ...fileRows(files),
  ]);
  const faults = failures.flatMap((failure) => [failure, ...failure.files]);
  const advice = adviceFor(faults).map((line) => `${line}\n`);
  return `\n${table(['failed', 'code', 'why'], rows)}${more}\n${advice.join('')}`;
}

function fileRows(files: readonly FailedFile[]): readonly (readonly string[])[] {
  const more = files.length - MAX_FILES;
  return [
    ...files.slice(0, MAX_FILES).map(({ path, code, message }) => [`  ${path}`, code, message]),
    ...(more > 0 ? [[`  and ${counted(more, 'file')} more`, '', '']] : []),
  ];
}

function filesOf(details: Readonly<Record<string, unknown>> | undefined): FailedFile[] {
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
