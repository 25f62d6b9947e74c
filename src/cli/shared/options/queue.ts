import { hostname } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { canonicalBytes, digestOf, type JsonValue } from '../../../bytes/index.ts';
import { type Code, codeEntry } from '../../../codes/index.ts';
import { type JobResult, parseQueueAddress, type WorkQueue } from '../../../node/queue/index.ts';
import { isS3Url, parseS3Location, s3Name } from '../../../node/s3/index.ts';
import { codeSchema } from '../../../verify/index.ts';
import { wholeNumber } from './options.ts';
import { duration, usageError } from './values.ts';

/** Which queue is shared, and how its work is tried again. */
export type QueueOptions = {
  readonly queue?: string;
  readonly queueName?: string;
  readonly queueRetries?: number;
  readonly queueLostAfter?: number;
};

const LEAST_LOST_MS = 10_000;
const DEFAULTS = { queueRetries: 4, queueLostAfter: 60_000 };

export function queueOptions(command: Command): Command {
  return command
    .option('--queue <url>', 'share the work with other machines through PostgreSQL (postgres://…)')
    .option('--queue-name <name>', 'name of the run; default: by what the command does', queueName)
    .option('--queue-retries <n>', 'tries after the first one that failed (default: 4)', wholeNumber(0, 100))
    .option(
      '--queue-lost-after <duration>',
      'take a worker for dead that gives no sign for so long (default: 1m)',
      lostAfter,
    );
}

function queueName(value: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be 1 to 64 letters, digits and ._-, with a letter or digit first.');
}

function lostAfter(value: string): number {
  const ms = duration(value);
  if (ms >= LEAST_LOST_MS) return ms;
  throw new InvalidArgumentError('It must be 10s or more.');
}

/** What is said of a queue goes with one, and one needs a place that machines can share. */
export function assertQueue(options: QueueOptions, place: string): void {
  const { queue, queueName: name, queueRetries, queueLostAfter } = options;
  if (queue !== undefined) {
    parseQueueAddress(queue);
    if (isS3Url(place)) return;
    throw usageError(
      'with --queue the place must be s3://bucket/prefix',
      'The lock of a folder holds on one machine only; use S3, or --shard with a folder for each machine.',
    );
  }
  const given = Object.entries({ name, retries: queueRetries, 'lost-after': queueLostAfter });
  const stray = given.find(([, value]) => value !== undefined);
  if (stray !== undefined) throw usageError(`--queue-${stray[0]} is for --queue`);
}

/** A place in S3, without what differs between machines. */
export function sharedPlace(place: string): JsonValue {
  const location = parseS3Location(place, { name: 'the address in S3', code: 'usage.INVALID' });
  return { place: s3Name(location), endpoint: location.endpoint ?? null };
}

/** A run of many machines as this one takes part in it. */
export type SharedRun = { readonly name: string; readonly queue: WorkQueue; readonly worker: string };

/**
 * Opens the queue of a run. `facts` say what it does; machines that do something else are refused, and without a name
 * it is named after them. Only loaded here: who shares no work needs nothing of it.
 */
export async function openRun(
  kind: 'mirror' | 'scrub',
  facts: JsonValue,
  { queue: url = '', ...options }: QueueOptions,
): Promise<SharedRun> {
  const work = digestOf(canonicalBytes([kind, facts]));
  const name = `${kind}.${options.queueName ?? work.slice('sha256:'.length).slice(0, 16)}`;
  const { queueRetries: retries, queueLostAfter: lostAfterMs } = { ...DEFAULTS, ...options };
  const { openQueue } = await import('../../../node/queue/index.ts');
  const queue = await openQueue(parseQueueAddress(url), { name, work, retries, lostAfterMs });
  return { name, queue, worker: `${hostname()}:${process.pid}` };
}

const workerSchema = z.object({ worker: z.string() });
const failedSchema = z.object({
  code: codeSchema,
  message: z.string(),
  details: z.record(z.string(), z.unknown()).exactOptional(),
});

/** The workers that ended a piece of work, each once. */
export const workersOf = (results: readonly JobResult[]): string[] =>
  [...new Set(results.flatMap(({ output }) => workerSchema.safeParse(output).data?.worker ?? []))].toSorted();

export const isFailed = ({ state }: JobResult): boolean => state === 'failed' || state === 'cancelled';

/** Why a piece of work failed: what its last worker said, unless somebody else ended it. */
export function whyFailed({ state, output }: JobResult): {
  readonly code: Code;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
} {
  const told = state === 'failed' ? failedSchema.safeParse(output).data : undefined;
  if (told !== undefined) return told;
  const code = state === 'cancelled' ? 'queue.JOB_CANCELLED' : 'queue.WORKER_LOST';
  return { code, message: codeEntry(code).meaning };
}
