import { columnsOf, padEnd, printable } from '../../../report/index.ts';

/** Indented columns under a heading, as wide as their widest cell. Cells are escaped. Nothing for no rows. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [heading, ...rows.map((row) => row.map(printable))];
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => columnsOf(row[column] ?? ''))));
  const lines = cells.map((row) =>
    ['', ...row.map((cell, column) => padEnd(cell, widths[column] ?? 0))].join('  ').trimEnd(),
  );
  return rows.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Named values below each other, the names in one column; values that are not known are left out. */
export function facts(rows: readonly (readonly [string, string | undefined])[]): string {
  const known = rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
}
