import { defined } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { codeEntry } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import { exitOfVerdict } from '../../report/run.ts';
import { type ArchiveReport, mergeArchives } from '../../report/merge/archives.ts';
import { assertWholeOfShards, type Named } from '../../report/merge/shard.ts';
import {
  MAX_REPORT_BYTES,
  type Mergeable,
  mergeResults,
  type PathResult,
  readMergeable,
  type ReportsReport,
} from '../../report/merge/reports.ts';
import { type MergedScrub, mergeScrubs, type ScrubReport } from '../../report/merge/scrubs.ts';
import { stableJson } from '../../report/json.ts';
import {
  type ChainOptions,
  orderSignedReports,
  type ReportChain,
  verifyReportChain,
} from '../../report/signed/chain.ts';
import { type HistoryEntry, renderChainPage, renderHistoryPage } from '../../report/html/pages/history.ts';
import { MAX_SIGNED_BYTES, openReport, type OpenedReport } from '../../report/signed/statement.ts';
import type { ReportFormat } from '../../report/text/text.ts';
import type { Cli } from '../cli.ts';
import { writeArchive } from '../mirror/output.ts';
import { loadCharts } from './charts.ts';
import { createTally, writeScrub } from '../scrub/output.ts';
import { formatInputName, readEvidenceInput, readInput, withFileName } from '../shared/input/input.ts';
import { usageError, type FormatTarget } from '../shared/options/values.ts';
import { EXIT, EXIT_OF_SIGNED, type ExitCode } from '../shared/output/exit.ts';
import type { Failure } from '../shared/output/failure.ts';
import { describeRun, alignFacts, formatTable } from '../shared/output/product.ts';
import { writeResults } from '../verify/output.ts';
import { readTrust } from '../shared/input/trust.ts';
import { checkOutputFile, writeBytes } from '../shared/output/output-file.ts';
import { type FormatOptions, planOutputs, writeRenderings } from '../shared/output/targets.ts';

export async function mergeFiles(cli: Cli, files: readonly string[]): Promise<void> {
  if (files.filter((file) => file === '-').length > 1)
    throw usageError('standard input is given twice', 'Name a file for one of the reports.');
  const reports: Named<Mergeable>[] = [];
  for (const file of files) {
    const name = formatInputName(file);
    reports.push({ name, report: readMergeable(await readInput(file, MAX_REPORT_BYTES, cli), name) });
  }
  assertOneKind(reports);
  assertWholeOfShards(reports);
  await writeMerged(cli, removeEqualReports(reports));
}

function removeEqualReports(reports: readonly Named<Mergeable>[]): readonly Named<Mergeable>[] {
  const byText = new Map(reports.map((report) => [stableJson(report.report), report]));
  return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report);
}

function assertOneKind(reports: readonly Named<Mergeable>[]): void {
  const kinds = [...new Set(reports.map(({ report }) => report.kind))].toSorted();
  if (kinds.length > 1)
    throw new DrillproofError(
      'report.MERGE_MIXED',
      `the reports are of different kinds: ${kinds.join(', ')}`,
    );
}

async function writeMerged(cli: Cli, reports: readonly Named<Mergeable>[]): Promise<void> {
  const archives = reports.filter(
    (item): item is Named<ArchiveReport> => item.report.kind === 'mirror.archive',
  );
  const scrubs = reports.filter((item): item is Named<ScrubReport> => item.report.kind === 'scrub');
  const verified = reports.filter((item): item is Named<ReportsReport> => item.report.kind === 'reports');
  if (archives.length > 0) return writeArchive(cli, mergeArchives(archives));
  if (scrubs.length > 0) return writeMergedScrub(cli, mergeScrubs(scrubs));
  return writeVerified(cli, mergeResults(verified));
}

async function writeMergedScrub(cli: Cli, merged: MergedScrub): Promise<void> {
  const { place, moreFaults, strays, mirrors } = merged;
  if (mirrors.length === 0) throw new DrillproofError('scrub.NOTHING_FOUND', 'the reports contain no mirror');
  const { totals, add } = createTally({ strays });
  for (const mirror of mirrors) add(mirror);
  await writeScrub(cli, { ...totals, moreFaults: totals.moreFaults + moreFaults }, place);
}

async function writeVerified(cli: Cli, results: readonly PathResult[]): Promise<void> {
  const writer = await writeResults(
    cli,
    { shown: cli.format, files: [], force: false },
    { many: true, run: await describeRun({}) },
  );
  for (const { path, passed, result } of results) {
    const exit = passed ? EXIT.pass : findFailedExit(result);
    await writer.add(
      result.kind === 'error'
        ? { path, exit, failure: readFailureIn(result) }
        : { path, exit, report: result },
    );
  }
  await writer.end();
}

function findFailedExit(result: PathResult['result']): ExitCode {
  if (result.kind === 'error') return result.exitCode;
  const exit = exitOfVerdict(result.verdict, false);
  // A verified result that did not pass lacks the required coverage.
  return exit === EXIT.pass ? EXIT.bad : exit;
}

function readFailureIn(result: Extract<PathResult['result'], { kind: 'error' }>): Failure {
  const { code, message, path, details, exitCode } = result;
  return { code, message, action: codeEntry(code).action, ...defined({ path, details }), exit: exitCode };
}

type TrustedOptions = { readonly trust?: readonly string[]; readonly asOf?: number };
export type ChainCommandOptions = TrustedOptions &
  FormatOptions<ReportFormat> & { readonly after?: Digest; readonly expectLast?: Digest };
export type HistoryOptions = TrustedOptions & {
  readonly format: FormatTarget<'html'>;
  readonly force?: boolean;
};

export async function verifyChain(
  cli: Cli,
  names: readonly string[],
  options: ChainCommandOptions,
): Promise<void> {
  const outputs = await planOutputs(cli, options);
  const { asOf = cli.now(), after, expectLast } = options;
  const trust = await readTrust(cli, options);
  const files = await readFiles(cli, names);
  const chain = verifyReportChain(files, { asOfMs: asOf, ...defined({ trust, after, expectLast }) });
  cli.exitCode = EXIT_OF_SIGNED[chain.verdict];
  await writeRenderings(cli, outputs, {
    text: () => formatChain(chain),
    json: () => stableJson(chain),
    html: () => renderChainPage(chain),
  });
}

async function readFiles(cli: Cli, names: readonly string[]): Promise<readonly Named<Uint8Array>[]> {
  const files: Named<Uint8Array>[] = [];
  for (const name of names)
    files.push({ name, report: await readEvidenceInput(name, MAX_SIGNED_BYTES, cli) });
  return files;
}

const WORDS = { valid: 'VALID', invalid: 'INVALID', not_judged: 'NOT JUDGED' } as const;

function formatChain({ verdict, reports, findings }: ReportChain): string {
  const rows = reports.map(({ name, sequence, issuer, report, digest }) => [
    sequence === undefined ? '' : String(sequence),
    name,
    issuer ?? '',
    report === undefined ? 'not read' : `${report.kind} ${report.result}`,
    digest ?? '',
  ]);
  const problems = findings.map(({ code, subject, message, expected, actual }) =>
    alignFacts([
      [code, `${subject}: ${message}`],
      ['expected', expected],
      ['actual', actual],
      ['to do', codeEntry(code).action],
    ]),
  );
  const head = `${WORDS[verdict]} chain of ${reports.length} signed ${reports.length === 1 ? 'report' : 'reports'}\n`;
  return [head, formatTable(['#', 'REPORT', 'SIGNED BY', 'RESULT', 'DIGEST'], rows), ...problems].join('');
}

/** Writes a page about many reports. If reports are signed, their chain decides the exit code. */
export async function showHistory(
  cli: Cli,
  names: readonly string[],
  options: HistoryOptions,
): Promise<void> {
  const { format, force = false, asOf = cli.now() } = options;
  const { file = '-' } = format;
  if (file !== '-') await checkOutputFile(cli, file, force);
  const trust = await readTrust(cli, options);
  const reports = (await readFiles(cli, names)).map(openFile);
  const chain = findChain(reports, { asOfMs: asOf, ...defined({ trust }) });
  const entries = reports.map(({ name, report, signed }): HistoryEntry =>
    defined({ name, report, issuedAtMs: signed?.issuedAtMs }),
  );
  const draw = await loadCharts();
  const page = renderHistoryPage(entries, { asOfMs: asOf, draw, ...defined({ trust, chain }) });
  cli.exitCode = chain === undefined ? EXIT.pass : EXIT_OF_SIGNED[chain.verdict];
  await writeBytes(cli, file, [Buffer.from(page)], { force });
}

type Opened = OpenedReport & { readonly name: string; readonly bytes: Uint8Array };

const openFile = ({ name, report: bytes }: Named<Uint8Array>): Opened => ({
  name,
  bytes,
  ...withFileName(name, () => openReport(bytes)),
});

/** Verifies the signed reports as a chain, in the order of their numbers. */
function findChain(reports: readonly Opened[], options: ChainOptions): ReportChain | undefined {
  const files = reports.flatMap(({ name, bytes, signed }) =>
    signed === undefined ? [] : [{ name, report: bytes }],
  );
  return files.length === 0 ? undefined : verifyReportChain(orderSignedReports(files), options);
}
