import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import type { Digest } from '../../bytes/hash.ts';
import { openEvidence, type OpenEvidence } from '../../node/open-evidence.ts';
import { verifyDirectory } from '../../node/verify-directory.ts';
import type { BundleReport, Depth, ExportReport, Report } from '../../verify/report.ts';
import {
  verifyExport,
  verifyPart,
  type Expectations,
  type VerifyOptions,
  type VerifyProgress,
} from '../../verify/index.ts';
import { say, type Cli } from '../cli.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { exitOfVerdict, worstExit } from '../exit-codes.ts';
import { failureOf } from '../failure.ts';
import { digest, examples, many, standardOptions, time, wholeNumber } from '../options.ts';
import { createProgress } from '../progress.ts';
import { readTrust, trustOptions, type TrustOptions } from '../trusting.ts';
import { usageError } from '../usage.ts';
import { target, targetsOf, writeResults, type Result, type Target } from '../verify-output.ts';

type Options = TrustOptions & {
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

const MORE = `
Every file is read and hashed, every signature checked against the keys that you
name; nothing inside the evidence can add a key, and no network is used.

Exit codes: 0 verified (or intact with --accept intact), 1 the evidence is bad
or only intact, 2 wrong call or configuration, 3 could not be checked or there
was nothing to check, 130 interrupted.`;

export function define(command: Command, cli: Cli): void {
  trustOptions(standardOptions(command, { formats: false }))
    .description(
      'Judge exports (a folder or one ZIP) and single parts, offline: are the bytes what was signed, by whom, and is it complete?',
    )
    .argument('<path...>', 'folder of an export, a ZIP of it, or a part archive')
    .option(
      '--expect-manifest <digest>',
      'SHA-256 that manifest.json must have: pins the list of bundles',
      digest,
    )
    .option('--expect-export <id>', 'id that the export must have')
    .option('--expect-organization <id>', 'organization that the evidence must belong to')
    .option('--expect-project <id>', 'project that every bundle must belong to')
    .option('--expect-bundles <n>', 'number of bundles that there must be', wholeNumber(0, 10_000))
    .addOption(new Option('--accept <verdict>', 'pass with this verdict too').choices(['intact']))
    .option('--as-of <time>', 'judge as of this time instead of now', time)
    .addOption(
      new Option('--depth <depth>', 'full reads every object; digest compares archives only')
        .choices(['full', 'digest'])
        .default('full'),
    )
    .addOption(
      new Option('--jobs <n>', 'parts judged at once')
        .argParser(wholeNumber(1, 256))
        .default(availableParallelism(), 'processors'),
    )
    .option(
      '--second-opinion',
      'read and check everything by a second implementation too; any difference is a finding',
    )
    .option('--require-coverage', 'fail when there is a file or byte that nothing covers')
    .option(
      '--format <kind[=file]>',
      'text or json, to standard output or a file (may be given again)',
      many(target),
    )
    .option('--force', 'replace report files that exist')
    .action((paths: string[], options: Options) => verify(cli, paths, options));
  examples(command, [
    ['a mirror, with the keys you trust', 'drillproof verify ./mirror --trust trust.json'],
    [
      'a part that somebody sent, with their public key',
      'drillproof verify part.zip --key acme.pub.pem,issuer=acme-ci',
    ],
    [
      'exactly the export that you were told of',
      'drillproof verify ./mirror --trust trust.json --expect-manifest sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
    ],
    [
      'in CI: text in the log, JSON in a file',
      'drillproof verify ./mirror --trust trust.json --require-coverage --format json=report.json',
    ],
    ['only whether the bytes match, without a key', 'drillproof verify ./mirror --accept intact'],
  ]).addHelpText('after', MORE);
}

async function verify(cli: Cli, paths: readonly string[], options: Options): Promise<void> {
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

async function verifyOptions(cli: Cli, options: Options): Promise<VerifyOptions> {
  const trust = await readTrust(cli, options);
  return {
    asOfMs: options.asOf ?? cli.now(),
    depth: options.depth,
    expect: expectations(options),
    signal: cli.signal,
    ...(trust !== undefined && { trust }),
    ...(options.secondOpinion === true && (await import('../../node/second-opinion.ts'))),
  };
}

function expectations(options: Options): Expectations {
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
  options: Options,
  amongOthers: boolean,
): Promise<Result> {
  try {
    const evidence = await openEvidence(path);
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
  options: Options,
): Promise<Report> {
  if (evidence.kind === 'part') {
    refuseExportExpectations(path, how.expect ?? {});
    return verifyPart(evidence.access, how);
  }
  const progress = createProgress(cli, 'verified', 'parts');
  try {
    const onProgress = follow(progress.update);
    const { source } = evidence;
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

function exitOf(result: Result, { accept, requireCoverage }: Options): ExitCode {
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
