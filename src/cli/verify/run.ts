import { defined } from '../../bytes/arguments.ts';
import { verifyDirectory } from '../../node/verify-directory.ts';
import { finishReport, type Requirements } from '../../report/run.ts';
import type { ReportFormat } from '../../report/text/text.ts';
import type { TrustStore } from '../../trust/store.ts';
import type { BundleReport, Depth, ExportReport, Run } from '../../verify/report.ts';
import type { Expectations, SecondOpinion, VerifyOptions } from '../../verify/options.ts';
import { verifyExport } from '../../verify/export/export.ts';
import { verifyPart } from '../../verify/part/part.ts';
import type { VerifyProgress } from '../../verify/export/parts.ts';
import { type Cli, printNote } from '../cli.ts';
import { readPaths, readEnvelopes, withEvidence } from '../shared/input/input.ts';
import { findInside, readTrust } from '../shared/input/trust.ts';
import type { EvidenceOptions, TrustOptions } from '../shared/options/options.ts';
import { openReportSigning, type ReportSigningOptions } from '../shared/options/signing.ts';
import { usageError } from '../shared/options/values.ts';
import { type Failure, describeFailure } from '../shared/output/failure.ts';
import { type Progress, withProgress } from '../shared/output/progress.ts';
import { type FormatOptions, planOutputs, replaceStale } from '../shared/output/targets.ts';
import { describeRun } from '../shared/output/product.ts';
import { refuseWrongIssuer, refuseMissingIssuer } from './issuers.ts';
import { type Result, writeResults } from './output.ts';

type VerifyingOptions = EvidenceOptions & { readonly depth: Depth };

export type VerifyCommandOptions = VerifyingOptions &
  Requirements &
  ReportSigningOptions &
  FormatOptions<ReportFormat> & {
    readonly verbose?: boolean;
  };

export type VerifySettings = VerifyOptions & {
  readonly asOfMs: number;
  readonly trust?: TrustStore;
  readonly dsse?: readonly Uint8Array[];
  readonly jobs: number;
};

/** Verifies every path, writes each report at once, and sets the exit code to the worst. */
export async function verify(
  cli: Cli,
  args: readonly string[],
  options: VerifyCommandOptions,
): Promise<void> {
  const outputs = await planOutputs(cli, options);
  const { paths, settings, sign } = await replaceStale(cli, outputs, async () => ({
    ...(await readSettings(cli, args, options)),
    sign: await openReportSigning(cli, options, outputs),
  }));
  const { verbose = false } = options;
  // A list always gets the form for many paths, even if it names one.
  const many = options.list !== undefined || args.length > 1;
  const run = await describeRun(options);
  const writer = await writeResults(cli, outputs, {
    many,
    run,
    verbose,
    ...defined({ trust: settings.trust, sign }),
  });
  try {
    for (const path of paths) {
      cli.signal.throwIfAborted();
      const verified = await tryPath(cli, path, { ...options, settings, many });
      await writer.add(finishResult(verified, options, { ...run, path }));
    }
    await writer.end();
  } catch (error) {
    await writer.abort(error);
    throw error;
  }
}

async function readSettings(cli: Cli, args: readonly string[], options: VerifyCommandOptions) {
  const paths = await readPaths(cli, args, options);
  if (options.dsse !== undefined && paths.length > 1)
    throw usageError('--dsse is about one part or export', 'Verify the others in a separate run.');
  await refuseMissingIssuer(cli, paths[0], options);
  await warnAboutKeysInside(cli, paths, options);
  return { paths, settings: await readVerifyOptions(cli, options) };
}

/** Warns about keys inside the evidence, which prove nothing. */
async function warnAboutKeysInside(
  cli: Cli,
  paths: readonly string[],
  { trust = [], key = [] }: VerifyCommandOptions,
): Promise<void> {
  const inside = findInside(paths, [...trust, ...key.map(({ file }) => file)]);
  if (inside === undefined) return;
  await printNote(
    cli,
    `warning: ${inside.file} is inside the evidence ${inside.evidence}; use keys that you received on another channel`,
  );
}

type PathReport = { readonly path: string } & (
  | { readonly report: ExportReport | BundleReport }
  | { readonly failure: Failure }
);

/** Verifies a path. Among several paths, one failure does not hide the other reports. */
async function tryPath(
  cli: Cli,
  path: string,
  { settings, many, ...trust }: TrustOptions & { readonly settings: VerifySettings; readonly many: boolean },
): Promise<PathReport> {
  try {
    const report = await verifyPath(cli, path, settings);
    await refuseWrongIssuer(cli, path, report, trust);
    return { path, report };
  } catch (error) {
    if (!many || cli.signal.aborted) throw error;
    return { path, failure: describeFailure(error, false) };
  }
}

function finishResult(
  verified: PathReport,
  options: Requirements,
  run: Omit<Run, 'exitCode' | 'unmet'>,
): Result {
  if ('failure' in verified) return { ...verified, exit: verified.failure.exit };
  const report = finishReport(verified.report, options, run);
  return { ...verified, report, exit: report.run.exitCode };
}

export async function readVerifyOptions(cli: Cli, options: VerifyingOptions): Promise<VerifySettings> {
  const { dsse, secondOpinion = false } = options;
  return {
    asOfMs: options.asOf ?? cli.now(),
    depth: options.depth,
    jobs: options.jobs,
    expect: readExpectations(options),
    signal: cli.signal,
    ...defined({
      trust: await readTrust(cli, options),
      dsse: dsse && (await readEnvelopes(cli, dsse)),
      secondOpinion: await loadSecondOpinion(secondOpinion),
    }),
  };
}

export const loadSecondOpinion = async (wanted = false): Promise<SecondOpinion | undefined> =>
  wanted ? (await import('../../node/second-opinion/second-opinion.ts')).secondOpinion : undefined;

const readExpectations = (options: VerifyingOptions): Expectations =>
  defined({
    manifestDigest: options.expectManifest,
    evidenceExportId: options.expectExport,
    organizationId: options.expectOrganization,
    projectId: options.expectProject,
    bundles: options.expectBundles,
  });

export const verifyPath = (
  cli: Cli,
  path: string,
  { jobs, ...settings }: VerifySettings,
): Promise<ExportReport | BundleReport> =>
  withEvidence(cli, path, async (evidence) => {
    if (evidence.kind === 'part') {
      refuseExportExpectations(path, settings.expect ?? {});
      return verifyPart(evidence.access, settings);
    }
    return withProgress(cli, 'verified', 'parts', ({ update }) => {
      const { source } = evidence;
      const options = { ...settings, onProgress: createProgressHandler(update) };
      if (source.kind === 'directory') return verifyDirectory(path, { ...options, jobs });
      return verifyExport(source, source.kind === 's3' ? { ...options, concurrency: jobs } : options);
    });
  });

function refuseExportExpectations(path: string, expect: Expectations): void {
  const { evidenceExportId, bundles } = expect;
  if (evidenceExportId === undefined && bundles === undefined) return;
  const option = evidenceExportId === undefined ? '--expect-bundles' : '--expect-export';
  throw usageError(
    `${option} is for an export, and ${path} is a single part`,
    `Omit ${option}, or name the export.`,
  );
}

function createProgressHandler(update: Progress['update']): (event: VerifyProgress) => void {
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
