import { findLargest } from '../../../bytes/async.ts';
import { columnsOf, padEnd, escapeText } from '../../../report/printable.ts';
import { stableJson } from '../../../report/json.ts';
import { describeOptions } from '../../../report/run.ts';
import { type Cli, writeFolded } from '../../cli.ts';
import { packaging } from '#packaging';
import type { Run } from '../../../verify/report.ts';

/** Writes the result of a command: these members as JSON, or the text, of which --quiet leaves `line`. */
export async function writeProduct(
  cli: Cli,
  json: Readonly<Record<string, unknown>>,
  text: string,
  line?: string,
): Promise<void> {
  if (cli.format === 'json') await cli.stdout.write(stableJson({ schemaVersion: 1, ...json }));
  else await writeFolded(cli.stdout, selectText(cli, text, line));
}

/** Names a file that was written, to people only. */
export async function writeWritten(cli: Cli, file: string, what: string): Promise<void> {
  if (cli.format === 'text') await writeFolded(cli.stdout, `${escapeText(`${file} ${what}`)}\n`);
}

/** Writes a report, which is complete as JSON, or its text, which is wrapped already. */
export const writeReport = (cli: Cli, report: unknown, text: string, line?: string): Promise<void> =>
  cli.stdout.write(cli.format === 'json' ? stableJson(report) : selectText(cli, text, line));

/** A result as text: with --quiet one line, by default its first. */
export const selectText = ({ quiet }: Cli, text: string, line = text.replace(/\n[^]*$/, '')): string =>
  quiet && text !== '' ? `${line}\n` : text;

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

/** `writeFacts` of numbers, which --quiet leaves in one line, and a table below them. */
export const writeCounts = (
  cli: Cli,
  json: Readonly<Record<string, unknown>>,
  rows: readonly (readonly [string, string])[],
  table = '',
): Promise<void> =>
  writeProduct(cli, json, alignFacts(rows) + table, rows.map((row) => row.join(' ')).join(', '));

export const readVersion = (): Promise<string> => packaging.version();

export const readToolName = async (): Promise<string> => `drillproof/${await readVersion()}`;

export const describeRun = async (options: object): Promise<Pick<Run, 'tool' | 'options'>> => ({
  tool: { name: 'drillproof', version: await readVersion() },
  options: describeOptions(options),
});
