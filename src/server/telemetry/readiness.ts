import { setTimeout as sleep } from 'node:timers/promises';
import { DrillproofError } from '../../errors.ts';
import { Refusal } from '../http/envelope.ts';
import type { ServerContext } from '../model/context.ts';
import type { QueueRow } from '../store/store.ts';
import type { Snapshot } from './metrics.ts';

type Check = 'ok' | 'unreachable' | 'timeout' | 'older' | 'newer' | 'stopping';

// A newer schema only adds to an older one, so instances of two versions can serve during an update.
const SERVING: ReadonlySet<Check> = new Set(['ok', 'newer']);

type QueuedKind = QueueRow & { readonly worker: 'seen' | 'not_seen' };

type Readiness = {
  readonly checks: Readonly<Record<'store' | 'schema' | 'blobs' | 'process', Check>>;
  readonly queue: readonly QueuedKind[];
};

export type ReadinessProbe = ReturnType<typeof createReadiness>;

type Options = ServerContext & { readonly timeoutMs?: number };

// Answers within this time share one check, so that requests without a token cannot load the storage.
const CACHE_MS = 1_000;
// It reads an index of every row.
const USAGE_MS = 300_000;
const WORKER_SEEN_WITHIN_MS = 60_000;
const RETRY_AFTER_MS = 1_000;

/** Waits for `work`. */
const limitTime = <T>(ms: number, work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    sleep(ms, undefined, { ref: false }).then(() => {
      throw new DrillproofError('control.UNAVAILABLE', LATE);
    }),
  ]);
const LATE = 'no answer in time';

function checkSchema({ version, known }: { version: number; known: number }): Check {
  if (version === known) return 'ok';
  return version > known ? 'newer' : 'older';
}

/** Creates the check that the store and the blobs answer and that the schema is current; it reads the queue too. */
export function createReadiness(options: Options) {
  const { store, blobs, now, log, timeoutMs = 3_000 } = options;
  let stopping = false;

  const readQueue = async (): Promise<QueuedKind[]> => {
    const nowMs = now();
    const [rows, workers] = await Promise.all([
      store.jobs.count(nowMs),
      store.workers.list(nowMs - WORKER_SEEN_WITHIN_MS),
    ]);
    const kinds = new Set(workers.flatMap((worker) => worker.kinds));
    const isSeen = ({ running, kind }: QueueRow): boolean => running > 0 || kinds.has(kind);
    return rows.map((row) => ({ ...row, worker: isSeen(row) ? 'seen' : 'not_seen' }));
  };
  const explain =
    (what: string) =>
    (error: unknown): Check => {
      log({ level: 'warn', event: 'readiness.failed', facts: { check: what }, error });
      return error instanceof DrillproofError && error.message === LATE ? 'timeout' : 'unreachable';
    };
  const checkAll = async (): Promise<Readiness> => {
    const [database, blobStore] = await Promise.all([
      limitTime(timeoutMs, Promise.all([store.schema(), readQueue()])).catch(explain('store')),
      limitTime(timeoutMs, blobs.ping()).then((): Check => 'ok', explain('blobs')),
    ]);
    const [state, queue] = typeof database === 'string' ? [undefined, []] : database;
    return {
      checks: {
        store: typeof database === 'string' ? database : 'ok',
        schema: state === undefined ? 'unreachable' : checkSchema(state),
        blobs: blobStore,
        process: 'ok',
      },
      queue,
    };
  };

  const readUsage = async (): Promise<Snapshot> => {
    const reading = Promise.all([store.usage.stored(), store.meta.backupAtMs()]);
    const usage = await limitTime(timeoutMs, reading).catch(explain('usage'));
    return typeof usage === 'string' ? {} : { stored: usage[0], backupAtMs: usage[1] };
  };
  const remember = <T>(ms: number, work: () => Promise<T>): (() => Promise<T>) => {
    let last: { readonly atMs: number; readonly result: Promise<T> } | undefined;
    return () => {
      const atMs = now();
      if (last === undefined || Math.abs(atMs - last.atMs) >= ms) last = { atMs, result: work() };
      return last.result;
    };
  };
  const [checkSometimes, readUsageSometimes] = [remember(CACHE_MS, checkAll), remember(USAGE_MS, readUsage)];

  /** Returns the readiness of at most a second ago. Never rejects. */
  const look = async (): Promise<Readiness> => {
    const readiness = await checkSometimes();
    return stopping ? { ...readiness, checks: { ...readiness.checks, process: 'stopping' } } : readiness;
  };

  return {
    look,
    /** Returns the readiness. @throws Refusal `control.UNAVAILABLE` with the checks if the process is not ready */
    async assertReady(): Promise<Readiness> {
      const readiness = await look();
      if (Object.values(readiness.checks).every((check) => SERVING.has(check))) return readiness;
      throw new Refusal('control.UNAVAILABLE', 'this process is not ready to serve', {
        retryAfterMs: RETRY_AFTER_MS,
        details: { checks: readiness.checks },
      });
    },
    /** Reads the numbers of the storage for metrics, of which those of all rows are at most five minutes old. Never rejects. */
    async snapshot(): Promise<Snapshot> {
      const [{ checks, queue }, usage] = await Promise.all([look(), readUsageSometimes()]);
      return { ...usage, queue: checks.store === 'ok' ? queue : undefined, pool: store.pool?.() };
    },
    stop: (): void => void (stopping = true),
  };
}
