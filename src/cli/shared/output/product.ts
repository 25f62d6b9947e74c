import { findLargest } from '../../../bytes/async.ts';
import { columnsOf, padEnd, escapeText } from '../../../report/printable.ts';
import { stableJson } from '../../../report/json.ts';
import { describeOptions } from '../../../report/run.ts';
import { type Cli, writeFolded } from '../../cli.ts';
import { packaging } from '#packaging';
import type { Run } from '../../../verify/report.ts';

/** Writes the result of a command: these members as JSON, or the text, of which --quiet leaves the first line. */
export const writeProduct = (
  cli: Cli,
  json: Readonly<Record<string, unknown>>,
  text: string,
): Promise<void> => writeList(cli, json, selectText(cli, text));

/** `writeProduct` of a result that is a list or a description, which --quiet leaves as it is. */
export async function writeList(
  cli: Cli,
  json: Readonly<Record<string, unknown>>,
  text: string,
): Promise<void> {
  if (cli.format === 'json') await cli.stdout.write(stableJson({ schemaVersion: 1, ...json }));
  else await writeFolded(cli.stdout, text);
}

/** A result as text: with --quiet its first line. */
export const selectText = ({ quiet }: Cli, text: string): string =>
  quiet ? text.replace(/\n[^]+$/, '\n') : text;

/** Formats escaped cells in aligned columns under a heading; empty without rows. */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [heading, ...rows.map((row) => row.map(escapeText))];
  const widths = heading.map((_, column) => findLargest(cells.map((row) => columnsOf(row[column] ?? ''))));
  const lines = cells.map((row) =>
    ['', ...row.map((cell, column) => padEnd(cell, widths[column] ?? 0))].join('  ').trimEnd(),
  );
  return rows.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Formats names and values in two columns, and omits undefined values. */
export function alignFacts(rows: readonly (readonly [string, string | undefined])[]): string {
  const present = rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${name.padEnd(width)}  ${escapeText(value)}\n`).join('');
}

export const writeFacts = (
  cli: Cli,
  json: Readonly<Record<string, unknown>>,
  rows: Parameters<typeof alignFacts>[0],
): Promise<void> => writeProduct(cli, json, alignFacts(rows));

export const readVersion = (): Promise<string> => packaging.version();

export const readToolName = async (): Promise<string> => `drillproof/${await readVersion()}`;

export const describeRun = async (options: object): Promise<Pick<Run, 'tool' | 'options'>> => ({
  tool: { name: 'drillproof', version: await readVersion() },
  options: describeOptions(options),
});
