import { join } from 'node:path';
import type { Client } from '../client/index.ts';
import { DrillproofError } from '../errors.ts';
import {
  discoverExports,
  mirrorMany,
  type ArchiveOutcome,
  type OnProgress,
  type Wish,
} from '../mirror/index.ts';
import { isS3Url } from '../node/s3/location.ts';
import type { Cli } from './cli.ts';
import { EXIT } from './exit.ts';
import { exitOfCode, worstExit } from './exit-codes.ts';
import type { MirrorEvents } from './mirror-events.ts';
import { readWishes } from './mirror-list.ts';
import { archiveJson, archiveText, type Aside } from './mirror-many-text.ts';
import { ManyMirrors } from './mirror-progress.ts';
import { MirrorTally } from './mirror-tally.ts';
import { writeProduct } from './product.ts';
import { createProgress, type Progress } from './progress.ts';

/** Which exports are meant. */
export type ManyOptions = {
  readonly list?: string;
  readonly all?: boolean;
  readonly since?: number;
  readonly project: string;
  readonly to: string;
  readonly concurrency: number;
  readonly wait?: number;
};

/** What is known of the exports before any of them is mirrored. */
type Asked = Aside & { readonly wishes: readonly Wish[] };

/** Where what happens is told to programs, and what all exports come to. */
export type MirrorWatch = { readonly events: MirrorEvents; readonly totals: MirrorTally };

/** Mirrors one export into its place. */
type Each = (wish: Wish, to: string, onProgress: OnProgress) => Promise<unknown>;

/**
 * Mirrors each export of a list or a project into a place of its own, tells what became of them, and sets the exit code
 * to the worst.
 * @throws DrillproofError `mirror.NOTHING_FOUND`, and what reading the list or asking the control plane throws
 */
export async function mirrorEach(
  cli: Cli,
  client: Client,
  options: ManyOptions,
  watch: MirrorWatch,
  each: Each,
): Promise<void> {
  const asked = await askedFor(cli, client, options);
  if (asked.wishes.length === 0)
    throw new DrillproofError('mirror.NOTHING_FOUND', 'there is no export to mirror');
  watch.events.tell({ type: 'exports', exports: asked.wishes.length });
  const progress = createProgress(cli, 'mirrored', 'exports');
  try {
    const watched = watchedEach(cli, options.to, progress, { of: asked.wishes.length, watch, each });
    const outcome = await mirrorMany(asked.wishes, watched, { atOnce: options.concurrency });
    progress.end();
    await tell(cli, outcome, watch.totals, asked);
  } finally {
    progress.end();
  }
}

/** Shows and tells what happens to each export, and adds it up. */
function watchedEach(
  cli: Cli,
  to: string,
  progress: Progress,
  { of, watch: { events, totals }, each }: { of: number; watch: MirrorWatch; each: Each },
): (wish: Wish) => Promise<void> {
  const shown = new ManyMirrors(progress, of, totals, cli.now);
  return async (wish) => {
    const { evidenceExportId } = wish;
    const tally = new MirrorTally();
    const onProgress = events.follow(evidenceExportId, shown.begin(evidenceExportId, tally));
    try {
      await each(wish, placeBelow(to, evidenceExportId), onProgress);
      events.exportEnded(evidenceExportId, tally);
    } catch (error) {
      if (error instanceof DrillproofError) progress.note(`failed: ${evidenceExportId}: ${error.code}`);
      events.exportEnded(evidenceExportId, tally, error);
      throw error;
    } finally {
      shown.end(evidenceExportId);
    }
  };
}

async function askedFor(cli: Cli, client: Client, options: ManyOptions): Promise<Asked> {
  const { list, project, since, wait } = options;
  if (list !== undefined) return { wishes: await readWishes(cli, list, project) };
  return discoverExports(client, project, {
    unfinished: wait !== undefined,
    signal: cli.signal,
    ...(since !== undefined && { sinceMs: since }),
  });
}

/** The folder, or the prefix, of one export; the parameters of an address stay behind it. */
export function placeBelow(to: string, evidenceExportId: string): string {
  if (!isS3Url(to)) return join(to, evidenceExportId);
  const [place = '', ...parameters] = to.split('?');
  return [`${place.replace(/\/$/, '')}/${evidenceExportId}/`, ...parameters].join('?');
}

async function tell(cli: Cli, outcome: ArchiveOutcome, totals: MirrorTally, asked: Asked): Promise<void> {
  const exits = [...outcome.codes].map(exitOfCode);
  cli.exitCode = cli.signal.aborted ? EXIT.interrupted : worstExit([EXIT.pass, ...exits]);
  await writeProduct(cli, archiveJson(outcome, totals, asked), archiveText(outcome, totals, asked));
}
