import type * as z from 'zod/mini';
import type { Defined } from '../../bytes/arguments.ts';
import { type Digest, isDigest } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import { type Acceptor, compileAcceptor } from '../../evidence/accept.ts';

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;

/** A connection to a database. Parameters are positional, written `?`. */
export type Sql = {
  all(text: string, ...values: SqlValue[]): Promise<SqlRow[]>;
  /** Runs a statement and returns how many rows it changed. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
  /** Lets the transaction wait for a statement when it commits. Without it, a statement is waited for at once. */
  defer?(statement: Promise<unknown>): Promise<unknown>;
};

/** The differences between the databases, mostly as text that is appended to a statement. */
export type Dialect = {
  /** Locks the selected rows until the transaction ends. */
  readonly forUpdate: string;
  /** Does the same, and skips rows that another transaction has locked. */
  readonly skipLocked: string;
  /** An update that counts 1, or fails in the database where its result is not awaited before the commit. */
  readonly updateOne: (update: string) => string;
  /** Returns some unused bytes of the file to the disk if it has many; `false` if there was nothing to do. */
  readonly reclaim?: (sql: Sql) => Promise<boolean>;
};

/** Sets the newest entry of a map, and removes the oldest beyond `maxKeys`. */
export function setNewest<V>(map: Map<string, V>, key: string, value: V, maxKeys: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > maxKeys && oldest.done !== true) map.delete(oldest.value);
}

export type BlobRef = { readonly digest: Digest; readonly bytes: number };

type SqlColumns = Readonly<Record<string, SqlValue>>;

/** Reads a member of a row from its columns and writes it to them. */
export type Codec<T> = {
  /** The columns of the member whose name is `name` in SQL. */
  readonly names: (name: string) => readonly string[];
  /** @throws DrillproofError `internal.BUG` for a value of the wrong type, which another program wrote */
  read(row: SqlRow, name: string): T;
  write(value: T, name: string): readonly SqlValue[];
};

const wrongTypeError = (name: string): DrillproofError =>
  new DrillproofError('internal.BUG', `the column ${name} of the store has a value of the wrong type`);

const buildCodec = <T extends SqlValue>(is: (value: unknown) => value is T): Codec<T> => ({
  names: (name) => [name],
  read(row, name) {
    const value = row[name];
    if (!is(value)) throw wrongTypeError(name);
    return value;
  },
  write: (value) => [value],
});

const text = buildCodec((value) => typeof value === 'string');
const integer = buildCodec((value): value is number => Number.isSafeInteger(value));
const digest = buildCodec(isDigest);

export const column = {
  text,
  integer,
  digest,
  json<T>(schema: z.ZodMiniType<T>): Codec<T> {
    let accepts: Acceptor | undefined;
    return {
      names: text.names,
      read(row, name) {
        const value: unknown = JSON.parse(text.read(row, name));
        accepts ??= compileAcceptor(schema);
        if (accepts(value)) return value as T;
        const parsed = schema.safeParse(value);
        if (!parsed.success) throw wrongTypeError(name);
        return parsed.data;
      },
      write: (value) => [JSON.stringify(value)],
    };
  },
  blob: {
    names: (name) => [`${name}_digest`, `${name}_bytes`],
    read: (row, name) => ({
      digest: digest.read(row, `${name}_digest`),
      bytes: integer.read(row, `${name}_bytes`),
    }),
    write: (value) => [value.digest, value.bytes],
  } satisfies Codec<BlobRef> as Codec<BlobRef>,
  /** A member that a row may lack: its columns are NULL then. */
  optional: <T>(codec: Codec<T>): Codec<T | undefined> => ({
    names: codec.names,
    read: (row, name) =>
      codec.names(name).every((each) => row[each] === null) ? undefined : codec.read(row, name),
    write: (value, name) =>
      value === undefined ? codec.names(name).map(() => null) : codec.write(value, name),
  }),
};

export const inProject = { organizationId: text, projectId: text };
export type InProject = { readonly organizationId: string; readonly projectId: string };

type Members = Readonly<Record<string, Codec<unknown>>>;

/** The row that some columns hold; a member `createdAtMs` is the column `created_at_ms`. */
type RowIn<M extends Members> = Defined<{
  readonly [K in keyof M]: M[K] extends Codec<infer T> ? T : never;
}>;

/** How rows, which are values of `R`, are stored, and found by the members `K` together. */
type Layout<R, K extends readonly (keyof R)[]> = {
  readonly name: string;
  readonly key: K;
  /** The columns of a row. With `*`, a column of a newer program would end the prepared statements of PostgreSQL. */
  readonly columns: string;
  /** Selects the row with a key. */
  readonly byKey: string;
  readonly toRow: (row: SqlRow) => R;
  /** The columns of the members given; a member that the row lacks is NULL. */
  readonly columnsOf: (row: Partial<R>, members: readonly (keyof R)[]) => SqlColumns;
  /** All columns but those of the key. */
  readonly contentOf: (row: R) => SqlColumns;
};
type InsertMore = { readonly columns?: SqlColumns; readonly after?: string };

export type RowOf<T> = T extends { readonly toRow: (row: SqlRow) => infer R } ? R : never;

/** Defines a table, with what every table can do. */
export function defineTable<M extends Members, const K extends readonly (keyof RowIn<M>)[]>(spec: {
  readonly name: string;
  readonly key: K;
  readonly columns: M;
  /** Columns that queries need, copied from the members. */
  readonly derived?: (row: RowIn<M>) => SqlColumns;
}) {
  const { name, key, columns, derived = () => ({}) } = spec;
  const members = Object.entries(columns).map(([member, codec]) => {
    const at = columnOf(member);
    return { member, codec, at, names: codec.names(at) };
  });
  const columnsOf = (row: object, wanted: readonly PropertyKey[]): SqlColumns => {
    const written: Record<string, SqlValue> = {};
    for (const { member, codec, at, names } of members) {
      if (!wanted.includes(member)) continue;
      const values = codec.write(Reflect.get(row, member), at);
      for (const [n, each] of names.entries()) written[each] = values[n] ?? null;
    }
    return written;
  };
  const toRow = (row: SqlRow): RowIn<M> => {
    const values: Record<string, unknown> = {};
    for (const { member, codec, at } of members) {
      const value = codec.read(row, at);
      if (value !== undefined) values[member] = value;
    }
    return values as RowIn<M>;
  };
  const names = members.flatMap((member) => member.names).join(', ');
  const content = Object.keys(columns).filter((member) => !key.some((part) => part === member));
  const layout: Layout<RowIn<M>, K> = {
    name,
    key,
    columns: names,
    byKey: `SELECT ${names} FROM ${name} WHERE ${key.map((part) => `${columnOf(String(part))} = ?`).join(' AND ')}`,
    toRow,
    columnsOf,
    contentOf: (row) => ({ ...columnsOf(row, content), ...derived(row) }),
  };
  return {
    name,
    columns: names,
    toRow,
    /** Reads rows. `where` is the text after WHERE, with order and limit. */
    list: (sql: Sql, where: string, ...values: readonly SqlValue[]) =>
      queryRows(sql, toRow, `SELECT ${names} FROM ${name} WHERE ${where}`, values),
    /** Inserts a row, with `columns` that are not members of it; `after` is appended to the statement. Returns how many rows. */
    insert: (sql: Sql, row: RowIn<M>, more?: InsertMore) => insertRow(sql, layout, row, more),
    reads: (sql: Sql) => createRowReads(sql, layout),
    writes: (sql: Sql, dialect: Dialect) => createRowWrites(sql, layout, dialect),
  };
}

const columnOf = (member: string): string =>
  member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const joinEquals = (columns: SqlColumns, separator: string): string =>
  Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(separator);

export const queryRows = async <R>(
  sql: Sql,
  toRow: (row: SqlRow) => R,
  statement: string,
  values: readonly SqlValue[],
): Promise<R[]> => (await sql.all(statement, ...values)).map(toRow);

export async function findRow<R>(
  sql: Sql,
  toRow: (row: SqlRow) => R,
  statement: string,
  values: readonly SqlValue[],
): Promise<R | undefined> {
  const [row] = await sql.all(statement, ...values);
  return row === undefined ? undefined : toRow(row);
}

async function insertRow<R, K extends readonly (keyof R)[]>(
  sql: Sql,
  { name, key, columnsOf, contentOf }: Layout<R, K>,
  row: R,
  { columns = {}, after = '' }: InsertMore = {},
): Promise<number> {
  const all = { ...columnsOf(row, key), ...contentOf(row), ...columns };
  const names = Object.keys(all);
  const statement = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})${after}`;
  return sql.run(statement, ...Object.values(all));
}

type KeyOf<R, K extends readonly (keyof R)[]> = { readonly [I in keyof K]: R[K[I]] & SqlValue };

const createRowReads = <R, K extends readonly (keyof R)[]>(sql: Sql, { toRow, byKey }: Layout<R, K>) => ({
  find: (...key: KeyOf<R, K>) => findRow(sql, toRow, byKey, key),
});

const awaitUnlessDeferred = (sql: Sql, statement: Promise<unknown>): Promise<unknown> =>
  sql.defer?.(statement) ?? statement;

async function assertOne(changed: Promise<number>, name: string): Promise<void> {
  if ((await changed) !== 1) throw new DrillproofError('internal.BUG', `an update of ${name} matched no row`);
}

const createRowWrites = <R, K extends readonly (keyof R)[]>(
  sql: Sql,
  layout: Layout<R, K>,
  { forUpdate, updateOne }: Dialect,
) => ({
  /** Reads the row and locks it until the transaction ends. */
  lock: (...key: KeyOf<R, K>) => findRow(sql, layout.toRow, layout.byKey + forUpdate, key),
  insert: async (row: R) => {
    await awaitUnlessDeferred(sql, insertRow(sql, layout, row));
  },
  /** Replaces the row with the same key. @throws DrillproofError `internal.BUG` when there is none */
  update: async (row: R) => {
    const { name, key, columnsOf, contentOf } = layout;
    const [at, columns] = [columnsOf(row, key), contentOf(row)];
    const update = `UPDATE ${name} SET ${joinEquals(columns, ', ')} WHERE ${joinEquals(at, ' AND ')}`;
    const values = [...Object.values(columns), ...Object.values(at)];
    await awaitUnlessDeferred(sql, assertOne(sql.run(updateOne(update), ...values), name));
  },
});
