import { randomBytes } from 'node:crypto';
import { fromHex, toHex } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';
import { column, type Sql } from './table.ts';

/** The schema of the store, which another process may have migrated, and the latest that this program has. */
export type SchemaState = { readonly version: number; readonly known: number };

/** Facts about the store: the version of its schema, and the secrets of the installation. */
export const META_TABLE =
  'CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;';

const INSERT = 'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO';

async function readValue(sql: Sql, name: string): Promise<string | undefined> {
  const [row] = await sql.all('SELECT value FROM meta WHERE name = ?', name);
  return row === undefined ? undefined : column.text.read(row, 'value');
}

/**
 * Runs the next step of the schema and records its number; `false` if there is none. The caller's transaction keeps both,
 * so that an interrupted migration resumes after the last step, and two migrations never overlap.
 * @throws DrillproofError `server.CONFIG_INVALID` for a newer schema
 */
export async function migrateNext(
  sql: Sql,
  script: (text: string) => Promise<unknown>,
  steps: readonly string[],
): Promise<boolean> {
  const { version } = await readSchemaState(sql, steps);
  if (!(Number.isInteger(version) && version >= 0 && version <= steps.length)) {
    const message = `the store has schema ${version}, and this program supports up to ${steps.length}`;
    throw new DrillproofError('server.CONFIG_INVALID', message);
  }
  const step = steps[version];
  if (step === undefined) return false;
  await script(step);
  await sql.run(`${INSERT} UPDATE SET value = excluded.value`, 'schema_version', String(version + 1));
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
