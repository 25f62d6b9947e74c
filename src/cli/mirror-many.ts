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
import { count, counted } from '../report/figures.ts';
import type { Cli } from './cli.ts';
import { EXIT } from './exit.ts';
import { exitOfCode, worstExit } from './exit-codes.ts';
import { readWishes } from './mirror-list.ts';
import { ManyMirrors } from './mirror-progress.ts';
import { MirrorTally } from './mirror-tally.ts';
import { writeProduct } from './product.ts';
import { createProgress } from './progress.ts';
import { facts, table } from './table.ts';

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
type Asked = {
  readonly wishes: readonly Wish[];
  readonly left?: ReadonlyMap<string, number>;
  readonly older?: number;
};

/**
 * Mirrors each export of a list or a project into a place of its own, tells what became of them, and sets the exit code
 * to the worst.
 * @throws DrillproofError `mirror.NOTHING_FOUND`, and what reading the list or asking the control plane throws
 */
export async function mirrorEach(
  cli: Cli,
  client: Client,
  options: ManyOptions,
  each: (wish: Wish, to: string, onProgress: OnProgress) => Promise<unknown>,
): Promise<void> {
  const asked = await askedFor(cli, client, options);
  if (asked.wishes.length === 0)
    throw new DrillproofError('mirror.NOTHING_FOUND', 'there is no export to mirror');
  const progress = createProgress(cli, 'mirrored', 'exports');
  const shown = new ManyMirrors(progress, asked.wishes.length, cli.now);
  try {
    const mirrorOne = async (wish: Wish): Promise<void> => {
      const { evidenceExportId } = wish;
      const onProgress = shown.begin(evidenceExportId, new MirrorTally());
      try {
        await each(wish, placeBelow(options.to, evidenceExportId), onProgress);
      } catch (error) {
        if (error instanceof DrillproofError) progress.note(`failed: ${evidenceExportId}: ${error.code}`);
        throw error;
      } finally {
        shown.end(evidenceExportId);
      }
    };
    const outcome = await mirrorMany(asked.wishes, mirrorOne, { atOnce: options.concurrency });
    progress.end();
    await tell(cli, outcome, asked);
  } finally {
    progress.end();
  }
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

async function tell(
  cli: Cli,
  outcome: ArchiveOutcome,
  { left = new Map(), older = 0 }: Asked,
): Promise<void> {
  const { exports, complete, untried, moreFailures, codes } = outcome;
  const failures = outcome.failures.map(({ evidenceExportId, error: { code, message } }) => ({
    evidenceExportId,
    code,
    message,
  }));
  const exits = [...codes].map(exitOfCode);
  cli.exitCode = cli.signal.aborted ? EXIT.interrupted : worstExit([EXIT.pass, ...exits]);
  const failed = failures.length + moreFailures;
  const lines = facts([
    [
      'exports',
      `${count(exports)}: ${count(complete)} complete, ${count(failed)} failed, ${count(untried)} untried`,
    ],
    ['left', left.size === 0 ? undefined : [...left].map(([state, times]) => `${times} ${state}`).join(', ')],
    ['older', older === 0 ? undefined : counted(older, 'export')],
  ]);
  const rows = failures.map(({ evidenceExportId, code, message }) => [evidenceExportId, code, message]);
  const more = moreFailures === 0 ? '' : `and ${counted(moreFailures, 'failure')} more\n`;
  const told = rows.length === 0 ? '' : `\n${table(['failed', 'code', 'why'], rows)}${more}`;
  const json = {
    kind: 'mirror.archive',
    exports,
    complete,
    failed,
    untried,
    older,
    left: Object.fromEntries(left),
  };
  await writeProduct(cli, { ...json, failures }, lines + told);
}
