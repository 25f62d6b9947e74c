import { join } from 'node:path';
import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import type { Retry } from '../../client/options.ts';
import { DrillproofError } from '../../errors.ts';
import {
  discoverExports,
  type ExportList,
  type Holding,
  mirrorMany,
  type Wish,
} from '../../mirror/archive.ts';
import type { MirrorCheck } from '../../mirror/check.ts';
import type { InventoryLog, InventoryRow } from '../../mirror/inventory.ts';
import type { OnProgress } from '../../mirror/run.ts';
import type { JobResult, QueueItem } from '../../node/queue/queue.ts';
import { isS3Url } from '../../node/s3/location.ts';
import { closeAfter } from '../../bytes/async.ts';
import { BAG_PAYLOAD } from '../../evidence/export/checksums.ts';
import { EXPORT_MANIFEST } from '../../evidence/export/pack-export.ts';
import type { LinkedReceipt } from '../../evidence/export/receipt.ts';
import { openVolume } from '../../node/open-volume.ts';
import { type ArchiveReport, archiveSchema, sumTransfers } from '../../report/many/archives.ts';
import type { Volume } from '../../node/volume/volume.ts';
import type { Cli } from '../cli.ts';
import { readExportList } from '../shared/input/export-list.ts';
import {
  isFailed,
  describePlace,
  type SharedRun,
  type SharedWork,
  shareWork,
  readJobError,
} from '../shared/options/queue.ts';
import { createInterruptedError } from '../shared/output/failure.ts';
import { formatRetry, type Progress, readErrorMessage, withProgress } from '../shared/output/progress.ts';
import { type Gauges, writeTextfile } from '../shared/output/textfile.ts';
import { handleDeleted } from './deleted.ts';
import type { MirrorEvents } from './events.ts';
import { buildArchiveReport, type Discovery, describeTransfer, writeArchive } from './output.ts';
import { followMany, MirrorTally } from './progress.ts';
import type { MirrorCommandOptions } from './options.ts';

type ManyOptions = MirrorCommandOptions & { readonly project: string };

type Selection = Discovery & { readonly wishes: readonly Wish[] };

type WatchedMirror = (
  wish: Wish,
) => Promise<{ readonly manifestDigest: string; readonly tally: MirrorTally }>;

/** Lists the settings that must be equal on all machines of a run. */
function listFacts({ baseUrl }: ManySettings['source'], options: ManyOptions) {
  const { project, to, bagit = false, withoutLocalReports = false } = options;
  const bagInfo = options.bagInfo?.map((field) => field.join('='));
  const { s3RetainUntil = null, s3LockMode = null, s3LegalHold = false } = options;
  const retention = { s3RetainUntil, s3LockMode, s3LegalHold };
  return {
    source: baseUrl,
    project,
    to: describePlace(to),
    bagit,
    withoutLocalReports,
    ...retention,
    ...defined({ bagInfo }),
  };
}

/** An export never changes, so its id and the expected digest of its manifest identify the work. */
const createItem = ({ projectId, evidenceExportId, expectManifest }: Wish): QueueItem => ({
  key: `${evidenceExportId} ${expectManifest ?? ''}`,
  data: { projectId, evidenceExportId, ...defined({ expectManifest }) },
});

const wishSchema = z.object({
  projectId: z.string(),
  evidenceExportId: z.string(),
  expectManifest: z.exactOptional(z.string()),
});

const doneSchema = z.object({
  manifestDigest: z.string(),
  transfer: archiveSchema.shape.transfer,
  worker: z.string(),
});

function buildRunReport(run: SharedRun, results: readonly JobResult[], selection: Selection): ArchiveReport {
  const rows = results
    .map((result) => ({ ...result, evidenceExportId: wishSchema.parse(result.data).evidenceExportId }))
    .toSorted((a, b) => (a.evidenceExportId < b.evidenceExportId ? -1 : 1));
  const done = rows
    .filter(({ state }) => state === 'done')
    .map(({ evidenceExportId, output }) => ({ evidenceExportId, ...doneSchema.parse(output) }));
  const failures = rows.filter(isFailed).map((row) => ({ ...row, error: readJobError(row) }));
  const outcome = {
    exports: rows.length,
    complete: done.length,
    untried: rows.length - done.length - failures.length,
    failures,
    moreFailures: 0,
    codes: new Set(failures.map(({ error }) => error.code)),
  };
  const { transfer } = sumTransfers(done.map((item) => item.transfer));
  const mirrored = done.map(({ evidenceExportId, manifestDigest }) => ({ evidenceExportId, manifestDigest }));
  return { ...buildArchiveReport(outcome, mirrored, selection), ...defined({ transfer }), run };
}

/** The row of a complete mirror, whose newest receipt has this path. */
const buildRow = (receipt: LinkedReceipt, path: string): InventoryRow => ({
  evidenceExportId: receipt.evidenceExportId,
  manifestDigest: receipt.manifestDigest,
  state: 'held',
  files: receipt.files.length,
  bytes: receipt.files.reduce((sum, { bytes }) => sum + Number(bytes), 0),
  mirroredAtMs: receipt.finishedAtMs,
  receipt: path,
});

type OnRetry = (retry: Retry) => void;

export type MirrorWatch = { readonly events: MirrorEvents; readonly totals: MirrorTally };

export type MirrorEach = (
  wish: Wish,
  to: string,
  onProgress: OnProgress,
) => Promise<LinkedReceipt | MirrorCheck>;

type ManySettings = {
  readonly source: ExportList & { readonly baseUrl: string };
  readonly watch: MirrorWatch;
  readonly each: MirrorEach;
  readonly stop: AbortController;
  readonly archive: InventoryLog;
  readonly volume: Volume;
};

/**
 * Mirrors each export of a list or a project into a separate place, reports the results, and sets the exit code to the
 * worst.
 */
export async function mirrorEach(cli: Cli, options: ManyOptions, how: ManySettings): Promise<void> {
  const { events, totals } = how.watch;
  const verb = options.check === true || options.dryRun === true ? 'checked' : 'mirrored';
  const report = await withProgress(cli, verb, 'exports', async (progress) => {
    const selection = await selectExports(cli, how, options, createRetryNotes(progress, events));
    events.write({ type: 'exports', exports: selection.wishes.length });
    const shown = followMany(progress, selection.wishes.length, totals, cli.now);
    const mirrorWatched = watchMirrors(cli, options.to, how, { progress, shown });
    try {
      const mirrored = await (options.queue === undefined
        ? mirrorAlone(selection, mirrorWatched, options, totals)
        : mirrorShared(cli, options, how, { selection, mirrorWatched }));
      return { ...mirrored, ...(await handleAllDeleted(cli, selection, options, how)) };
    } finally {
      await how.archive.flush();
    }
  });
  await writeArchive(cli, report);
  await writeTextfile(cli, options.textfile, 'mirror', listGauges(report));
}

async function handleAllDeleted(
  cli: Cli,
  { deleted = [] }: Selection,
  options: ManyOptions,
  { archive: inventory, volume: archive, watch }: ManySettings,
): Promise<Pick<ArchiveReport, 'deletedAtSource'>> {
  if (deleted.length === 0) return {};
  const deletedAtSource = [];
  for (const evidenceExportId of deleted) {
    watch.events.write({ type: 'source-deleted', evidenceExportId });
    const place = { inventory, archive, nowMs: cli.now() };
    deletedAtSource.push(await handleDeleted(evidenceExportId, place, options));
  }
  return { deletedAtSource };
}

const listGauges = ({ complete, failed, untried, kept, unavailable, transfer }: ArchiveReport): Gauges => ({
  exports: ['Exports of the last run, by what happened.', { complete, failed, untried, kept }],
  unavailable_exports: ['Exports that the source does not serve, by their state.', unavailable],
  ...listTransfer(transfer),
});

/** What a run received, also one that ended with an error. */
export function listTransfer(transfer: ArchiveReport['transfer']): Gauges {
  const { fetched = 0, resumed = 0, linked = 0, transferredBytes = 0 } = transfer ?? {};
  return {
    fetched_files: ['Files that the last run fetched.', fetched + resumed + linked],
    transferred_bytes: ['Bytes that the last run received.', transferredBytes],
  };
}

async function mirrorAlone(
  selection: Selection,
  mirrorWatched: WatchedMirror,
  { concurrency, dryRun }: ManyOptions,
  totals: MirrorTally,
): Promise<ArchiveReport> {
  const mirrored: ArchiveReport['mirrored'] = [];
  const each = async (wish: Wish): Promise<void> => {
    const { manifestDigest } = await mirrorWatched(wish);
    mirrored.push({ evidenceExportId: wish.evidenceExportId, manifestDigest });
  };
  const outcome = await mirrorMany(selection.wishes, each, { atOnce: concurrency });
  const report = buildArchiveReport(outcome, mirrored, selection);
  return dryRun === true
    ? { ...report, missing: totals.missing }
    : { ...report, transfer: describeTransfer(totals) };
}

async function mirrorShared(
  cli: Cli,
  options: ManyOptions,
  { source, stop }: ManySettings,
  { selection, mirrorWatched }: { readonly selection: Selection; readonly mirrorWatched: WatchedMirror },
): Promise<ArchiveReport> {
  const work: SharedWork = {
    kind: 'mirror',
    facts: listFacts(source, options),
    items: selection.wishes.map(createItem),
    async act(data) {
      const { manifestDigest, tally } = await mirrorWatched(wishSchema.parse(data));
      return { manifestDigest, transfer: describeTransfer(tally) };
    },
    atOnce: options.concurrency,
    stop,
  };
  const { run, results } = await shareWork(cli, work, options);
  return buildRunReport(run, results, selection);
}

function watchMirrors(
  cli: Cli,
  to: string,
  { watch: { events }, each, archive }: ManySettings,
  { progress, shown }: { readonly progress: Progress; readonly shown: ReturnType<typeof followMany> },
): WatchedMirror {
  return async (wish) => {
    const { evidenceExportId } = wish;
    const tally = new MirrorTally();
    const show = events.follow(evidenceExportId, shown.begin(evidenceExportId, tally));
    let receipt = '';
    const onProgress: OnProgress = (event) => {
      if (event.type === 'done') receipt = event.receipt;
      show(event);
    };
    try {
      const result = await each(wish, joinPlace(to, evidenceExportId), onProgress);
      if (result.kind === 'mirror.receipt') await archive.add(buildRow(result, receipt));
      else tally.addMissing(result);
      events.exportEnded(evidenceExportId, tally);
      return { manifestDigest: result.manifestDigest, tally };
    } catch (cause) {
      const error = cli.signal.aborted ? createInterruptedError(cause) : cause;
      if (error instanceof DrillproofError) progress.note(`failed: ${evidenceExportId}: ${error.code}`);
      events.exportEnded(evidenceExportId, tally, error);
      throw error;
    } finally {
      shown.end(evidenceExportId);
    }
  };
}

async function selectExports(
  cli: Cli,
  { source, archive }: ManySettings,
  options: ManyOptions,
  onRetry: OnRetry,
): Promise<Selection> {
  const { list, project, since, wait, check = false } = options;
  const exports: Selection =
    list === undefined
      ? await discoverExports(source, project, {
          unfinished: wait !== undefined,
          signal: cli.signal,
          onRetry,
          ...defined({ sinceMs: since ?? (check ? 0 : undefined) }),
          holdingOf: await openHoldings(cli, options, archive),
        })
      : { wishes: await addPins(await readWishes(cli, list, project), options, source) };
  if (exports.wishes.length + (exports.kept ?? 0) === 0)
    throw new DrillproofError('mirror.NOTHING_FOUND', 'there is no export to mirror');
  return exports;
}

/**
 * Looks up what the archive has of an export. It holds one that its inventory names, under the digest of the source, and
 * whose manifest exists; nothing is read. A prefix in S3 is listed once.
 */
async function openHoldings(cli: Cli, { to, bagit = false }: ManyOptions, archive: InventoryLog) {
  const exports = (await archive.read())?.exports;
  const files = await closeAfter(await openVolume(to, cli.env), (volume) => volume.look());
  return async (id: string, digest: string | undefined): Promise<Holding> => {
    const size = await files?.size(`${id}/${bagit ? BAG_PAYLOAD : ''}${EXPORT_MANIFEST}`);
    if (size === undefined) return 'missing';
    const row = exports?.get(id);
    return row?.state === 'held' && row.manifestDigest === (digest ?? row.manifestDigest)
      ? 'held'
      : 'present';
  };
}

const createRetryNotes =
  (progress: Progress, events: MirrorEvents): OnRetry =>
  ({ error, delayMs }) => {
    progress.note(formatRetry({ delayMs }, `the list of exports: ${readErrorMessage(error)}`));
    events.listRetry(error, delayMs);
  };

/** Expects the digests that the inventory of an archive names, unless the list names others. */
async function addPins(
  wishes: readonly Wish[],
  { from, project }: ManyOptions,
  archive: ExportList,
): Promise<readonly Wish[]> {
  if (from === undefined) return wishes;
  const pins = new Map<string, string | undefined>();
  for await (const item of archive.exports(project, {})) pins.set(item.evidenceExportId, item.expectManifest);
  return wishes.map((wish) => ({
    ...defined({ expectManifest: pins.get(wish.evidenceExportId) }),
    ...wish,
  }));
}

/** Appends the id of an export to a folder or to the prefix of an address. */
export function joinPlace(to: string, evidenceExportId: string): string {
  if (!isS3Url(to)) return join(to, evidenceExportId);
  const [place = '', ...parameters] = to.split('?');
  return [`${place.replace(/\/$/, '')}/${evidenceExportId}/`, ...parameters].join('?');
}

async function readWishes(cli: Cli, list: string, projectId: string): Promise<readonly Wish[]> {
  const rows = await readExportList(cli, list);
  return [...rows].map(([evidenceExportId, expectManifest]) => ({
    projectId,
    evidenceExportId,
    ...defined({ expectManifest }),
  }));
}
