/** One sample of the Prometheus text format. */
export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};
export type Family = {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  samples: Sample[];
};

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/;
const LINE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const VALUE = /^(?:[+-]?Inf|NaN|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
};

const fail = (line: string, why: string): never => {
  throw new Error(`${why}: ${line}`);
};

function parseLabels(text: string | undefined, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text ?? ''; rest !== '';) {
    const [whole, name = '', value = ''] = LABEL.exec(rest) ?? fail(line, 'bad label');
    if (name in labels) fail(line, 'label twice');
    if (name.startsWith('__')) fail(line, 'reserved label');
    labels[name] = value.replaceAll(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));
    rest = rest.slice(whole.length);
  }
  return labels;
}

function parseSample(line: string): Sample {
  const [, name = '', labels, value = ''] = LINE.exec(line) ?? fail(line, 'bad sample');
  if (!VALUE.test(value)) fail(line, 'bad value');
  return { name, labels: parseLabels(labels, line), value: Number(value.replace('Inf', 'Infinity')) };
}

/**
 * Parses the text format 0.0.4 strictly: every line has an end, HELP and TYPE come once and before the samples of their
 * family, the samples of a family are together, and no sample comes twice.
 */
export function parseExposition(text: string): Map<string, Family> {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line is not ended');
  const families = new Map<string, Family>();
  const allSeries = new Set<string>();
  let current: Family | undefined;
  for (const line of text.split('\n').slice(0, -1)) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(name)) fail(line, 'HELP twice');
      current = { name, type: '', help: rest, samples: [] };
      families.set(name, current);
    } else if (keyword === 'TYPE') {
      if (current?.name !== name || current.type !== '' || !(rest in SUFFIXES)) fail(line, 'bad TYPE');
      families.set(name, (current = { ...current!, type: rest }));
    } else if (line.startsWith('#')) {
      fail(line, 'a comment that is neither HELP nor TYPE');
    } else {
      const sample = parseSample(line);
      const names = SUFFIXES[current?.type ?? '']?.map((suffix) => `${current?.name}${suffix}`);
      if (names?.includes(sample.name) !== true) fail(line, 'a sample outside its family');
      const labels = Object.entries(sample.labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
      const series = sample.name + JSON.stringify(labels);
      if (allSeries.has(series)) fail(line, 'a sample twice');
      allSeries.add(series);
      current!.samples.push(sample);
    }
  }
  return families;
}
