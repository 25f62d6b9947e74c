import * as z from 'zod';
import type { Client } from '../../client/index.ts';
import type { Wish } from '../../mirror/index.ts';
import { type JobResult, type QueueItem, workThrough } from '../../node/queue/index.ts';
import { type ArchiveReport, archiveSchema, type Shard, sumTransfers } from '../../report/index.ts';
import { say, type Cli } from '../cli.ts';
import { failureOf, transferOf, type Aside } from './many-text.ts';
import type { SinkOptions } from './sink.ts';
import type { MirrorTally } from './tally.ts';
import { openRun, sharedPlace, type QueueOptions, type SharedRun } from '../shared/options/queue.ts';
import { isFailed, whyFailed, workersOf } from '../shared/output/queue-results.ts';

/** Which exports are meant. */
export type ManyOptions = QueueOptions & {
  readonly shard?: Shard;
  readonly list?: string;
  readonly all?: boolean;
  readonly since?: number;
  readonly project: string;
  readonly to: string;
  readonly concurrency: number;
  readonly wait?: number;
  /** Only to look at what is here. */
  readonly check?: boolean;
};

/** What is known of the exports before any of them is mirrored. */
export type Asked = Aside & { readonly wishes: readonly Wish[] };

/** Mirrors an export and gives what its product says of it. */
export type WatchedEach = (
  wish: Wish,
) => Promise<{ readonly manifestDigest: string; readonly tally: MirrorTally }>;

/** What decides what a mirror is: machines that differ in it do not share a run. */
type SharedOptions = ManyOptions & SinkOptions & { readonly withoutLocalReports?: boolean };

/**
 * Mirrors the exports together with every other machine that gave the same command, and tells what became of all.
 * @throws DrillproofError `queue.UNREACHABLE`, `queue.REFUSED`, `queue.RUN_MISMATCH`, and what each export would meet
 */
export async function mirrorShared(
  cli: Cli,
  client: Client,
  asked: Asked,
  each: WatchedEach,
  options: SharedOptions,
  stop: AbortController,
): Promise<ArchiveReport> {
  const run = await openRun('mirror', factsOf(client, options), options);
  try {
    await say(cli, `run ${run.name}: worker ${run.worker}`);
    await run.queue.share(asked.wishes.map(itemOf));
    const { concurrency: atOnce } = options;
    const act = async (data: QueueItem['data']) => {
      const { manifestDigest, tally } = await each(wishSchema.parse(data));
      return { manifestDigest, transfer: transferOf(tally) };
    };
    await workThrough(run.queue, act, { atOnce, signal: cli.signal, stop, worker: run.worker });
    return runReport(run, await run.queue.results(), asked);
  } finally {
    await run.queue.close();
  }
}

function factsOf({ baseUrl }: Client, options: SharedOptions) {
  const { project, to, bagit = false, withoutLocalReports = false } = options;
  const { s3RetainUntil = null, s3LockMode = null, s3LegalHold = false } = options;
  const retention = { s3RetainUntil, s3LockMode, s3LegalHold };
  return { source: baseUrl, project, to: sharedPlace(to), bagit, withoutLocalReports, ...retention };
}

/** An export never changes: its id and, where it is known, the digest of its manifest say what is to be done. */
const itemOf = ({ projectId, evidenceExportId, expectManifest }: Wish): QueueItem => ({
  key: `${evidenceExportId} ${expectManifest ?? ''}`,
  data: { projectId, evidenceExportId, ...(expectManifest !== undefined && { expectManifest }) },
});

const wishSchema = z.object({
  projectId: z.string(),
  evidenceExportId: z.string(),
  expectManifest: z.string().exactOptional(),
});

const doneSchema = z.object({
  manifestDigest: z.string(),
  transfer: archiveSchema.shape.transfer,
  worker: z.string(),
});

function runReport({ name }: SharedRun, results: readonly JobResult[], asked: Asked): ArchiveReport {
  const { left = new Map<string, number>(), older = 0 } = asked;
  const rows = results
    .map((result) => ({ ...result, id: wishSchema.parse(result.data).evidenceExportId }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const done = rows.filter(({ state }) => state === 'done').map(doneOf);
  const failures = rows.flatMap((row) => (isFailed(row) ? [failureOf(row.id, whyFailed(row))] : []));
  return {
    schemaVersion: 1,
    kind: 'mirror.archive',
    exports: rows.length,
    complete: done.length,
    failed: failures.length,
    untried: rows.length - done.length - failures.length,
    older,
    left: Object.fromEntries(left),
    mirrored: done.map(({ evidenceExportId, manifestDigest }) => ({ evidenceExportId, manifestDigest })),
    ...sumTransfers(done.map(({ transfer }) => transfer)),
    failures,
    codes: [...new Set(failures.map(({ code }) => code))].toSorted(),
    run: { name, workers: workersOf(results) },
  };
}

function doneOf({ id, output }: JobResult & { readonly id: string }) {
  return { evidenceExportId: id, ...doneSchema.parse(output) };
}
