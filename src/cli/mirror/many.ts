import { join } from 'node:path';
import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { fromUtf8 } from '../../bytes/text/encoding.ts';
import { isDigest } from '../../bytes/hash.ts';
import { countNoun, isoTime } from '../../bytes/text/wording.ts';
import type { Client } from '../../client/client.ts';
import type { Retry } from '../../client/options.ts';
import { evidenceExportIdSchema } from '../../contract/scalars.ts';
import { DrillproofError } from '../../errors.ts';
import { discoverExports, mirrorMany, type Wish } from '../../mirror/archive.ts';
import type { OnProgress } from '../../mirror/run.ts';
import type { JobResult, QueueItem } from '../../node/queue/queue.ts';
import { isS3Url } from '../../node/s3/location.ts';
import { closeAfter } from '../../bytes/async.ts';
import { BAG_PAYLOAD } from '../../evidence/export/checksums.ts';
import { EXPORT_MANIFEST } from '../../evidence/export/pack-export.ts';
import { openVolume } from '../../node/open-volume.ts';
import type { Files } from '../../node/volume/volume.ts';
import { type ArchiveReport, archiveSchema, sumTransfers } from '../../report/many/archives.ts';
import type { Cli } from '../cli.ts';
import { formatInputName, readInput } from '../shared/input/input.ts';
import {
  isFailed,
  describePlace,
  type SharedRun,
  type SharedWork,
  shareWork,
  readJobError,
} from '../shared/options/queue.ts';
import { usageError } from '../shared/options/values.ts';
import { createInterruptedError } from '../shared/output/failure.ts';
import { formatRetry, type Progress, readErrorMessage, withProgress } from '../shared/output/progress.ts';
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
function listFacts({ baseUrl }: Client, options: ManyOptions) {
  const { project, to, bagit = false, withoutLocalReports = false } = options;
  const { s3RetainUntil = null, s3LockMode = null, s3LegalHold = false } = options;
  const retention = { s3RetainUntil, s3LockMode, s3LegalHold };
  return { source: baseUrl, project, to: describePlace(to), bagit, withoutLocalReports, ...retention };
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

type OnRetry = (retry: Retry) => void;

export type MirrorWatch = { readonly events: MirrorEvents; readonly totals: MirrorTally };

export type MirrorEach = (
  wish: Wish,
  to: string,
  onProgress: OnProgress,
) => Promise<{ readonly manifestDigest: string }>;

type ManySettings = {
  readonly client: Client;
  readonly watch: MirrorWatch;
  readonly each: MirrorEach;
  readonly stop: AbortController;
};

/**
 * Mirrors each export of a list or a project into a separate place, reports the results, and sets the exit code to the
 * worst.
 */
export async function mirrorEach(cli: Cli, options: ManyOptions, how: ManySettings): Promise<void> {
  const { events, totals } = how.watch;
  const verb = options.check === true ? 'checked' : 'mirrored';
  const report = await withProgress(cli, verb, 'exports', async (progress) => {
    const selection = await selectExports(cli, how.client, options, createRetryNotes(progress, events));
    events.write({ type: 'exports', exports: selection.wishes.length });
    const shown = followMany(progress, selection.wishes.length, totals, cli.now);
    const mirrorWatched = watchMirrors(cli, options.to, how, { progress, shown });
    return options.queue === undefined
      ? mirrorAlone(selection, mirrorWatched, options, totals)
      : mirrorShared(cli, options, how, { selection, mirrorWatched });
  });
  await writeArchive(cli, report);
}

async function mirrorAlone(
  selection: Selection,
  mirrorWatched: WatchedMirror,
  { concurrency }: ManyOptions,
  totals: MirrorTally,
): Promise<ArchiveReport> {
  const mirrored: ArchiveReport['mirrored'] = [];
  const each = async (wish: Wish): Promise<void> => {
    const { manifestDigest } = await mirrorWatched(wish);
    mirrored.push({ evidenceExportId: wish.evidenceExportId, manifestDigest });
  };
  const outcome = await mirrorMany(selection.wishes, each, { atOnce: concurrency });
  return { ...buildArchiveReport(outcome, mirrored, selection), transfer: describeTransfer(totals) };
}

async function mirrorShared(
  cli: Cli,
  options: ManyOptions,
  { client, stop }: ManySettings,
  { selection, mirrorWatched }: { readonly selection: Selection; readonly mirrorWatched: WatchedMirror },
): Promise<ArchiveReport> {
  const work: SharedWork = {
    kind: 'mirror',
    facts: listFacts(client, options),
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
  { watch: { events }, each }: ManySettings,
  { progress, shown }: { readonly progress: Progress; readonly shown: ReturnType<typeof followMany> },
): WatchedMirror {
  return async (wish) => {
    const { evidenceExportId } = wish;
    const tally = new MirrorTally();
    const onProgress = events.follow(evidenceExportId, shown.begin(evidenceExportId, tally));
    try {
      const { manifestDigest } = await each(wish, joinPlace(to, evidenceExportId), onProgress);
      events.exportEnded(evidenceExportId, tally);
      return { manifestDigest, tally };
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
  client: Client,
  options: ManyOptions,
  onRetry: OnRetry,
): Promise<Selection> {
  const { list, project, since, wait } = options;
  const exports: Selection =
    list === undefined
      ? await discoverExports(client, project, {
          unfinished: wait !== undefined,
          signal: cli.signal,
          onRetry,
          ...defined({ sinceMs: since }),
          isMirrored: createMirrorLookup(cli, options),
        })
      : { wishes: await readWishes(cli, list, project) };
  if (exports.wishes.length === 0) throw createNoExportsError(exports, options);
  return exports;
}

/**
 * Looks up whether the archive has a manifest of an export, which is written last. A prefix in S3 is listed once; a folder is
 * asked for each export.
 */
function createMirrorLookup(
  cli: Cli,
  { to, bagit = false }: ManyOptions,
): (evidenceExportId: string) => Promise<boolean> {
  let archive: Promise<Files | undefined> | undefined;
  const look = async () => closeAfter(await openVolume(to, cli.env), (volume) => volume.look());
  return async (id) => {
    const files = await (archive ??= look());
    return (await files?.size(`${id}/${bagit ? BAG_PAYLOAD : ''}${EXPORT_MANIFEST}`)) !== undefined;
  };
}

function createNoExportsError({ older = 0 }: Selection, { since }: ManyOptions): DrillproofError {
  const message =
    since === undefined || older === 0
      ? 'there is no export to mirror'
      : `no export is missing or changed since ${isoTime(since)}; ${countNoun(older, 'older one')} omitted`;
  return new DrillproofError('mirror.NOTHING_FOUND', message);
}

const createRetryNotes =
  (progress: Progress, events: MirrorEvents): OnRetry =>
  ({ error, delayMs }) => {
    progress.note(formatRetry({ delayMs }, `the list of exports: ${readErrorMessage(error)}`));
    events.listRetry(error, delayMs);
  };

/** Appends the id of an export to a folder or to the prefix of an address. */
export function joinPlace(to: string, evidenceExportId: string): string {
  if (!isS3Url(to)) return join(to, evidenceExportId);
  const [place = '', ...parameters] = to.split('?');
  return [`${place.replace(/\/$/, '')}/${evidenceExportId}/`, ...parameters].join('?');
}

const MAX_LIST_BYTES = 64 * 1024 * 1024;
const FORM = 'Each line is the id of an export, optionally with a space and the digest of its manifest.';

/**
 * Reads a list of exports, one per line (`evexp_… [sha256:…]`), before anything is fetched. Empty lines and lines that
 * begin with # are skipped.
 */
async function readWishes(cli: Cli, list: string, projectId: string): Promise<readonly Wish[]> {
  const name = formatInputName(list);
  const lines = fromUtf8(await readInput(list, MAX_LIST_BYTES, cli)).split(/\r?\n/);
  const wishes = new Map<string, Wish>();
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [id = '', expectManifest, ...more] = line.trim().split(/[ \t]+/);
    const isValid = evidenceExportIdSchema.safeParse(id).success;
    if (!isValid || more.length > 0 || !(expectManifest === undefined || isDigest(expectManifest)))
      throw usageError(`${name}, line ${i + 1}: this is not the id of an export`, FORM);
    if (wishes.has(id)) throw usageError(`${name}, line ${i + 1}: ${id} is named more than once`, FORM);
    wishes.set(id, { projectId, evidenceExportId: id, ...defined({ expectManifest }) });
  }
  return [...wishes.values()];
}
