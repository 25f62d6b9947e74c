import { hostname } from 'node:os';
import { InvalidArgumentError } from 'commander';
import * as z from 'zod/mini';
import { canonicalBytes } from '../../../bytes/json/canonical.ts';
import { digestOf } from '../../../bytes/hash.ts';
import type { JsonValue } from '../../../bytes/json/parse.ts';
import { closeAfter } from '../../../bytes/async.ts';
import { type Code, codeEntry } from '../../../codes/catalogue.ts';
import { type JobResult, openQueue, parseQueueAddress, type QueueItem } from '../../../node/queue/queue.ts';
import { workThrough } from '../../../node/queue/work.ts';
import { isS3Url, parseS3Location, s3Name } from '../../../node/s3/location.ts';
import { codeSchema } from '../../../verify/report-schema.ts';
import { type Cli, printNote } from '../../cli.ts';
import { option, type OptionsOf } from './option.ts';
import { parseNumberBetween } from './options.ts';
import { parseDuration, usageError } from './values.ts';

const LEAST_LOST_MS = 10_000;

/** The options of shared work. `needed` are options of which a shared run needs one. */
export const queueOptions = (...needed: readonly string[]) => [
  option('--queue <url>', 'share the work with other machines through PostgreSQL (postgres://…)').needs(
    ...needed,
  ),
  option('--queue-name <name>', 'name of the run (default: derived from the work)', parseQueueName).needs(
    '--queue',
  ),
  option(
    '--queue-retries <n>',
    'tries after the first failure (default: 4)',
    parseNumberBetween(0, 100),
  ).needs('--queue'),
  option(
    '--queue-lost-after <duration>',
    'treat a worker as dead after this time without a heartbeat (default: 1m)',
    parseLostAfter,
  ).needs('--queue'),
];
export type QueueOptions = OptionsOf<ReturnType<typeof queueOptions>>;

const DEFAULTS = { queueRetries: 4, queueLostAfter: 60_000 };

function parseQueueName(value: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be 1 to 64 letters, digits and ._-, with a letter or digit first.');
}

function parseLostAfter(value: string): number {
  const ms = parseDuration(value);
  if (ms >= LEAST_LOST_MS) return ms;
  throw new InvalidArgumentError('It must be 10s or more.');
}

/** Requires a place in S3 for a queue. */
export function assertQueue({ queue }: QueueOptions, place: string): void {
  if (queue === undefined) return;
  parseQueueAddress(queue);
  if (!isS3Url(place))
    throw usageError(
      'with --queue the place must be s3://bucket/prefix',
      'The lock of a folder works on one machine only; use S3.',
    );
}

/** Describes a place in S3 by the members that are equal on all machines. */
export function describePlace(place: string): JsonValue {
  const location = parseS3Location(place, { name: 'the address in S3', code: 'usage.INVALID' });
  return { place: s3Name(location), endpoint: location.endpoint ?? null };
}

/** Work that machines share. Machines with other `facts` are refused. */
export type SharedWork = {
  readonly kind: 'mirror' | 'scrub';
  readonly facts: JsonValue;
  readonly items: readonly QueueItem[];
  readonly act: Parameters<typeof workThrough>[1];
  readonly atOnce: number;
  readonly stop: AbortController;
};

export type SharedRun = { readonly name: string; readonly workers: string[] };

/** Shares the work with every machine that runs the same command, and returns all results. */
export async function shareWork(
  cli: Cli,
  { kind, facts, items, act, atOnce, stop }: SharedWork,
  options: QueueOptions,
): Promise<{ readonly run: SharedRun; readonly results: readonly JobResult[] }> {
  const work = digestOf(canonicalBytes([kind, facts]));
  const name = `${kind}.${options.queueName ?? work.slice('sha256:'.length).slice(0, 16)}`;
  const { queue: url = '', queueRetries: retries, queueLostAfter: lostAfterMs } = { ...DEFAULTS, ...options };
  const jobs = await openQueue(parseQueueAddress(url), { name, work, retries, lostAfterMs });
  const worker = `${hostname()}:${process.pid}`;
  return closeAfter(jobs, async (queue) => {
    await printNote(cli, `run ${name}: worker ${worker}`);
    await queue.share(items);
    await workThrough(queue, act, { atOnce, signal: cli.signal, stop, worker });
    const results = await queue.results();
    return { run: { name, workers: listWorkers(results) }, results };
  });
}

const workerSchema = z.object({ worker: z.string() });
const failedSchema = z.object({
  code: codeSchema,
  message: z.string(),
  details: z.exactOptional(z.record(z.string(), z.unknown())),
});

const listWorkers = (results: readonly JobResult[]): string[] =>
  [...new Set(results.flatMap(({ output }) => workerSchema.safeParse(output).data?.worker ?? []))].toSorted();

export const isFailed = ({ state }: JobResult): boolean => state === 'failed' || state === 'cancelled';

/** Reads the error of the last worker of a job; a cancelled or lost job has a code instead. */
export function readJobError({ state, output }: JobResult): {
  readonly code: Code;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
} {
  const reason = state === 'failed' ? failedSchema.safeParse(output).data : undefined;
  if (reason !== undefined) return reason;
  const code = state === 'cancelled' ? 'queue.JOB_CANCELLED' : 'queue.WORKER_LOST';
  return { code, message: codeEntry(code).meaning };
}
