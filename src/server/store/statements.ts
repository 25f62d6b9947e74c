import { DrillproofError } from '../../errors.ts';
import type { Sql, SqlRow, SqlValue } from './sql.ts';

export type Columns = Readonly<Record<string, SqlValue>>;

const whereAll = (key: Columns): string =>
  Object.keys(key)
    .map((name) => `${name} = ?`)
    .join(' AND ');

export async function insert(sql: Sql, table: string, columns: Columns): Promise<void> {
  const names = Object.keys(columns);
  const marks = names.map(() => '?').join(', ');
  await sql.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, ...Object.values(columns));
}

/** Changes the one row of a key. @throws DrillproofError `internal.BUG` when there is none */
export async function updateRow(sql: Sql, table: string, key: Columns, columns: Columns): Promise<void> {
  const settings = Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(', ');
  const statement = `UPDATE ${table} SET ${settings} WHERE ${whereAll(key)}`;
  if ((await sql.run(statement, ...Object.values(columns), ...Object.values(key))) !== 1) {
    throw new DrillproofError('internal.BUG', 'an update met no row');
  }
}

/** The rows of a key as records; `after` is put behind the statement. */
export async function rowsOf<T>(
  sql: Sql,
  toRow: (row: SqlRow) => T,
  from: { readonly table: string; readonly key: Columns; readonly after?: string },
): Promise<T[]> {
  const statement = `SELECT * FROM ${from.table} WHERE ${whereAll(from.key)}${from.after ?? ''}`;
  return (await sql.all(statement, ...Object.values(from.key))).map(toRow);
}
