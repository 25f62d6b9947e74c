/** Compares the measurements of a race with ours and with the target. */
import type { Measured } from './measure.ts';
import type { Peer } from './peers.ts';
import type { Race } from './race.ts';

export type Outcome = {
  readonly race: Race;
  readonly measured: readonly Measured[];
  /** The contenders that did not run, with the peer that each is missing. */
  readonly absent: readonly { readonly name: string; readonly peer: Peer }[];
  /** Our speed as a part of that of the yardstick and of the limit, if these ran. */
  readonly ratio: number | undefined;
  readonly ofLimit: number | undefined;
};
export type Result = Outcome | { readonly race: Race; readonly failure: string };

export function compare(race: Race, measured: readonly Measured[], absent: Outcome['absent']): Outcome {
  const ours = measured[0]!;
  const ratioTo = (name?: string): number | undefined => {
    const other = measured.find((each) => each.name === name);
    return other && ours.speed / other.speed;
  };
  return { race, measured, absent, ratio: ratioTo(race.yardstick), ofLimit: ratioTo(race.limit) };
}

export const ratioText = (ratio: number): string => ratio.toFixed(2);

export const memoryText = ({ rssBytes }: Measured): string =>
  rssBytes === undefined ? '?' : `${Math.round(rssBytes / 2 ** 20)} MiB`;

const digits = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

function durationText(seconds: number): string {
  if (seconds >= 1) return `${digits(seconds)} s`;
  return seconds >= 1e-3 ? `${digits(seconds * 1e3)} ms` : `${digits(seconds * 1e6)} µs`;
}

/** The median as people read it: a rate, or the time of one run. */
export const figureText = ({ isRate, speed, parts }: Measured): string =>
  isRate ? `${digits(speed)} per second` : durationText(parts / speed);

/** The columns of a table about a race, with the texts of each contender. */
const COLUMNS = ['', 'median', 'spread', 'each part', 'ratio', 'CPU', 'memory'] as const;

function rowsOf({ measured }: Outcome): string[][] {
  const ours = measured[0]!;
  return measured.map((each) => [
    each.name,
    figureText(each),
    `${Math.round((100 * (each.highest - each.lowest)) / each.speed)} %`,
    each.parts === 1 || each.isRate ? '' : durationText(1 / each.speed),
    each === ours ? '' : ratioText(ours.speed / each.speed),
    each.cpuS === undefined ? '?' : durationText(each.cpuS),
    memoryText(each),
  ]);
}

/** The results of a race, one per sentence. */
function sentencesOf({ race, measured, absent, ratio, ofLimit }: Outcome): string[] {
  const { rssBytes: rss, speed } = measured[0]!;
  const { yardstick, limit, target, maxSeconds } = race;
  const aim = target === undefined ? '' : `; the target is ${ratioText(target)}`;
  const sentences = [
    ratio === undefined
      ? `${yardstick} did not run, so there is no ratio.`
      : `${ratioText(ratio)} times the speed of ${yardstick}${aim}.`,
  ];
  if (maxSeconds !== undefined)
    sentences.push(`${durationText(1 / speed)}; the target is ${durationText(maxSeconds)}.`);
  if (ofLimit !== undefined && limit !== yardstick)
    sentences.push(`${Math.round(ofLimit * 100)} % of the limit (${limit}).`);
  if (race.maxRssMiB !== undefined && rss !== undefined)
    sentences.push(`${Math.round(rss / 2 ** 20)} MiB of memory; the target is ${race.maxRssMiB} MiB.`);
  for (const { name, peer } of absent) sentences.push(`Missing: ${name}, because ${peer} is not installed.`);
  return sentences;
}

export function resultText(result: Result): string {
  const heading = `${result.race.name}: ${result.race.title}`;
  if ('failure' in result) return `${heading}\n  failed: ${result.failure}`;
  const rows = [[...COLUMNS], ...rowsOf(result)];
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const lines = rows.map((row) =>
    row.map((text, at) => (at === 0 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!))).join('  '),
  );
  return [
    heading,
    ...lines.map((line) => `  ${line}`),
    ...sentencesOf(result).map((text) => `  ${text}`),
  ].join('\n');
}
