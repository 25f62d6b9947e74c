import { count, percent, size } from '../../../report/text/figures.ts';
import { printable } from '../../../report/index.ts';
import { timeSpan } from '../options/quantities.ts';
import type { Figures, Picture } from './meter.ts';
import { clipEnd, clipStart, columnsOf, padEnd } from '../../../report/text-width.ts';

/** The part of a terminal that lines may take. */
export type Room = { readonly columns: number; readonly rows: number };

/** A cell of a line; where there is no room, those with the lowest `keep` go first. */
type Cell = { readonly text: string; readonly keep: number };

const MAX_PARTS = 8;
const BAR_COLUMNS = 24;
const GAP = '  ';
const MIN_NAME_COLUMNS = 16;

/** What a terminal shows: a line for each part under way, as many as there is room for, and one for the whole. */
export function screenLines({ whole, parts, verb, things }: Picture, { columns, rows }: Room): string[] {
  const most = Math.max(0, Math.min(MAX_PARTS, Math.floor(rows / 2)));
  const shown = parts.length <= most ? parts : parts.slice(0, Math.max(0, most - 1));
  const more = parts.length - shown.length;
  return [
    ...shown.map((part) => partLine(part, columns)),
    ...(more > 0 && most > 0 ? [clipEnd(`${GAP}and ${count(more)} more under way`, columns)] : []),
    wholeLine(`${verb} ${count(whole.done)} of ${count(whole.of)} ${things}`, whole, columns),
  ];
}

/** What stands in a log: the whole, in one line. */
export function plainLine({ whole, verb, things }: Picture): string {
  const counted = `${verb} ${count(whole.done)} of ${count(whole.of)} ${things}`;
  return [counted, amount(whole), speed(whole), left(whole)].filter((word) => word !== '').join(', ');
}

function wholeLine(counted: string, whole: Figures, columns: number): string {
  return joined(
    [
      { text: counted, keep: 5 },
      { text: bar(whole.share), keep: 0 },
      { text: share(whole), keep: 3 },
      { text: amount(whole), keep: 1 },
      { text: speed(whole), keep: 2 },
      { text: left(whole), keep: 4 },
    ],
    columns,
  );
}

function partLine(part: Figures & { readonly name: string }, columns: number): string {
  const cells: Cell[] = [
    { text: share(part).padStart(6), keep: 4 },
    { text: amount(part).padStart(22), keep: 1 },
    { text: speed(part).padStart(12), keep: 2 },
    { text: left(part).padStart(16), keep: 3 },
  ];
  const name = printable(part.name);
  const least = Math.min(columnsOf(name), MIN_NAME_COLUMNS);
  const facts = joined(cells, columns - 2 * GAP.length - least);
  const room = columns - 2 * GAP.length - columnsOf(facts);
  return clipEnd(`${GAP}${padEnd(clipStart(name, room), room)}${GAP}${facts}`.trimEnd(), columns);
}

/** The cells with a gap between them, without those for which there is no room. */
function joined(cells: readonly Cell[], columns: number): string {
  const text = cells
    .map((cell) => cell.text)
    .filter((one) => one !== '')
    .join(GAP);
  if (columnsOf(text) <= columns || cells.length <= 1) return clipEnd(text, columns);
  const least = Math.min(...cells.map(({ keep }) => keep));
  return joined(
    cells.filter(({ keep }) => keep !== least),
    columns,
  );
}

function bar(of: number): string {
  const full = Math.floor(of * BAR_COLUMNS);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_COLUMNS - full)}]`;
}

// Things that are only counted have no percentage: their sizes may differ widely.
const share = ({ bytes, totalBytes }: Figures): string =>
  bytes === undefined || totalBytes === undefined ? '' : percent(bytes, totalBytes);

function amount({ bytes, totalBytes }: Figures): string {
  if (bytes === undefined) return '';
  return totalBytes === undefined ? size(bytes) : `${size(bytes)} of ${size(totalBytes)}`;
}

const speed = ({ bytesPerSecond }: Figures): string =>
  bytesPerSecond === undefined ? '' : `${size(Math.round(bytesPerSecond))}/s`;

const left = ({ leftMs }: Figures): string => (leftMs === undefined ? '' : `${timeSpan(leftMs)} left`);
