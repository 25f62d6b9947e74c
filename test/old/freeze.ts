/**
 * Keeps each step of the schema that is not kept yet, as `schemas/N.sqlite` and `schemas/N.sql` with the rows of
 * `schemas/rows-N.sql`, and the digest of its text. Run it in the folder of the repository when a step is final:
 *
 *   DATABASE_URL=postgres://… node --conditions=drillproof:source test/old/freeze.ts
 *
 * It needs an empty database, and a pg_dump that is not older than its server.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { digestOf } from '../../src/bytes/hash.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { migrations } from '../../src/server/store/migrations.ts';
import { openPostgresStore } from '../../src/server/store/postgres/postgres.ts';
import { openSqliteStore } from '../../src/server/store/sqlite/sqlite.ts';

const at = (name: string): string => new URL(`schemas/${name}`, import.meta.url).pathname;
const read = (name: string): string => readFileSync(at(name), 'utf8');

async function freezeSqlite(n: number, rows: string): Promise<void> {
  const file = at(`${n}.sqlite`);
  if (n > 1) copyFileSync(at(`${n - 1}.sqlite`), file);
  await (await openSqliteStore(file, { migrations: migrations.slice(0, n) })).close();
  const database = new DatabaseSync(file);
  // Small pages keep the file small, and can only be set outside of WAL.
  database.exec(`${rows} PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;`);
  database.close();
}

async function freezePostgres(n: number, rows: string, url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  if (n > 1) await client.query(read(`${n - 1}.sql`));
  await client.end();
  await (await openPostgresStore(url, { migrations: migrations.slice(0, n) })).close();
  const writer = new Client({ connectionString: url });
  await writer.connect();
  await writer.query(rows);
  await writer.end();
  const options = ['--inserts', '--no-owner', '--no-privileges', '--schema=public', url];
  const dump = execFileSync('pg_dump', options, { encoding: 'utf8' });
  // Lines that only psql reads, comments, and the schema that every database has.
  const lines = dump.split('\n').filter((line) => !/^(\\|--|CREATE SCHEMA|SET transaction_timeout|$)/.test(line));
  writeFileSync(at(`${n}.sql`), `${lines.join('\n')}\n`);
}

const kept = JSON.parse(read('steps.json')) as string[];
const url = process.env['DATABASE_URL'];
if (url === undefined) throw new Error('DATABASE_URL names no empty database');
for (const [i, step] of migrations.entries()) {
  const n = i + 1;
  if (n <= kept.length) continue;
  const rows = existsSync(at(`rows-${n}.sql`)) ? read(`rows-${n}.sql`) : '';
  rmSync(at(`${n}.sqlite`), { force: true });
  await freezeSqlite(n, rows);
  await freezePostgres(n, rows, url);
  kept.push(digestOf(toUtf8(step)));
}
writeFileSync(at('steps.json'), `${JSON.stringify(kept, undefined, 2)}\n`);
