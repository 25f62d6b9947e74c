import { openEvidence, type OpenEvidence, verifyDirectory } from '../../node/index.ts';
import { createSummary, inShard, listDigest, type Shard, shardName } from '../../report/index.ts';
import type { TrustStore } from '../../trust/index.ts';
import {
  type BundleReport,
  type Depth,
  type Expectations,
  type ExportReport,
  type Run,
  verifyExport,
  type VerifyOptions,
  verifyPart,
  type VerifyProgress,
} from '../../verify/index.ts';
import { say, type Cli } from '../cli.ts';
import { readEnvelopes } from '../shared/input/envelopes.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { worstExit } from '../shared/output/exit-codes.ts';
import { failureOf, type Failure } from '../shared/output/failure.ts';
import type { JudgingOptions } from '../shared/options/judging.ts';
import { createProgress } from '../shared/output/progress.ts';
import { findInside, readTrust } from '../shared/options/trusting.ts';
import { usageError } from '../shared/options/usage.ts';
import { refuseWrongIssuer, requireIssuers } from './issuers.ts';
import { pathsOf } from './list.ts';
import { describeRun } from '../shared/output/version.ts';
import { finishReport, type Requirements } from './requirements.ts';
import { targetsOf, writeResults, type ResultWriter, type Target } from './output.ts';

/** What the command line says, parsed. */
export type VerifyCommandOptions = JudgingOptions & {
  readonly accept?: 'intact';
  readonly depth: Depth;
  readonly requireCoverage?: boolean;
  readonly requireList?: boolean;
  readonly verbose?: boolean;
  readonly format?: readonly Target[];
  readonly json?: boolean;
  readonly force?: boolean;
  readonly shard?: Shard;
};

/** How every path is judged; envelopes are about one of them alone. */
type How = VerifyOptions & {
  readonly asOfMs: number;
  readonly trust?: TrustStore;
  readonly dsse?: readonly Uint8Array[];
};

/** Judges every path, writes each report as it is made, and sets the exit code to the worst of them. */
export async function verify(
  cli: Cli,
  named: readonly string[],
  options: VerifyCommandOptions,
): Promise<void> {
  const targets = targetsOf(options.format ?? [], options.json === true);
  if (targets[0] === 'json') cli.format = 'json';
  const all = await pathsOf(cli, named, options);
  const { shard } = options;
  const paths = inShard(all, shardName, shard);
  if (options.dsse !== undefined && paths.length > 1)
    throw usageError('--dsse is about one part or export', 'Verify the others in a run of their own.');
  await requireIssuers(cli, paths[0], options);
  await warnAboutKeysInside(cli, paths, options);
  const how = await verifyOptions(cli, options);
  // Whoever gives a list gets the form for many, however long it is.
  const many = options.list !== undefined || named.length > 1 || shard !== undefined;
  const writer = await writeResults(cli, targets, {
    many,
    force: options.force === true,
    run: await describeRun(options),
    verbose: options.verbose === true,
    ...(shard !== undefined && { shard: { ...shard, list: listDigest(all.map(shardName)) } }),
  });
  try {
    await judgeAll(cli, paths, how, options, many, writer);
  } catch (error) {
    await writer.abort(error);
    throw error;
  }
  // Other shards have what there is: that this one has nothing is no fault of the evidence.
  if (paths.length === 0 && all.length > 0) cli.exitCode = EXIT.pass;
}

/** Keys that came with the evidence prove nothing: whoever changed the evidence could have changed them. */
async function warnAboutKeysInside(
  cli: Cli,
  paths: readonly string[],
  { trust = [], key = [] }: VerifyCommandOptions,
): Promise<void> {
  const inside = await findInside(paths, [...trust, ...key.map(({ file }) => file)]);
  if (inside === undefined) return;
  await say(
    cli,
    `warning: ${inside.file} lies inside the evidence ${inside.evidence}; use keys that you received on another channel`,
  );
}

async function judgeAll(
  cli: Cli,
  paths: readonly string[],
  how: How,
  options: VerifyCommandOptions,
  many: boolean,
  writer: ResultWriter,
): Promise<void> {
  const summary = createSummary();
  const run = await describeRun(options);
  const exits = new Set<ExitCode>();
  for (const path of paths) {
    cli.signal.throwIfAborted();
    const judgement = await judged(cli, path, how, options, many);
    const result = finishResult(judgement, options, { ...run, path });
    const exit = 'report' in result ? result.report.run.exitCode : result.failure.exit;
    exits.add(exit);
    summary.add(result);
    await writer.add(result);
  }
  // Two manifests under one id: at least one of them is not what it says.
  if (summary.summary().copies.some(({ same }) => !same)) exits.add(EXIT.bad);
  const exitCode = worstExit([...exits]);
  await writer.end(summary, exitCode);
  cli.exitCode = exitCode;
}

function finishResult(judgement: Judgement, options: Requirements, run: Omit<Run, 'exitCode' | 'unmet'>) {
  if ('failure' in judgement) return { ...judgement, passed: false };
  const report = finishReport(judgement.report, options, run);
  return { ...judgement, report, passed: report.run.exitCode === EXIT.pass };
}

/** How evidence is judged, as the options say. */
export async function verifyOptions(cli: Cli, options: VerifyCommandOptions): Promise<How> {
  const trust = await readTrust(cli, options);
  return {
    asOfMs: options.asOf ?? cli.now(),
    depth: options.depth,
    expect: expectations(options),
    signal: cli.signal,
    ...(trust !== undefined && { trust }),
    ...(options.dsse !== undefined && { dsse: await readEnvelopes(cli, options.dsse) }),
    ...(options.secondOpinion === true && (await import('../../node/second-opinion/index.ts'))),
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

type Judgement = { readonly path: string } & (
  | { readonly report: ExportReport | BundleReport }
  | { readonly failure: Failure }
);

/** The report on a path. Among several paths one that cannot be judged does not hide the others. */
async function judged(
  cli: Cli,
  path: string,
  how: How,
  options: VerifyCommandOptions,
  amongOthers: boolean,
): Promise<Judgement> {
  try {
    const report = await judgePath(cli, path, how, options);
    await refuseWrongIssuer(cli, path, report, options);
    return { path, report };
  } catch (error) {
    if (!amongOthers || cli.signal.aborted) throw error;
    return { path, failure: failureOf(error, false) };
  }
}

/** The report on what lies at a path. @throws DrillproofError what opening it throws, `usage.INVALID` */
export async function judgePath(
  cli: Cli,
  path: string,
  how: How,
  options: Pick<VerifyCommandOptions, 'jobs'>,
): Promise<ExportReport | BundleReport> {
  const evidence = await openEvidence(path, cli.env);
  try {
    return await judge(cli, path, evidence, how, options);
  } finally {
    await evidence.close();
  }
}

async function judge(
  cli: Cli,
  path: string,
  evidence: OpenEvidence,
  how: How,
  options: Pick<VerifyCommandOptions, 'jobs'>,
): Promise<ExportReport | BundleReport> {
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
