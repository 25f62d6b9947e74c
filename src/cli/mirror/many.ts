import { join } from 'node:path';
import type { Client, Retry } from '../../client/index.ts';
import { DrillproofError } from '../../errors.ts';
import { discoverExports, mirrorMany, type OnProgress, type Wish } from '../../mirror/index.ts';
import { isS3Url } from '../../node/s3/index.ts';
import { type ArchiveReport, counted, inShard, listDigest } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import type { MirrorEvents } from './events.ts';
import { readWishes } from './list.ts';
import { archiveReport, writeArchive } from './many-text.ts';
import { ManyMirrors, reasonOf, retryNote } from './progress.ts';
import { MirrorTally } from './tally.ts';
import { mirrorShared, type Asked, type ManyOptions, type WatchedEach } from './shared.ts';
import { interruption } from '../shared/output/failure.ts';
import { createProgress, type Progress } from '../shared/output/progress.ts';

type OnRetry = (retry: Retry) => void;

/** Where what happens is told to programs, and what all exports come to. */
export type MirrorWatch = { readonly events: MirrorEvents; readonly totals: MirrorTally };

/** Mirrors one export into its place. */
export type MirrorEach = (
  wish: Wish,
  to: string,
  onProgress: OnProgress,
) => Promise<{ readonly manifestDigest: string }>;

/** How each export is mirrored, what is told of it, and what ends all of them. */
type How = { readonly watch: MirrorWatch; readonly each: MirrorEach; readonly stop: AbortController };

/**
 * Mirrors each export of a list or a project into a place of its own, tells what became of them, and sets the exit code
 * to the worst.
 * @throws DrillproofError `mirror.NOTHING_FOUND`, and what reading the list or asking the control plane throws
 */
export async function mirrorEach(cli: Cli, client: Client, options: ManyOptions, how: How): Promise<void> {
  const { watch, stop } = how;
  const progress = createProgress(cli, options.check === true ? 'checked' : 'mirrored', 'exports');
  try {
    const asked = await askedFor(cli, client, options, listRetry(progress, watch.events));
    watch.events.tell({ type: 'exports', exports: asked.wishes.length });
    const watched = watchedEach(cli, options.to, progress, asked.wishes.length, how);
    const report =
      options.queue === undefined
        ? await mirrorHere(asked, watched, options, watch.totals)
        : await mirrorShared(cli, client, asked, watched, options, stop);
    progress.end();
    await writeArchive(cli, report);
  } finally {
    progress.end();
  }
}

async function mirrorHere(
  asked: Asked,
  watched: WatchedEach,
  { concurrency }: ManyOptions,
  totals: MirrorTally,
): Promise<ArchiveReport> {
  const mirrored = new Map<string, string>();
  const each = async (wish: Wish): Promise<void> => {
    const { manifestDigest } = await watched(wish);
    mirrored.set(wish.evidenceExportId, manifestDigest);
  };
  const outcome = await mirrorMany(asked.wishes, each, { atOnce: concurrency });
  return archiveReport(outcome, mirrored, totals, asked);
}

/** Shows and tells what happens to each export, and adds it up. */
function watchedEach(
  cli: Cli,
  to: string,
  progress: Progress,
  of: number,
  { watch: { events, totals }, each }: How,
): WatchedEach {
  const shown = new ManyMirrors(progress, of, totals, cli.now);
  return async (wish) => {
    const { evidenceExportId } = wish;
    const tally = new MirrorTally();
    const onProgress = events.follow(evidenceExportId, shown.begin(evidenceExportId, tally));
    try {
      const { manifestDigest } = await each(wish, placeBelow(to, evidenceExportId), onProgress);
      events.exportEnded(evidenceExportId, tally);
      return { manifestDigest, tally };
    } catch (cause) {
      const error = cli.signal.aborted ? interruption(cause) : cause;
      if (error instanceof DrillproofError) progress.note(`failed: ${evidenceExportId}: ${error.code}`);
      events.exportEnded(evidenceExportId, tally, error);
      throw error;
    } finally {
      shown.end(evidenceExportId);
    }
  };
}

const idOf = ({ evidenceExportId }: Wish): string => evidenceExportId;

/** @throws DrillproofError `mirror.NOTHING_FOUND` */
async function askedFor(cli: Cli, client: Client, options: ManyOptions, onRetry: OnRetry): Promise<Asked> {
  const whole = await findExports(cli, client, options, onRetry);
  if (whole.wishes.length === 0) throw nothingFound(whole, options);
  const { shard, list } = options;
  if (shard === undefined) return whole;
  // What a project has may change from one shard to the next; a list may not.
  const cut = list === undefined ? {} : { list: listDigest(whole.wishes.map(idOf)) };
  return { ...whole, wishes: inShard(whole.wishes, idOf, shard), shard: { ...shard, ...cut } };
}

function nothingFound({ older = 0 }: Asked, { since }: ManyOptions): DrillproofError {
  const message =
    since === undefined || older === 0
      ? 'there is no export to mirror'
      : `no export changed since ${new Date(since).toISOString()}; ${counted(older, 'older one')} left out`;
  return new DrillproofError('mirror.NOTHING_FOUND', message);
}

/** Tells people and programs that a page of the list of exports is asked for again. */
const listRetry =
  (progress: Progress, events: MirrorEvents): OnRetry =>
  ({ error, delayMs }) => {
    progress.note(retryNote({ delayMs }, `the list of exports: ${reasonOf(error)}`));
    events.listRetry(error, delayMs);
  };

async function findExports(cli: Cli, client: Client, options: ManyOptions, onRetry: OnRetry): Promise<Asked> {
  const { list, project, since, wait } = options;
  if (list !== undefined) return { wishes: await readWishes(cli, list, project) };
  return discoverExports(client, project, {
    unfinished: wait !== undefined,
    signal: cli.signal,
    onRetry,
    ...(since !== undefined && { sinceMs: since }),
  });
}

/** The folder, or the prefix, of one export; the parameters of an address stay behind it. */
export function placeBelow(to: string, evidenceExportId: string): string {
  if (!isS3Url(to)) return join(to, evidenceExportId);
  const [place = '', ...parameters] = to.split('?');
  return [`${place.replace(/\/$/, '')}/${evidenceExportId}/`, ...parameters].join('?');
}
