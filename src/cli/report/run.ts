import { defined } from '../../bytes/index.ts';
import { codeEntry } from '../../codes/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  exitOfVerdict,
  type ArchiveReport,
  assertWholeOfShards,
  MAX_REPORT_BYTES,
  type Mergeable,
  mergeArchives,
  type MergedScrub,
  mergeResults,
  mergeScrubs,
  type Named,
  type PathResult,
  readMergeable,
  type ReportsReport,
  type ScrubReport,
  stableJson,
} from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { writeArchive } from '../mirror/output.ts';
import { createTally, writeScrub } from '../scrub/output.ts';
import { readInput } from '../shared/input/input.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import type { Failure } from '../shared/output/failure.ts';
import { describeRun } from '../shared/output/version.ts';
import { writeResults } from '../verify/output.ts';

/**
 * Merges reports, writes the result, and sets the exit code to the worst of them.
 * @throws DrillproofError `report.UNREADABLE`, `report.MERGE_MIXED`, `report.MERGE_CONFLICT`, `report.SHARD_MISSING`
 */
export async function mergeFiles(cli: Cli, files: readonly string[]): Promise<void> {
  if (files.filter((file) => file === '-').length > 1)
    throw usageError('standard input is given twice', 'Name a file for one of the reports.');
  const reports: Named<Mergeable>[] = [];
  for (const file of files) {
    const name = file === '-' ? 'standard input' : file;
    reports.push({ name, report: readMergeable(await readInput(file, MAX_REPORT_BYTES, cli), name) });
  }
  assertOneKind(reports);
  assertWholeOfShards(reports);
  await writeMerged(cli, distinct(reports));
}

function distinct(reports: readonly Named<Mergeable>[]): readonly Named<Mergeable>[] {
  const byText = new Map(reports.map((one) => [stableJson(one.report), one]));
  return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
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
  const archives = reports.filter(isArchive);
  const scrubs = reports.filter(isScrub);
  if (archives.length > 0) return writeArchive(cli, mergeArchives(archives));
  if (scrubs.length > 0) return writeMergedScrub(cli, mergeScrubs(scrubs));
  return writeVerified(cli, mergeResults(reports.filter(isVerified)));
}

const isArchive = (one: Named<Mergeable>): one is Named<ArchiveReport> =>
  one.report.kind === 'mirror.archive';
const isScrub = (one: Named<Mergeable>): one is Named<ScrubReport> => one.report.kind === 'scrub';
const isVerified = (one: Named<Mergeable>): one is Named<ReportsReport> => one.report.kind === 'reports';

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
    const exit = passed ? EXIT.pass : failedExit(result);
    await writer.add(
      result.kind === 'error' ? { path, exit, failure: failureIn(result) } : { path, exit, report: result },
    );
  }
  await writer.end();
}

function failedExit(result: PathResult['result']): ExitCode {
  if (result.kind === 'error') return result.exitCode;
  const exit = exitOfVerdict(result.verdict, false);
  // What is verified and did not pass lacks the coverage that was asked for.
  return exit === EXIT.pass ? EXIT.bad : exit;
}

function failureIn(result: Extract<PathResult['result'], { kind: 'error' }>): Failure {
  const { code, message, path, details, exitCode } = result;
  return { code, message, action: codeEntry(code).action, ...defined({ path, details }), exit: exitCode };
}
