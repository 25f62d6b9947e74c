import { defined } from '../../../bytes/arguments.ts';
import { verifyDirectory } from '../../../node/verify-directory.ts';
import type { TrustStore } from '../../../trust/store.ts';
import type { BundleReport, Depth, ExportReport } from '../../../verify/report.ts';
import type { Expectations, SecondOpinion, VerifyOptions } from '../../../verify/options.ts';
import { verifyExport } from '../../../verify/export/export.ts';
import { verifyPart } from '../../../verify/part/part.ts';
import type { VerifyProgress } from '../../../verify/export/parts.ts';
import type { Cli } from '../../cli.ts';
import type { EvidenceOptions } from '../options/options.ts';
import { usageError } from '../options/values.ts';
import { type Progress, withProgress } from '../output/progress.ts';
import { readEnvelopes, withEvidence } from './input.ts';
import { readTimestamps } from './timestamps.ts';
import { readTrust } from './trust.ts';

type VerifyingOptions = EvidenceOptions & { readonly depth: Depth };

export type VerifySettings = VerifyOptions & {
  readonly asOfMs: number;
  readonly trust?: TrustStore;
  readonly dsse?: readonly Uint8Array[];
  readonly jobs: number;
  /** Files whose tokens count, next to the evidence itself. */
  readonly stamped: { readonly envelopes: readonly string[]; readonly tokens: readonly string[] };
};

export async function readVerifyOptions(cli: Cli, options: VerifyingOptions): Promise<VerifySettings> {
  const { dsse, timestamp = [], secondOpinion = false } = options;
  return {
    asOfMs: options.asOf ?? cli.now(),
    depth: options.depth,
    jobs: options.jobs,
    expect: readExpectations(options),
    signal: cli.signal,
    stamped: { envelopes: dsse ?? [], tokens: timestamp },
    ...defined({
      trust: await readTrust(cli, options),
      dsse: dsse && (await readEnvelopes(cli, dsse)),
      secondOpinion: await loadSecondOpinion(secondOpinion),
    }),
  };
}

export const loadSecondOpinion = async (wanted = false): Promise<SecondOpinion | undefined> =>
  wanted ? (await import('../../../node/second-opinion/second-opinion.ts')).secondOpinion : undefined;

const readExpectations = (options: VerifyingOptions): Expectations =>
  defined({
    manifestDigest: options.expectManifest,
    evidenceExportId: options.expectExport,
    organizationId: options.expectOrganization,
    projectId: options.expectProject,
    bundles: options.expectBundles,
  });

export async function verifyPath(
  cli: Cli,
  path: string,
  { jobs, stamped, ...options }: VerifySettings,
): Promise<ExportReport | BundleReport> {
  const { envelopes, tokens } = stamped;
  const timestamps = await readTimestamps(cli, { about: [path, ...envelopes], tokens }, options);
  const settings = timestamps.length === 0 ? options : { ...options, timestamps };
  return withEvidence(cli, path, async (evidence) => {
    if (evidence.kind === 'part') {
      refuseExportExpectations(path, settings.expect ?? {});
      return verifyPart(evidence.access, settings);
    }
    return withProgress(cli, 'verified', 'parts', ({ update }) => {
      const { source } = evidence;
      const all = { ...settings, onProgress: createProgressHandler(update) };
      if (source.kind === 'directory') return verifyDirectory(path, { ...all, jobs });
      return verifyExport(source, source.kind === 's3' ? { ...all, concurrency: jobs } : all);
    });
  });
}

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
