import { DrillproofError } from '../../errors.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { TransferSlots } from '../http/rate-limit.ts';
import type { PoolState, QueueRow, Store } from '../store/store.ts';
import { createHistogram, createNumbers, formatExposition } from './exposition.ts';
import { readProcessMetrics } from './process.ts';

type EndedRequest = {
  readonly operation: string;
  readonly status: number;
  readonly seconds: number;
  readonly bytes: number;
};

/** What is read when metrics are; a member is absent if it could not be read, or does not exist here. */
export type Snapshot = {
  readonly queue?: readonly QueueRow[] | undefined;
  readonly stored?: readonly { readonly name: string; readonly value: number }[] | undefined;
  readonly backupAtMs?: number | undefined;
  readonly pool?: PoolState | undefined;
  readonly transfers?: Readonly<Record<string, TransferSlots>>;
};

export type Metrics = ReturnType<typeof createMetrics>;

// From a cached answer to a large download.
const DURATION_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

// From one row in memory to the hash of a large blob.
const CALL_BOUNDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60];

const createCounter = (name: string, help: string) => createNumbers('counter', `drillproof_${name}`, help);
const createGauge = (name: string, help: string) => createNumbers('gauge', `drillproof_${name}`, help);

/** The code of a failure of the storage itself; `undefined` for a refusal of the work that called it. */
function faultOf(error: unknown): string | undefined {
  if (!(error instanceof DrillproofError)) return 'other';
  const { code } = error;
  return /^(io\.|control\.(UNAVAILABLE|STORED_BYTES_CORRUPT)$)/.test(code) ? code : undefined;
}

type Call = { readonly name: string; readonly seconds: number; readonly error?: unknown };
type AnyCall = (...values: readonly unknown[]) => unknown;

/** Wraps a function: each call that returns a promise is reported when it ends. */
const timeCall =
  (name: string, work: AnyCall, report: (call: Call) => void): AnyCall =>
  (...values) => {
    const startedMs = performance.now();
    const result = work(...values);
    const end = (error?: unknown): void =>
      report({ name, seconds: (performance.now() - startedMs) / 1000, error });
    if (result instanceof Promise) result.then(() => end(), end);
    return result;
  };

/** Wraps the functions of an object by their names, and those of its members as `read`. */
function timeCalls<T extends object>(target: T, report: (call: Call) => void, name?: 'read'): T {
  const members = Object.entries(target).map(([key, member]: [string, unknown]) => {
    if (typeof member === 'function') return [key, timeCall(name ?? key, member as AnyCall, report)];
    const isGroup = typeof member === 'object' && member !== null;
    return [key, isGroup ? timeCalls(member, report, 'read') : member];
  });
  return Object.fromEntries(members) as T;
}

/** Creates the metrics of one process. Each label is one of a few fixed words, never an id, an address or a secret. */
export function createMetrics(build: { readonly version: string; readonly node: string }) {
  const requests = createCounter('http_requests_total', 'Requests answered, by operation and status.');
  const durations = createHistogram(
    'drillproof_http_request_duration_seconds',
    'Time from the request to the end of its answer, downloads included.',
    DURATION_BOUNDS,
  );
  const inFlight = createGauge('http_requests_in_flight', 'Requests whose answer has not ended.');
  const bytes = createCounter('http_response_bytes_total', 'Bytes of the bodies of answers.');
  const limited = createCounter('http_rate_limited_total', 'Requests refused for the rate of a token.');
  const jobs = createCounter('worker_jobs_total', 'Jobs of this worker, by kind and outcome.');
  const queue = createGauge('queue_operations', 'Queued work, by kind and state of its operation.');
  const oldest = createGauge('queue_oldest_seconds', 'How long the oldest waiting work waits, by kind.');
  const readable = createGauge('queue_readable', 'Whether the queue could be read, 1 or 0.');
  const info = createGauge('build_info', 'What runs here; always 1.');
  const calls = createHistogram(
    'drillproof_storage_call_duration_seconds',
    'Time of a call to the database, or to the blobs (S3 or disk).',
    CALL_BOUNDS,
  );
  const faults = createCounter('storage_errors_total', 'Calls to the storage that failed, by code.');
  const connections = createGauge('database_connections', 'Connections of the pool for changes, by state.');
  const pending = createGauge('database_waiting', 'Changes that wait for a connection.');
  const stored = createGauge(
    'stored_bytes',
    'Bytes that rows name, by their kind; at most five minutes old.',
  );
  const backup = createGauge('last_backup_timestamp_seconds', 'Time of the last backup; 0 for none.');
  const transfers = createGauge('transfers', 'Running downloads and uploads.');
  const most = createGauge('transfers_limit', 'The most transfers that may run at once.');
  const snapshots = [queue, oldest, connections, pending, stored, backup, transfers, most];
  const called =
    (storage: 'database' | 'blobs') =>
    ({ name: call, seconds, error }: Call): void => {
      calls.observe({ storage, call }, seconds);
      const code = error === undefined ? undefined : faultOf(error);
      if (code !== undefined) faults.add({ storage, code });
    };
  let open = 0;
  info.set({ version: build.version, node: build.node }, 1);
  limited.add({}, 0);

  return {
    began: (): void => void open++,
    ended({ operation, status, seconds, bytes: sent }: EndedRequest): void {
      open--;
      requests.add({ operation, status: `${Math.floor(status / 100)}xx` });
      durations.observe({ operation }, seconds);
      bytes.add({ operation }, sent);
    },
    rateLimited: () => limited.add({}),
    jobEnded: (kind: string, outcome: string) => jobs.add({ kind, outcome }),
    measure: <S extends { readonly store: Store; readonly blobs: Blobs }>(stores: S): S => ({
      ...stores,
      store: timeCalls(stores.store, called('database')),
      blobs: timeCalls(stores.blobs, called('blobs')),
    }),
    text(snapshot: Snapshot): string {
      for (const family of snapshots) family.clear();
      inFlight.set({}, open);
      for (const { kind, waiting, running, oldestMs } of snapshot.queue ?? []) {
        queue.set({ kind, state: 'waiting' }, waiting);
        queue.set({ kind, state: 'running' }, running);
        oldest.set({ kind }, oldestMs / 1000);
      }
      readable.set({}, snapshot.queue === undefined ? 0 : 1);
      for (const { name, value } of snapshot.stored ?? []) stored.add({ kind: name }, value);
      if (snapshot.backupAtMs !== undefined) backup.set({}, snapshot.backupAtMs / 1000);
      if (snapshot.pool !== undefined) {
        const { open: all, idle, waiting } = snapshot.pool;
        connections.set({ state: 'idle' }, idle);
        connections.set({ state: 'busy' }, all - idle);
        pending.set({}, waiting);
      }
      for (const [kind, slots] of Object.entries(snapshot.transfers ?? {})) {
        transfers.set({ kind }, slots.running());
        most.set({ kind }, slots.limit);
      }
      const own = [requests, durations, inFlight, bytes, limited, jobs, calls, faults, readable, info];
      return formatExposition([...own, ...snapshots, ...readProcessMetrics()]);
    },
  };
}
