import type * as z from 'zod';
import { defined, type Digest } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { isDigest } from '../blobs/digest.ts';
import type { Sql, SqlRow, SqlValue } from './sql.ts';

/** The digest and size of bytes in the blob store. */
export type BlobRef = { readonly digest: Digest; readonly bytes: number };

export type InProject = { readonly organizationId: string; readonly projectId: string };

type Columns = Readonly<Record<string, SqlValue>>;

/** How a value is read from and written to its column. A value of the wrong type was written by another program. */
type Codec<T> = {
  readonly read: (row: SqlRow, column: string) => T;
  readonly write: (value: T, column: string) => Columns;
};

const wrongType = (column: string): DrillproofError =>
  new DrillproofError('internal.BUG', `the column ${column} of the store has a value of the wrong type`);

const checked = <T extends SqlValue>(is: (value: unknown) => value is T): Codec<T> => ({
  read(row, column) {
    const value = row[column];
    if (!is(value)) throw wrongType(column);
    return value;
  },
  write: (value, column) => ({ [column]: value }),
});

export const text = checked((value) => typeof value === 'string');
export const integer = checked((value): value is number => Number.isSafeInteger(value));
export const digest = checked(isDigest);
export const oneOf = <T extends string>(...values: readonly T[]): Codec<T> =>
  checked((value): value is T => values.some((allowed) => allowed === value));

export const optional = <T>({ read, write }: Codec<T>): Codec<T | undefined> => ({
  read: (row, column) => (row[column] === null ? undefined : read(row, column)),
  write: (value, column) => (value === undefined ? { [column]: null } : write(value, column)),
});

/** JSON text that follows a schema. */
export const json = <S extends z.ZodType>(schema: S) => ({
  read(row: SqlRow, column: string): z.output<S> {
    const parsed = schema.safeParse(JSON.parse(text.read(row, column)));
    if (!parsed.success) throw wrongType(column);
    return parsed.data;
  },
  write: (value: unknown, column: string): Columns => ({ [column]: JSON.stringify(value) }),
});

/** A blob in the columns `<column>_digest` and `<column>_bytes`. */
export const blob: Codec<BlobRef> = {
  read: (row, column) => ({
    digest: digest.read(row, `${column}_digest`),
    bytes: integer.read(row, `${column}_bytes`),
  }),
  write: (value, column) => ({ [`${column}_digest`]: value.digest, [`${column}_bytes`]: value.bytes }),
};

export const optionalBlob: Codec<BlobRef | undefined> = {
  read: (row, column) => (row[`${column}_digest`] === null ? undefined : blob.read(row, column)),
  write: (value, column) => ({
    [`${column}_digest`]: value?.digest ?? null,
    [`${column}_bytes`]: value?.bytes ?? null,
  }),
};

/** The columns of `InProject`, which most tables have. */
export const inProject = { organizationId: text, projectId: text };

/** A table whose rows are values of `R`: a member `createdAtMs` is the column `created_at_ms`. */
export type Table<R> = {
  readonly name: string;
  readonly key: readonly (keyof R & string)[];
  readonly members: readonly (keyof R & string)[];
  readonly toRow: (row: SqlRow) => R;
  /** The columns of the members given. */
  readonly columnsOf: (members: Partial<R>) => Columns;
  /** Columns that queries need, copied from the members. */
  readonly derived: (row: R) => Columns;
};

export function table<R extends object>({
  columns,
  derived = () => ({}),
  ...spec
}: {
  readonly name: string;
  readonly key: readonly (keyof R & string)[];
  readonly columns: { readonly [K in keyof R]-?: Codec<R[K]> };
  readonly derived?: (row: R) => Columns;
}): Table<R> {
  const members = Object.keys(columns) as (keyof R & string)[];
  return {
    ...spec,
    members,
    toRow: (row) =>
      defined(
        Object.fromEntries(members.map((name) => [name, columns[name].read(row, columnOf(name))])),
      ) as R,
    columnsOf: (row) =>
      Object.assign(
        {},
        ...members
          .filter((name) => Object.hasOwn(row, name))
          .map((name) => columns[name].write(row[name] as R[typeof name], columnOf(name))),
      ) as Columns,
    derived,
  };
}

const columnOf = (member: string): string =>
  member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const list = (columns: Columns, separator: string): string =>
  Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(separator);

/** The row of a key; `lock` is appended to the statement. */
export async function findRow<R>(
  sql: Sql,
  from: Table<R>,
  key: Partial<R>,
  lock = '',
): Promise<R | undefined> {
  const columns = from.columnsOf(key);
  const statement = `SELECT * FROM ${from.name} WHERE ${list(columns, ' AND ')}${lock}`;
  const [row] = await sql.all(statement, ...Object.values(columns));
  return row && from.toRow(row);
}

/** The rows that a statement selects. */
export const listRows = async <R>(
  sql: Sql,
  from: Pick<Table<R>, 'toRow'>,
  statement: string,
  ...values: SqlValue[]
): Promise<R[]> => (await sql.all(statement, ...values)).map(from.toRow);

/** Inserts a row, with `columns` that are not members of it; `after` is appended to the statement. */
export async function insertRow<R>(
  sql: Sql,
  into: Table<R>,
  row: R,
  { columns = {}, after = '' }: { readonly columns?: Columns; readonly after?: string } = {},
): Promise<void> {
  const all = { ...into.columnsOf(row), ...into.derived(row), ...columns };
  const names = Object.keys(all);
  const marks = names.map(() => '?').join(', ');
  const statement = `INSERT INTO ${into.name} (${names.join(', ')}) VALUES (${marks})${after}`;
  await sql.run(statement, ...Object.values(all));
}

/** Replaces the row with the same key. @throws DrillproofError `internal.BUG` when there is none */
export async function updateRow<R>(sql: Sql, of: Table<R>, row: R): Promise<void> {
  const { name, members, columnsOf, derived } = of;
  const [key, rest] = [
    pick(row, of.key),
    pick(
      row,
      members.filter((member) => !of.key.includes(member)),
    ),
  ];
  await updateColumns(sql, name, columnsOf(key), { ...columnsOf(rest), ...derived(row) });
}

/** Changes only some members of a row. @throws DrillproofError `internal.BUG` when there is none */
export const updateMembers = <R>(
  sql: Sql,
  of: Table<R>,
  key: Partial<R>,
  members: Partial<R>,
): Promise<void> => updateColumns(sql, of.name, of.columnsOf(key), of.columnsOf(members));

async function updateColumns(sql: Sql, name: string, key: Columns, columns: Columns): Promise<void> {
  const statement = `UPDATE ${name} SET ${list(columns, ', ')} WHERE ${list(key, ' AND ')}`;
  if ((await sql.run(statement, ...Object.values(columns), ...Object.values(key))) !== 1)
    throw new DrillproofError('internal.BUG', `an update of ${name} matched no row`);
}

/** Members of a row; a member that the row does not have becomes `undefined`, and its column NULL. */
const pick = <R>(row: R, members: readonly (keyof R & string)[]): Partial<R> =>
  Object.fromEntries(members.map((name) => [name, row[name]])) as Partial<R>;
