import type { Digest } from '../bytes/hash.ts';
import { DrillproofError } from '../errors.ts';
import {
  repairMirror,
  scrubMany,
  type MirrorClient,
  type MirrorScrub,
  type ScrubEvent,
  type ScrubOptions,
} from '../mirror/index.ts';
import { openScrubArchive, type ScrubArchive } from '../node/scrub-archive.ts';
import type { Depth } from '../verify/index.ts';
import type { Cli } from './cli.ts';
import { createProgress, type Progress } from './progress.ts';
import { openRepairs, type RepairCommandOptions, type Repairs } from './scrub-repairs.ts';
import { createTally, type ScrubTotals, type Tally } from './scrub-tally.ts';
import { writeScrub } from './scrub-text.ts';
import type { TrustOptions } from './trust-options.ts';
import { readTrust } from './trusting.ts';
import { usageError } from './usage.ts';
import { ownVersion } from './version.ts';

/** What the command line says, parsed. */
export type ScrubCommandOptions = TrustOptions & {
  readonly for?: number;
  readonly olderThan?: number;
  readonly depth: Depth;
  readonly jobs: number;
  readonly journal?: string;
  readonly expectManifest?: Digest;
  readonly secondOpinion?: boolean;
} & RepairCommandOptions;

/** Scrubs an archive, tells what was found, and sets the exit code by it. */
export async function scrub(cli: Cli, place: string, options: ScrubCommandOptions): Promise<void> {
  const { journal, jobs } = options;
  const how = await scrubOptions(cli, options);
  const repairs = await openRepairs(cli, options);
  const archive = await openScrubArchive(place, {
    env: cli.env,
    jobs,
    ...(journal !== undefined && { journal }),
  });
  try {
    if (archive.mirrors.length === 0)
      throw new DrillproofError('scrub.NOTHING_FOUND', `${place} holds no mirror`, { path: place });
    if (options.expectManifest !== undefined && !archive.single)
      throw usageError('--expect-manifest is about one mirror', 'Name the folder or prefix of that mirror.');
    await writeScrub(cli, await scrubAll(cli, archive, how, options, repairs), place);
  } finally {
    await repairs?.close();
    await archive.close();
  }
}

async function scrubAll(
  cli: Cli,
  archive: ScrubArchive,
  how: ScrubOptions,
  { project }: ScrubCommandOptions,
  repairs: Repairs | undefined,
): Promise<ScrubTotals> {
  const tally = createTally(archive);
  const progress = createProgress(cli, 'scrubbed', 'mirrors');
  try {
    const onProgress = follow(progress, archive.mirrors.length, tally);
    const repair = {
      ...how,
      ...(project !== undefined && { projectId: project }),
    };
    await scrubMany(archive, { ...how, onProgress }, async (result, at) => {
      noteFaults(progress, result);
      const from = (): Promise<MirrorClient> => repairs!.clientFor(result.name);
      tally.add(repairs === undefined ? result : await repairMirror(at, result, from, repair));
    });
    return tally.totals;
  } catch (error) {
    throw withAdvice(error);
  } finally {
    progress.end();
  }
}

/** A scrub writes nothing but its journals, so that is what could not be written. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof DrillproofError) || error.code !== 'io.READ_ONLY') return error;
  const { code, message, path } = error;
  const details = { hint: 'Name a folder for the journals that can be written to with --journal.' };
  return new DrillproofError(code, message, { details, cause: error, ...(path !== undefined && { path }) });
}

function follow(progress: Progress, of: number, tally: Tally): (event: ScrubEvent) => void {
  let bytes = 0;
  return (event) => {
    if (event.type !== 'read') return;
    bytes += event.bytes;
    progress.update({ done: tally.totals.mirrors, of, bytes });
  };
}

function noteFaults(progress: Progress, { name, faults }: MirrorScrub): void {
  for (const { found, path, code } of faults.slice(0, 10))
    if (found !== 'extra') progress.note(`${found}: ${name}/${path}: ${code}`);
}

async function scrubOptions(cli: Cli, options: ScrubCommandOptions): Promise<ScrubOptions> {
  const { olderThan, depth, jobs, expectManifest } = options;
  const trust = await readTrust(cli, options);
  return {
    tool: `drillproof/${await ownVersion()}`,
    depth,
    jobs,
    signal: cli.signal,
    now: cli.now,
    ...(trust !== undefined && { trust }),
    ...(expectManifest !== undefined && { expectManifest }),
    ...(options.secondOpinion === true && (await import('../node/second-opinion.ts'))),
    ...(olderThan !== undefined && { olderThanMs: olderThan }),
    ...(options.for !== undefined && { untilMs: cli.now() + options.for }),
  };
}
