import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { fromHex, toHex } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';
import { column, type Sql } from './table.ts';

/** The schema of the store, which another process may have migrated, and the latest that this program has. */
export type SchemaState = { readonly version: number; readonly known: number };

// Facts about the store: the version of its schema, and the secrets of the installation.
const META_TABLE = 'CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;';

const recordSchema = z.object({ seenMs: z.number(), steadyMs: z.number(), boot: z.string() });
/** The latest time of the control plane, with the steady time of the machine that wrote it and the name of its boot. */
type ClockRecord = z.infer<typeof recordSchema>;

const INSERT = 'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO';

export const writeValue = (sql: Sql, name: string, value: string): Promise<number> =>
  sql.run(`${INSERT} UPDATE SET value = excluded.value`, name, value);

export async function readValue(sql: Sql, name: string): Promise<string | undefined> {
  const [row] = await sql.all('SELECT value FROM meta WHERE name = ?', name);
  return row === undefined ? undefined : column.text.read(row, 'value');
}

const MADE =
  /CREATE TABLE (?<table>\w+)|^ +(?<column>\w+) (?:TEXT|INTEGER)\b|TABLE (?<to>\w+) ADD COLUMN (?<added>\w+)|INDEX (?<index>\w+) ON/gm;

/** Lists the indexes, and the columns as `table.column`, that steps of the schema make. */
function listMade(steps: readonly string[]): string[] {
  let last = '';
  return [...steps.join('\n').matchAll(MADE)].flatMap(({ groups = {} }) => {
    const { table, column: name, to, added, index } = groups;
    last = table ?? last;
    if (table !== undefined) return [];
    return [index ?? (added === undefined ? `${last}.${name}` : `${to}.${added}`)];
  });
}

const damagedError = (why: string): DrillproofError =>
  new DrillproofError('server.STORE_DAMAGED', `the schema of the store is damaged: ${why}`);

/** Reads the version of the schema, and refuses a database that does not have what the version says. */
async function readVersion(
  sql: Sql,
  steps: readonly string[],
  present: ReadonlySet<string>,
): Promise<number> {
  const isMeta = ['meta.name', 'meta.value'].every((name) => present.has(name));
  const text = isMeta ? await readValue(sql, 'schema_version') : undefined;
  if (text === undefined) {
    const foreign = [...present].find((name) => name.includes('.') && !(isMeta && name.startsWith('meta.')));
    if (foreign === undefined) return 0;
    const message = `the database is not a store of drillproof: it has ${foreign}, and no version of a schema`;
    throw new DrillproofError('server.STORE_FOREIGN', message);
  }
  if (!/^(0|[1-9][0-9]{0,8})$/.test(text)) throw damagedError(`its version is ${JSON.stringify(text)}`);
  const version = Number(text);
  if (version > steps.length) {
    const message = `the store has schema ${version}, and this program supports up to ${steps.length}`;
    throw new DrillproofError('server.SCHEMA_NEWER', message);
  }
  const missing = listMade(steps.slice(0, version)).find((name) => !present.has(name));
  if (missing !== undefined) throw damagedError(`version ${version} has ${missing}, which is missing`);
  const early = listMade(steps.slice(version)).find((name) => present.has(name));
  if (early !== undefined) throw damagedError(`it has ${early}, which version ${version} does not have`);
  return version;
}

/**
 * Runs the next step of the schema and records its number; `false` if there is none. The caller's transaction keeps both,
 * so that an interrupted migration resumes after the last step, and two migrations never overlap.
 * @param catalog the statement that lists the indexes and the columns, as `table.column`, of the database
 */
export async function migrateNext(
  sql: Sql,
  script: (text: string) => Promise<unknown>,
  steps: readonly string[],
  catalog: string,
): Promise<boolean> {
  const present = new Set((await sql.all(catalog)).map((row) => column.text.read(row, 'name')));
  const version = await readVersion(sql, steps, present);
  const step = steps[version];
  if (step === undefined) return false;
  if (!present.has('meta.name')) await script(META_TABLE);
  await script(step);
  await writeValue(sql, 'schema_version', String(version + 1));
  return true;
}

export const readSchemaState = async (sql: Sql, steps: readonly string[]): Promise<SchemaState> => ({
  version: Number((await readValue(sql, 'schema_version')) ?? 0),
  known: steps.length,
});

/** Reads the secret of a name, which is generated on first use. Two processes that generate it at once get the same. */
export async function readSecret(sql: Sql, name: string): Promise<Uint8Array> {
  const key = `secret.${name}`;
  await sql.run(`${INSERT} NOTHING`, key, toHex(randomBytes(32)));
  const value = await readValue(sql, key);
  if (value === undefined) throw new DrillproofError('internal.BUG', 'a secret was not stored');
  return fromHex(value);
}

const DATABASE_TIME = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms';

/** Reads the time of a PostgreSQL database, which may be on another machine. */
export async function readDatabaseTime(sql: Sql): Promise<number | undefined> {
  const [row] = await sql.all(DATABASE_TIME);
  return row && column.integer.read(row, 'ms');
}

export const createMetaReads = (sql: Sql) => ({
  meta: {
    clock: async (): Promise<ClockRecord | undefined> => {
      const text = await readValue(sql, 'clock');
      return text === undefined ? undefined : recordSchema.parse(JSON.parse(text));
    },
    /** The time of the last backup of which the store knows; 0 for none. */
    backupAtMs: async () => Number((await readValue(sql, 'backup_at_ms')) ?? 0),
  },
});

export const createMetaWrites = (sql: Sql) => ({
  meta: {
    recordClock: (record: ClockRecord) => writeValue(sql, 'clock', JSON.stringify(record)),
    noteBackup: (atMs: number) => writeValue(sql, 'backup_at_ms', String(atMs)),
  },
});
