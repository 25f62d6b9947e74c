import * as z from 'zod';
import { defined, type Digest, type JsonValue } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { MirrorClient } from '../../mirror/index.ts';
import { openScrubArchive, type ScrubArchive } from '../../node/index.ts';
import { type JobResult, workThrough } from '../../node/queue/index.ts';
import { inShard, mirrorScrubSchema, type Shard, shardName } from '../../report/index.ts';
import {
  type MirrorScrub,
  repairMirror,
  type ScrubEvent,
  scrubMany,
  type ScrubOptions,
} from '../../scrub/index.ts';
import type { Depth } from '../../verify/index.ts';
import { type Cli, say } from '../cli.ts';
import { openReplicas } from '../mirror/replica.ts';
import { toolName } from '../mirror/setting.ts';
import { openRemote } from '../shared/input/remote.ts';
import { readTrust } from '../shared/input/trust.ts';
import type { TrustOptions } from '../shared/options/evidence.ts';
import {
  assertQueue,
  openRun,
  type QueueOptions,
  sharedPlace,
  whyFailed,
  workersOf,
} from '../shared/options/queue.ts';
import { usageError } from '../shared/options/values.ts';
import { createProgress, type Progress } from '../shared/output/progress.ts';
import { loadSecondOpinion } from '../verify/run.ts';
import { createTally, type ScrubProduct, writeScrub } from './output.ts';

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
  return {
    tool: await toolName(),
    depth,
    jobs,
    signal: cli.signal,
    now: cli.now,
    ...defined({
      trust: await readTrust(cli, options),
      expectManifest,
      secondOpinion: await loadSecondOpinion(options.secondOpinion),
      olderThanMs: olderThan,
      untilMs: options.for && cli.now() + options.for,
    }),
  };
}

export type RepairCommandOptions = {
  readonly repairFrom?: string;
  readonly url?: string;
  readonly project?: string;
  readonly tokenFile?: string;
  readonly caFile?: string;
};

/** Where damaged files are brought from. */
export type Repairs = {
  /** The source of one mirror of the archive, by its name there. */
  clientFor(name: string): Promise<MirrorClient>;
  close(): Promise<void>;
};

/**
 * Opens what is to repair an archive: the control plane, or a second archive or mirror.
 * @throws DrillproofError `usage.INVALID`, and what opening an archive or reading the token throws
 */
export async function openRepairs(cli: Cli, options: RepairCommandOptions): Promise<Repairs | undefined> {
  const { repairFrom, url, project, tokenFile, caFile } = options;
  if (repairFrom === 'source') {
    if (url === undefined || project === undefined)
      throw usageError('--repair-from source needs --url and --project');
    const client = await openRemote(cli, { ...options, url, project });
    return { clientFor: () => Promise.resolve(client), close: () => Promise.resolve() };
  }
  if (url !== undefined || tokenFile !== undefined || caFile !== undefined)
    throw usageError('--url, --token-file and --ca-file are for --repair-from source');
  if (repairFrom === undefined) return undefined;
  const replicas = await openReplicas(cli, repairFrom);
  return { clientFor: async (name) => (await replicas.open(name)).client, close: () => replicas.close() };
}

/** What a run of many machines says besides what it found. */
export type ScrubRun = { readonly name: string; readonly workers: readonly string[] };

type Shared = {
  readonly place: string;
  readonly mirrors: readonly string[];
  /** What decides what a scrub is worth, in a form that says nothing secret. */
  readonly policy: JsonValue;
  readonly scrubOne: (name: string) => Promise<MirrorScrub>;
  readonly stop: AbortController;
};

type SharedScrubOptions = QueueOptions & { readonly for?: number; readonly journal?: string };

/** What a scrub that machines share cannot have. @throws DrillproofError `usage.INVALID` */
export function assertSharedScrub(options: SharedScrubOptions): void {
  if (options.queueName === undefined)
    throw usageError(
      'a scrub that is shared needs --queue-name',
      'Every scrub is a run of its own: name it alike on all machines, such as scrub-2026-11-21.',
    );
  if (options.for !== undefined)
    throw usageError('--for is about one process, and --queue shares a whole scrub', 'Use --older-than.');
  if (options.journal !== undefined)
    throw usageError('--journal is a folder of this machine', 'The journals lie beside the mirrors in S3.');
}

/**
 * Scrubs the mirrors together with every other machine that gave the same command, and gives what all of them found.
 * @throws DrillproofError `queue.UNREACHABLE`, `queue.REFUSED`, `queue.RUN_MISMATCH`
 */
export async function scrubShared(
  cli: Cli,
  { place, mirrors, policy, scrubOne, stop }: Shared,
  options: QueueOptions,
  add: (result: MirrorScrub) => void,
): Promise<ScrubRun> {
  const run = await openRun('scrub', { place: sharedPlace(place), policy }, options);
  try {
    await say(cli, `run ${run.name}: worker ${run.worker}`);
    await run.queue.share(mirrors.map((name) => ({ key: name, data: { mirror: name } })));
    const act = async ({ mirror = '' }: Readonly<Record<string, string>>) => ({
      scrub: await scrubOne(mirror),
    });
    await workThrough(run.queue, act, { atOnce: 1, signal: cli.signal, stop, worker: run.worker });
    const results = await run.queue.results();
    for (const result of results.map(scrubIn).toSorted(byName)) add(result);
    return { name: run.name, workers: workersOf(results) };
  } finally {
    await run.queue.close();
  }
}

const outputSchema = z.object({ scrub: mirrorScrubSchema });

function scrubIn(result: JobResult): MirrorScrub {
  const name = result.data['mirror'] ?? '';
  if (result.state === 'done') return outputSchema.parse(result.output).scrub;
  const nothing = { files: 0, read: 0, readBytes: 0, young: 0, left: 0, leftBytes: 0 };
  if (result.state === 'waiting' || result.state === 'active')
    return { name, outcome: 'unread', ...nothing, faults: [] };
  const { code, message } = whyFailed(result);
  return {
    name,
    outcome: 'unreadable',
    ...nothing,
    faults: [{ path: '', found: 'unreadable', code, message }],
  };
}

const byName = (a: MirrorScrub, b: MirrorScrub): number => (a.name < b.name ? -1 : 1);
