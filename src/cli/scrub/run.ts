import type { Digest } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  type MirrorScrub,
  repairMirror,
  type ScrubEvent,
  scrubMany,
  type ScrubOptions,
} from '../../scrub/index.ts';
import { openScrubArchive, type ScrubArchive } from '../../node/index.ts';
import type { Depth } from '../../verify/index.ts';
import { inShard, type Shard, shardName } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { toolName } from '../mirror/setting.ts';
import { createProgress, type Progress } from '../shared/output/progress.ts';
import { assertQueue, type QueueOptions } from '../shared/options/queue.ts';
import { openRepairs, type RepairCommandOptions, type Repairs } from './repairs.ts';
import { assertSharedScrub, scrubShared } from './shared.ts';
import { createTally } from './tally.ts';
import { writeScrub, type ScrubProduct } from './output.ts';
import type { TrustOptions } from '../shared/options/trust.ts';
import { readTrust } from '../shared/options/trusting.ts';
import { usageError } from '../shared/options/usage.ts';

/** What the command line says, parsed. */
export type ScrubCommandOptions = TrustOptions & {
  readonly for?: number;
  readonly olderThan?: number;
  readonly depth: Depth;
  readonly jobs: number;
  readonly journal?: string;
  readonly expectManifest?: Digest;
  readonly secondOpinion?: boolean;
  readonly shard?: Shard;
} & RepairCommandOptions &
  QueueOptions;

/** Scrubs an archive, tells what was found, and sets the exit code by it. */
export async function scrub(cli: Cli, place: string, options: ScrubCommandOptions): Promise<void> {
  const { journal, jobs, shard } = options;
  assertShared(options, place);
  const stop = new AbortController();
  const how = await scrubOptions({ ...cli, signal: AbortSignal.any([cli.signal, stop.signal]) }, options);
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
    const mirrors = inShard(archive.mirrors, shardName, shard);
    const part: ScrubPart = { mirrors, open: (name) => archive.open(name), strays: archive.strays };
    await writeScrub(cli, await scrubAll(cli, place, part, how, stop, options, repairs), place);
  } finally {
    await repairs?.close();
    await archive.close();
  }
}

/** What this process is to scrub. */
type ScrubPart = Pick<ScrubArchive, 'mirrors' | 'open' | 'strays'>;

/** A scrub is shared in one way, and only by what machines can share. */
function assertShared(options: ScrubCommandOptions, place: string): void {
  assertQueue(options, place);
  if (options.queue === undefined) return;
  if (options.shard !== undefined)
    throw usageError('--shard and --queue both share the work', 'Leave one of them out.');
  assertSharedScrub(options);
}

async function scrubAll(
  cli: Cli,
  place: string,
  part: ScrubPart,
  how: ScrubOptions,
  stop: AbortController,
  options: ScrubCommandOptions,
  repairs: Repairs | undefined,
): Promise<ScrubProduct> {
  const { shard, queue } = options;
  const tally = createTally(part);
  const progress = createProgress(cli, 'scrubbed', 'mirrors');
  const scrubThese = scrubber(part, how, options, repairs, progress);
  try {
    const { mirrors } = part;
    if (queue === undefined) await scrubThese(mirrors, tally.add);
    else {
      const policy = { ...policyOf(how), repairFrom: options.repairFrom ?? null };
      const scrubOne = async (name: string) => {
        const found: MirrorScrub[] = [];
        await scrubThese([name], (result) => found.push(result));
        return found[0]!;
      };
      const run = await scrubShared(cli, { place, mirrors, policy, scrubOne, stop }, options, tally.add);
      return { ...tally.totals, run };
    }
    return { ...tally.totals, ...(shard !== undefined && { shard }) };
  } catch (error) {
    throw withAdvice(error);
  } finally {
    progress.end();
  }
}

/** Scrubs some mirrors, repairs where that was asked for, and tells what came of each. */
function scrubber(
  part: ScrubPart,
  how: ScrubOptions,
  { project }: ScrubCommandOptions,
  repairs: Repairs | undefined,
  progress: Progress,
) {
  let done = 0;
  const onProgress = follow(progress, part.mirrors.length, () => done);
  const repair = { ...how, ...(project !== undefined && { projectId: project }) };
  return (mirrors: readonly string[], add: (result: MirrorScrub) => void): Promise<void> =>
    scrubMany({ mirrors, open: part.open }, { ...how, onProgress }, async (result, at) => {
      noteFaults(progress, result);
      const repairFrom = (by: Repairs) => repairMirror(at, result, () => by.clientFor(result.name), repair);
      add(repairs === undefined ? result : await repairFrom(repairs));
      done++;
    });
}

/** What decides what a look at a file is worth: machines that differ in it do not share a run. */
const policyOf = ({ tool, depth = 'digest', trust, secondOpinion, olderThanMs = 0 }: ScrubOptions) => ({
  tool,
  depth,
  trust: trust?.fingerprint ?? null,
  secondOpinion: secondOpinion !== undefined,
  olderThanMs,
});

/** A scrub writes nothing but its journals, so that is what could not be written. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof DrillproofError) || error.code !== 'io.READ_ONLY') return error;
  const { code, message, path } = error;
  const details = { hint: 'Name a folder for the journals that can be written to with --journal.' };
  return new DrillproofError(code, message, { details, cause: error, ...(path !== undefined && { path }) });
}

function follow(progress: Progress, of: number, done: () => number): (event: ScrubEvent) => void {
  let bytes = 0;
  return (event) => {
    if (event.type !== 'read') return;
    bytes += event.bytes;
    progress.update({ done: done(), of, bytes });
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
    tool: await toolName(),
    depth,
    jobs,
    signal: cli.signal,
    now: cli.now,
    ...(trust !== undefined && { trust }),
    ...(expectManifest !== undefined && { expectManifest }),
    ...(options.secondOpinion === true && (await import('../../node/second-opinion/index.ts'))),
    ...(olderThan !== undefined && { olderThanMs: olderThan }),
    ...(options.for !== undefined && { untilMs: cli.now() + options.for }),
  };
}
