import type { Digest } from '../bytes/hash.ts';
import { openEvidence, type OpenEvidence } from '../node/open-evidence.ts';
import { verifyDirectory } from '../node/verify-directory.ts';
import type { BundleReport, Depth, ExportReport, Report } from '../verify/report.ts';
import {
  verifyExport,
  verifyPart,
  type Expectations,
  type VerifyOptions,
  type VerifyProgress,
} from '../verify/index.ts';
import { say, type Cli } from './cli.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { exitOfVerdict, worstExit } from './exit-codes.ts';
import { failureOf } from './failure.ts';
import { createProgress } from './progress.ts';
import type { TrustOptions } from './trust-options.ts';
import { readTrust } from './trusting.ts';
import { usageError } from './usage.ts';
import { targetsOf, writeResults, type Result, type Target } from './verify-output.ts';

/** What the command line says, parsed. */
export type VerifyCommandOptions = TrustOptions & {
  readonly expectManifest?: Digest;
  readonly expectExport?: string;
  readonly expectOrganization?: string;
  readonly expectProject?: string;
  readonly expectBundles?: number;
  readonly accept?: 'intact';
  readonly asOf?: number;
  readonly depth: Depth;
  readonly jobs: number;
  readonly secondOpinion?: boolean;
  readonly requireCoverage?: boolean;
  readonly format?: readonly Target[];
  readonly json?: boolean;
  readonly force?: boolean;
};

/** Judges every path, writes the reports, and sets the exit code to the worst of them. */
export async function verify(
  cli: Cli,
  paths: readonly string[],
  options: VerifyCommandOptions,
): Promise<void> {
  const targets = targetsOf(options.format ?? [], options.json === true);
  if (targets[0] === 'json') cli.format = 'json';
  const how = await verifyOptions(cli, options);
  const results: Result[] = [];
  for (const path of paths) results.push(await judged(cli, path, how, options, paths.length > 1));
  await writeResults(cli, results, targets, options.force === true);
  const exits = results.map((result) => exitOf(result, options));
  cli.exitCode = worstExit(exits);
  if (options.requireCoverage === true) await sayUncovered(cli, results);
}

async function verifyOptions(cli: Cli, options: VerifyCommandOptions): Promise<VerifyOptions> {
  const trust = await readTrust(cli, options);
  return {
    asOfMs: options.asOf ?? cli.now(),
    depth: options.depth,
    expect: expectations(options),
    signal: cli.signal,
    ...(trust !== undefined && { trust }),
    ...(options.secondOpinion === true && (await import('../node/second-opinion.ts'))),
  };
}

function expectations(options: VerifyCommandOptions): Expectations {
  const { expectManifest, expectExport, expectOrganization, expectProject, expectBundles } = options;
  return {
    ...(expectManifest !== undefined && { manifestDigest: expectManifest }),
    ...(expectExport !== undefined && { evidenceExportId: expectExport }),
    ...(expectOrganization !== undefined && { organizationId: expectOrganization }),
    ...(expectProject !== undefined && { projectId: expectProject }),
    ...(expectBundles !== undefined && { bundles: expectBundles }),
  };
}

/** The report on a path. Among several paths one that cannot be judged does not hide the others. */
async function judged(
  cli: Cli,
  path: string,
  how: VerifyOptions,
  options: VerifyCommandOptions,
  amongOthers: boolean,
): Promise<Result> {
  try {
    const evidence = await openEvidence(path, cli.env);
    try {
      return { path, report: await judge(cli, path, evidence, how, options) };
    } finally {
      await evidence.close();
    }
  } catch (error) {
    if (!amongOthers || cli.signal.aborted) throw error;
    return { path, failure: failureOf(error, false) };
  }
}

async function judge(
  cli: Cli,
  path: string,
  evidence: OpenEvidence,
  how: VerifyOptions,
  options: VerifyCommandOptions,
): Promise<Report> {
  if (evidence.kind === 'part') {
    refuseExportExpectations(path, how.expect ?? {});
    return verifyPart(evidence.access, how);
  }
  const progress = createProgress(cli, 'verified', 'parts');
  try {
    const onProgress = follow(progress.update);
    const { source } = evidence;
    if (source.kind === 's3')
      return await verifyExport(source, { ...how, onProgress, concurrency: options.jobs });
    if (source.kind !== 'directory') return await verifyExport(source, { ...how, onProgress });
    return await verifyDirectory(path, { ...how, jobs: options.jobs, onProgress });
  } finally {
    progress.end();
  }
}

function refuseExportExpectations(path: string, expect: Expectations): void {
  const { evidenceExportId, bundles } = expect;
  if (evidenceExportId === undefined && bundles === undefined) return;
  const option = evidenceExportId === undefined ? '--expect-bundles' : '--expect-export';
  throw usageError(
    `${option} speaks of an export, and ${path} is a single part`,
    `Leave ${option} out, or name the export.`,
  );
}

type Update = ReturnType<typeof createProgress>['update'];

function follow(update: Update): (event: VerifyProgress) => void {
  let totalBytes = 0;
  let bytes = 0;
  return (event) => {
    if (event.kind === 'planned') {
      totalBytes = event.bytes;
      return;
    }
    bytes += event.bytes;
    update({ done: event.done, of: event.of, bytes, totalBytes });
  };
}

function exitOf(result: Result, { accept, requireCoverage }: VerifyCommandOptions): ExitCode {
  if ('failure' in result) return result.failure.exit;
  const { report } = result;
  if (!isCovered(report)) return EXIT.unchecked;
  const exit = exitOfVerdict(report.verdict, accept === 'intact');
  return exit === EXIT.pass && requireCoverage === true && hasUncovered(report) ? EXIT.bad : exit;
}

const isCovered = (report: Report): report is ExportReport | BundleReport => 'coverage' in report;
const hasUncovered = ({ coverage }: ExportReport | BundleReport): boolean =>
  coverage.uncovered.length > 0 || coverage.coveredBytes !== coverage.totalBytes;

async function sayUncovered(cli: Cli, results: readonly Result[]): Promise<void> {
  for (const result of results) {
    if (!('report' in result) || !isCovered(result.report) || !hasUncovered(result.report)) continue;
    const { uncovered, totalBytes, coveredBytes } = result.report.coverage;
    const files = uncovered.length === 0 ? '' : `, ${uncovered.length} of the files among them`;
    await say(
      cli,
      `--require-coverage: nothing covers ${totalBytes - coveredBytes} bytes of ${result.path}${files}`,
    );
  }
}
