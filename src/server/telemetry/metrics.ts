import { exposition, histogram, numbers } from './exposition.ts';

type EndedRequest = {
  readonly operation: string;
  readonly status: number;
  readonly seconds: number;
  readonly bytes: number;
};

/** How much work of a kind lies in the queue. */
export type QueueDepth = { readonly kind: string; readonly state: string; readonly count: number };

export type Metrics = {
  began(): void;
  ended(request: EndedRequest): void;
  rateLimited(): void;
  jobEnded(kind: string, outcome: string): void;
  /** All of it in the Prometheus text format; the queue is as it is now, `undefined` when it could not be read. */
  text(queue: readonly QueueDepth[] | undefined): string;
};

// From a cached answer to a large download.
const DURATION_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const classOf = (status: number): string => `${Math.floor(status / 100)}xx`;

/** The numbers of one process. No label holds an id, an address or a secret: each is one of a few fixed words. */
export function createMetrics(build: { readonly version: string; readonly node: string }): Metrics {
  const requests = numbers(
    'counter',
    'drillproof_http_requests_total',
    'Requests answered, by operation and status.',
  );
  const durations = histogram(
    'drillproof_http_request_duration_seconds',
    'Time from the request to the end of its answer, downloads included.',
    DURATION_BOUNDS,
  );
  const inFlight = numbers(
    'gauge',
    'drillproof_http_requests_in_flight',
    'Requests whose answer has not ended.',
  );
  const bytes = numbers('counter', 'drillproof_http_response_bytes_total', 'Bytes of the bodies of answers.');
  const limited = numbers(
    'counter',
    'drillproof_http_rate_limited_total',
    'Requests refused for the rate of a token.',
  );
  const jobs = numbers(
    'counter',
    'drillproof_worker_jobs_total',
    'Jobs of this worker, by kind and outcome.',
  );
  const queue = numbers(
    'gauge',
    'drillproof_queue_operations',
    'Queued work, by kind and state of its operation.',
  );
  const readable = numbers('gauge', 'drillproof_queue_readable', 'Whether the queue could be read, 1 or 0.');
  const info = numbers('gauge', 'drillproof_build_info', 'What runs here; always 1.');
  let open = 0;
  info.set({ version: build.version, node: build.node }, 1);
  limited.add({}, 0);

  return {
    began: () => void open++,
    ended({ operation, status, seconds, bytes: sent }) {
      open--;
      requests.add({ operation, status: classOf(status) });
      durations.observe({ operation }, seconds);
      bytes.add({ operation }, sent);
    },
    rateLimited: () => limited.add({}),
    jobEnded: (kind, outcome) => jobs.add({ kind, outcome }),
    text(depths) {
      queue.clear();
      inFlight.set({}, open);
      for (const { kind, state, count } of depths ?? []) queue.set({ kind, state }, count);
      readable.set({}, depths === undefined ? 0 : 1);
      return exposition([requests, durations, inFlight, bytes, limited, jobs, queue, readable, info]);
    },
  };
}
