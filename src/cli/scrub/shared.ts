import * as z from 'zod';
import type { JsonValue } from '../../bytes/index.ts';
import type { MirrorScrub } from '../../scrub/index.ts';
import { type JobResult, workThrough } from '../../node/queue/index.ts';
import { mirrorScrubSchema } from '../../report/index.ts';
import { say, type Cli } from '../cli.ts';
import { openRun, sharedPlace, type QueueOptions } from '../shared/options/queue.ts';
import { whyFailed, workersOf } from '../shared/output/queue-results.ts';
import { usageError } from '../shared/options/usage.ts';

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
