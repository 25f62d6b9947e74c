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

/** The media type of the text format, whose version is part of it. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

// A metric always has its labels in the same order, so their values identify a sample.
function keyOf(labels: Labels): string {
  let key = '';
  for (const name in labels) key += `${labels[name]}\0`;
  return key;
}

/** Creates a counter, which uses `add`, or a gauge, which uses `set` and `clear`. */
export function createNumbers(type: 'counter' | 'gauge', name: string, help: string) {
  const samples = new Map<string, Sample>();
  const set = (labels: Labels, value: number): void => void samples.set(keyOf(labels), { labels, value });
  return {
    name,
    help,
    type,
    samples: () => [...samples.values()],
    set,
    add(labels: Labels, by = 1): void {
      const sample = samples.get(keyOf(labels));
      if (sample === undefined) set(labels, by);
      else sample.value += by;
    },
    clear: () => samples.clear(),
  };
}

type Series = { readonly labels: Labels; readonly counts: number[]; sum: number; count: number };

/** Counts, for each bound of `buckets` in ascending order, the values that do not exceed it. */
export function createHistogram(name: string, help: string, buckets: readonly number[]) {
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
    type: 'histogram' as const,
    samples: () => [...bySeries.values()].flatMap((series) => listSamples(series, buckets)),
    observe(labels: Labels, value: number): void {
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
