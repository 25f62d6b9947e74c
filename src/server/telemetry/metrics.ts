/** Names and values that distinguish the samples of one family; few and fixed, never an id. */
type Labels = Readonly<Record<string, string>>;

type Sample = { readonly suffix?: string; readonly labels: Labels; value: number };

/** One metric with all its samples, as the text format groups them. */
export type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  samples(): readonly Sample[];
};

/** Counters use `add`, gauges `set` and `clear`. */
type Numbers = Family & {
  add(labels: Labels, by?: number): void;
  set(labels: Labels, value: number): void;
  clear(): void;
};
type Histogram = Family & { observe(labels: Labels, value: number): void };

/** The media type of the text format, whose version is part of it. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

// A metric always has its labels in the same order, so their values identify a sample.
function keyOf(labels: Labels): string {
  let key = '';
  for (const name in labels) key += `${labels[name]}\0`;
  return key;
}

export function createNumbers(type: 'counter' | 'gauge', name: string, help: string): Numbers {
  const samples = new Map<string, Sample>();
  const set: Numbers['set'] = (labels, value) => void samples.set(keyOf(labels), { labels, value });
  return {
    name,
    help,
    type,
    samples: () => [...samples.values()],
    set,
    add(labels, by = 1) {
      const sample = samples.get(keyOf(labels));
      if (sample === undefined) set(labels, by);
      else sample.value += by;
    },
    clear: () => samples.clear(),
  };
}

type Series = { readonly labels: Labels; readonly counts: number[]; sum: number; count: number };

/** Counts, for each bound of `buckets` in ascending order, the values that do not exceed it. */
export function createHistogram(name: string, help: string, buckets: readonly number[]): Histogram {
  const bySeries = new Map<string, Series>();
  const seriesOf = (labels: Labels): Series => {
    const key = keyOf(labels);
    const series = bySeries.get(key) ?? { labels, counts: buckets.map(() => 0), sum: 0, count: 0 };
    bySeries.set(key, series);
    return series;
  };
  return {
    name,
    help,
    type: 'histogram',
    samples: () => [...bySeries.values()].flatMap((series) => listSamples(series, buckets)),
    observe(labels, value) {
      const series = seriesOf(labels);
      for (let i = buckets.length - 1; i >= 0 && value <= buckets[i]!; i--) series.counts[i]! += 1;
      series.sum += value;
      series.count += 1;
    },
  };
}

function listSamples({ labels, counts, sum, count }: Series, buckets: readonly number[]): Sample[] {
  const makeBucket = (le: string, value: number): Sample => {
    return { suffix: '_bucket', labels: { ...labels, le }, value };
  };
  return [
    ...buckets.map((bound, i) => makeBucket(String(bound), counts[i] ?? 0)),
    makeBucket('+Inf', count),
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ];
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeValue = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

function formatSample(name: string, { suffix = '', labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeValue(text)}"`);
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

/** Formats families in the Prometheus text format 0.0.4: HELP, TYPE and samples, with an end to each line. */
export function formatExposition(families: readonly Family[]): string {
  const lines = families.flatMap((family) => [
    `# HELP ${family.name} ${escapeHelp(family.help)}`,
    `# TYPE ${family.name} ${family.type}`,
    ...family.samples().map((sample) => formatSample(family.name, sample)),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

type EndedRequest = {
  readonly operation: string;
  readonly status: number;
  readonly seconds: number;
  readonly bytes: number;
};

export type QueueDepth = { readonly kind: string; readonly state: string; readonly count: number };

export type Metrics = ReturnType<typeof createMetrics>;

// From a cached answer to a large download.
const DURATION_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const createCounter = (name: string, help: string) => createNumbers('counter', `drillproof_${name}`, help);
const createGauge = (name: string, help: string) => createNumbers('gauge', `drillproof_${name}`, help);

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
  const readable = createGauge('queue_readable', 'Whether the queue could be read, 1 or 0.');
  const info = createGauge('build_info', 'What runs here; always 1.');
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
    /** Formats all metrics; `depths` is the current queue, `undefined` if it could not be read. */
    text(depths: readonly QueueDepth[] | undefined): string {
      queue.clear();
      inFlight.set({}, open);
      for (const { kind, state, count } of depths ?? []) queue.set({ kind, state }, count);
      readable.set({}, depths === undefined ? 0 : 1);
      return formatExposition([requests, durations, inFlight, bytes, limited, jobs, queue, readable, info]);
    },
  };
}
