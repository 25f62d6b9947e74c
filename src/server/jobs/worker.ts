import {
  AMOUNT,
  checkArguments,
  COUNT,
  defined,
  FUNCTION,
  LIST,
  listOf,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TEXT,
  withMembers,
} from '../../bytes/arguments.ts';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { driveJob, type Driven } from './drive.ts';
import {
  correlationIdOf,
  driveDefaults,
  type DriveOptions,
  type JobHandler,
  type Sweep,
  waitFor,
} from './handler.ts';
import { createHostedJob, type RunnerHost } from './run/hosted-job.ts';
import { rerunWork } from './run/rerun.ts';
import type { Runner, RunnerKind } from './run/runner.ts';
import { turnWork } from './run/turn.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { type Log, traceLog } from '../model/log.ts';
import type { Job, Store } from '../store/store.ts';

async function sweepOnce({ name, run }: Sweep, signal: AbortSignal, log: Log): Promise<void> {
  try {
    const count = await run(signal);
    if (count > 0) log({ level: 'info', event: 'worker.swept', facts: { sweep: name, count } });
  } catch (error) {
    log({ level: 'warn', event: 'worker.sweep.failed', facts: { sweep: name }, error });
  }
}

/** Repeats each sweep at its interval until the signal aborts; resolves when none is running. */
async function runSweeps(sweeps: readonly Sweep[], signal: AbortSignal, log: Log): Promise<void> {
  const repeat = async (sweep: Sweep): Promise<void> => {
    while (!signal.aborted) {
      await sweepOnce(sweep, signal, log);
      await waitFor(sweep.everyMs, signal);
    }
  };
  await Promise.all(sweeps.map(repeat));
}

/** The options of `createWorker`. Only `store` is required. */
export type WorkerOptions = Partial<Omit<DriveOptions, 'store'>> & {
  readonly store: Store;
  /** Performs authoring turns and reruns; without one they stay queued. */
  readonly runner?: Runner;
  /** Stores the evidence that a runner of reruns hands in; required for one. */
  readonly blobs?: Blobs;
  /** Further kinds of work, such as generating exports. */
  readonly handlers?: readonly JobHandler[];
  readonly sweeps?: readonly Sweep[];
  /** Takes only turns and reruns with one of these labels of each name, such as `environment=env_…`; default: all. */
  readonly labels?: readonly string[];
  /** Jobs at once; default 1. */
  readonly concurrency?: number;
  /** How often an empty queue is polled, in milliseconds; default 1,000. */
  readonly pollMs?: number;
  /** How long `stop` waits for running jobs before it returns them to the queue. Default 30,000. */
  readonly drainMs?: number;
};
const WORKER_OPTIONS: MembersOf<WorkerOptions> = {
  store: OBJECT,
  runner: optional(withMembers('a Runner', { kinds: LIST, run: FUNCTION })),
  blobs: optional(OBJECT),
  handlers: optional(LIST),
  sweeps: optional(LIST),
  labels: optional(listOf(TEXT)),
  concurrency: optional(COUNT),
  pollMs: optional(AMOUNT),
  drainMs: optional(AMOUNT),
  now: optional(FUNCTION),
  log: optional(FUNCTION),
  worker: optional(TEXT),
  leaseMs: optional(AMOUNT),
  heartbeatMs: optional(AMOUNT),
  maxAttempts: optional(COUNT),
  retryMs: optional(AMOUNT),
  maxRetryMs: optional(AMOUNT),
  graceMs: optional(AMOUNT),
  random: optional(FUNCTION),
};

/** A worker that claims jobs and finishes them. */
export type Worker = {
  /** Begins to claim jobs. */
  start(): void;
  /** Claims one job and completes it; `undefined` if none waits. For programs with their own loop. */
  workOnce(): Promise<Driven | undefined>;
  /** Claims no more jobs, waits up to `drainMs` for running ones, and returns the others to the queue. */
  stop(): Promise<void>;
};

const RUNNER_HANDLERS: Readonly<Record<RunnerKind, (host: RunnerHost) => JobHandler>> = {
  'authoring.turn': (host) => createHostedJob(turnWork, host),
  'run.rerun': (host) => createHostedJob(rerunWork, host),
};

const generateName = (): string => `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`;

function listHandlers(
  { runner, blobs, handlers = [] }: WorkerOptions,
  { store, now, log, graceMs: inAllMs }: DriveOptions,
) {
  if (runner?.kinds.includes('run.rerun') === true && blobs === undefined)
    throw new TypeError('options.blobs is required for a runner of reruns');
  const graceMs = Math.floor(inAllMs * 0.8); // the rest is for the worker, which kills and cleans up
  const host = { blobs, store, now, log, graceMs };
  const hosted = runner?.kinds.map((kind) => RUNNER_HANDLERS[kind]({ runner, ...host })) ?? [];
  return new Map([...handlers, ...hosted].map((handler) => [handler.kind, handler]));
}

/**
 * Creates a worker over a store, which claims queued operations and completes them (docs/server/server.md). Any number
 * of workers may run at the same time. A job whose worker dies is taken over when its lease expires.
 * @throws TypeError for an argument of the wrong kind
 * @example
 * const { store, blobs } = await openEmbedded('data');
 * const context = { store, blobs, now: Date.now, log: () => undefined };
 * const worker = createWorker({ store, ...standardWork(context) });
 * worker.start();
 */
export function createWorker(options: WorkerOptions): Worker {
  checkArguments({ options: optionsOf(WORKER_OPTIONS) }, { options });
  const { concurrency = 1, pollMs = 1_000, drainMs = 30_000, sweeps = [], labels = [] } = options;
  const defaults = { now: Date.now, log: () => undefined, worker: generateName(), random: Math.random };
  const drive: DriveOptions = { ...driveDefaults, ...defaults, ...defined(options) };
  const { store, now, log, worker, leaseMs } = drive;
  const handlers = listHandlers(options, drive);
  const claiming = new AbortController(); // aborted: no new job is claimed
  const working = new AbortController(); // aborted: running jobs return to the queue
  const active = new Set<Promise<void>>();
  let loops: Promise<unknown> = Promise.resolve();

  const claim = (): Promise<Job | undefined> =>
    store.claimJob({ kinds: [...handlers.keys()], labels, worker, nowMs: now(), leaseMs });
  const run = async (job: Job): Promise<Driven> => {
    const { operationId, kind, attempt } = job;
    const handler = handlers.get(kind);
    if (handler === undefined) throw new TypeError('a job of an unknown kind was claimed');
    const jobLog = traceLog(log, job.traceparent);
    const driven = await driveJob({ ...drive, log: jobLog }, handler, job, working.signal);
    const level = driven === 'failed' || driven === 'lost' ? 'warn' : 'info';
    const correlationId = correlationIdOf(operationId);
    jobLog({ level, event: `worker.job.${driven}`, correlationId, facts: { operationId, kind, attempt } });
    return driven;
  };
  const runAside = (job: Job): void => {
    const { operationId, kind } = job;
    const done: Promise<void> = run(job).then(
      () => void active.delete(done),
      (error: unknown) => {
        active.delete(done);
        log({ level: 'error', event: 'worker.job.broken', facts: { operationId, kind }, error });
      },
    );
    active.add(done);
  };
  const claimOrWait = async (): Promise<void> => {
    try {
      const job = await claim();
      if (job !== undefined) return runAside(job);
    } catch (error) {
      log({ level: 'warn', event: 'worker.claim.failed', error });
    }
    await waitFor(pollMs, claiming.signal);
  };
  const loop = async (): Promise<void> => {
    while (!claiming.signal.aborted) {
      if (active.size < concurrency) await claimOrWait();
      else await Promise.race(active);
    }
  };

  return {
    start() {
      loops = Promise.all([loop(), runSweeps(sweeps, claiming.signal, log)]);
    },
    async workOnce() {
      const job = await claim();
      return job === undefined ? undefined : run(job);
    },
    async stop() {
      claiming.abort();
      const late = setTimeout(() => working.abort(), drainMs);
      await loops;
      await Promise.all(active);
      clearTimeout(late);
    },
  };
}
