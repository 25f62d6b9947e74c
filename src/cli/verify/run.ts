import { defined } from '../../bytes/arguments.ts';
import { finishReport, type Requirements } from '../../report/run.ts';
import type { BundleReport, ExportReport, Run } from '../../verify/report.ts';
import { type Cli, printNote } from '../cli.ts';
import { readPaths } from '../shared/input/input.ts';
import { findInside } from '../shared/input/trust.ts';
import { readVerifyOptions, type VerifySettings, verifyPath } from '../shared/input/verify.ts';
import type { TrustOptions } from '../shared/options/options.ts';
import { openReportSigning } from '../shared/input/signing.ts';
import { usageError } from '../shared/options/values.ts';
import { type Failure, describeFailure } from '../shared/output/failure.ts';
import { planOutputs, replaceStale } from '../shared/output/targets.ts';
import { describeRun } from '../shared/output/product.ts';
import { refuseWrongIssuer, refuseMissingIssuer } from './issuers.ts';
import type { VerifyCommandOptions } from './options.ts';
import { type PathOutcome, writeResults } from './output.ts';

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
): PathOutcome {
  if ('failure' in verified) return { ...verified, exit: verified.failure.exit };
  const report = finishReport(verified.report, options, run);
  return { ...verified, report, exit: report.run.exitCode };
}
