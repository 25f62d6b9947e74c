import { randomBytes } from 'node:crypto';
import { fromHex, toHex } from '../../bytes/text/hex.ts';
import { DrillproofError } from '../../errors.ts';
import { text } from './columns.ts';
import type { Sql } from './sql.ts';
import type { SchemaState } from './store.ts';

/** What the store knows of itself: the number of the last step of its schema, and the installation's secrets. */
export const META_TABLE =
  'CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;';

async function valueOf(sql: Sql, name: string): Promise<string | undefined> {
  const [row] = await sql.all('SELECT value FROM meta WHERE name = ?', name);
  return row === undefined ? undefined : text(row, 'value');
}

/**
 * Runs the next step of the schema and records its number; `false` when there is none left. It belongs in a transaction
 * that keeps both, so that a run which dies goes on where it stopped, and that no other migration overlaps.
 * @throws DrillproofError `server.CONFIG_INVALID` for a schema that this program does not know
 */
export async function migrateNext(
  sql: Sql,
  script: (text: string) => Promise<unknown>,
  steps: readonly string[],
): Promise<boolean> {
  const version = Number((await valueOf(sql, 'schema_version')) ?? 0);
  if (!(Number.isInteger(version) && version >= 0 && version <= steps.length)) {
    throw new DrillproofError(
      'server.CONFIG_INVALID',
      `the store has schema ${version}, this program knows up to ${steps.length}`,
    );
  }
  const step = steps[version];
  if (step === undefined) return false;
  await script(step);
  await sql.run(
    "INSERT INTO meta (name, value) VALUES ('schema_version', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    String(version + 1),
  );
  return true;
}

/** The number of the last step that the schema went through, and of the last that this program knows. */
export const schemaState = async (sql: Sql, steps: readonly string[]): Promise<SchemaState> => ({
  version: Number((await valueOf(sql, 'schema_version')) ?? 0),
  known: steps.length,
});

/** The secret of a name, made on first use; of two that make it at once, both get the one that is kept. */
export async function keptSecret(sql: Sql, name: string): Promise<Uint8Array> {
  const key = `secret.${name}`;
  await sql.run(
    'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
    key,
    toHex(randomBytes(32)),
  );
  const value = await valueOf(sql, key);
  if (value === undefined) throw new DrillproofError('internal.BUG', 'a secret of the store was not kept');
  return fromHex(value);
}
