import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { openDiskBlobs } from '../../../src/server/blobs/disk.ts';
import { createServer } from '../../../src/server/server.ts';
import { migrations } from '../../../src/server/store/migrations.ts';
import { openPostgresStore } from '../../../src/server/store/postgres/postgres.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/sqlite.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { call } from '../../cli/make.ts';
import { isDeep } from '../../support/deep.ts';
import { makeTestFolder } from '../../support/folder.ts';
import { startPostgres } from '../../support/postgres.ts';
import { EXTEND, extension, inProject, post } from '../change.ts';
import { ask, NOW_MS, UNHURRIED } from '../make.ts';

const at = (name: string): string => new URL(`../../old/schemas/${name}`, import.meta.url).pathname;
const readText = async (name: string): Promise<string> => readFile(at(name), 'utf8');
const frozen = JSON.parse(await readText('steps.json')) as string[];
const versions = frozen.map((_, i) => i + 1);
const token = (await readText('token')).trim();

type Row = Readonly<Record<string, string | number | null>>;
/** A database of either kind, to look at and to open as a store. */
type Place = {
  readonly query: (text: string) => Promise<Row[]>;
  readonly open: (steps?: readonly string[]) => Promise<Store>;
};

const sqlitePlace = (file: string): Place => ({
  query: async (text) => {
    const database = new DatabaseSync(file);
    const rows = database.prepare(text).all() as Row[];
    database.close();
    return rows.map((row) => ({ ...row }));
  },
  open: (steps = migrations) => openSqliteStore(file, { migrations: steps }),
});

const TABLES =
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";

describe('the steps of the schema', () => {
  it('are kept as they were released, each with a store and a dump of it', () => {
    expect(migrations.map((step) => digestOf(toUtf8(step)))).toEqual(frozen);
  });

  it('hold rows of every table', async () => {
    for (const version of versions) {
      const { query } = sqlitePlace(at(`${version}.sqlite`));
      for (const { name } of await query(TABLES))
        expect([name, (await query(`SELECT * FROM ${name} LIMIT 1`)).length]).toEqual([name, 1]);
    }
  });

  // An older program knows nothing of a step, but reads, writes and deletes rows after it while an update rolls.
  const ALLOWED =
    /^(CREATE TABLE (?!.*\bREFERENCES \w+\b(?!( \([^)]*\))? ON DELETE CASCADE))|CREATE INDEX |ALTER TABLE \w+ ADD COLUMN \w+ (TEXT|INTEGER)( NOT NULL DEFAULT [^ ]+)?$)/s;
  it('only add what older programs ignore', () => {
    const statements = migrations
      .slice(1)
      .flatMap((step) => step.replaceAll(/--.*$/gm, '').split(';'))
      .map((statement) => statement.trim())
      .filter((statement) => statement !== '');
    for (const statement of statements) expect(statement).toMatch(ALLOWED);
    for (const wrong of [
      'DROP TABLE jobs',
      'ALTER TABLE jobs RENAME COLUMN a TO b',
      'ALTER TABLE jobs ADD COLUMN a TEXT NOT NULL',
      'ALTER TABLE jobs ADD COLUMN a TEXT REFERENCES runs',
      'CREATE UNIQUE INDEX a ON jobs (kind)',
      'CREATE TABLE a (b TEXT REFERENCES jobs)',
      'UPDATE jobs SET attempt = 0',
    ])
      expect(wrong).not.toMatch(ALLOWED);
  });
});

/** The path of each resource of the kept rows that the API serves, and the resource. */
async function listServed(): Promise<(readonly [path: string, resource: unknown])[]> {
  const { query } = sqlitePlace(at('1.sqlite'));
  const served = [];
  for (const [table, path] of [
    ['bundles', "'evidence/' || evidence_bundle_id"],
    ['build_attempts', "'build-attempts/' || build_attempt_id"],
    ['exports', "'evidence-exports/' || evidence_export_id"],
    ['sessions', "'sessions/' || session_id"],
    ['hosted_runs', "'runs/' || hosted_run_id"],
    ['authoring_sessions', "'authoring-sessions/' || authoring_session_id"],
    ['authoring_turns', "'authoring-sessions/' || authoring_session_id || '/turns/' || authoring_turn_id"],
    ['operations', "'operations/' || operation_id"],
  ] as const) {
    for (const { path: to, resource } of await query(`SELECT ${path} AS path, resource FROM ${table}`))
      served.push([String(to), JSON.parse(String(resource))] as const);
  }
  return served;
}

async function serve(store: Store) {
  const blobs = await openDiskBlobs(await makeTestFolder());
  return createServer({ store, blobs, now: () => NOW_MS, limits: UNHURRIED });
}

/** Reads every resource through the API, with the token of that time, repeats a change, and makes a new one. */
async function expectServed(store: Store, { query }: Place): Promise<void> {
  const server = await serve(store);
  try {
    for (const [path, resource] of await listServed()) {
      const response = await ask({ server }, inProject(path), { token });
      const name = expect.stringContaining(path.slice(path.lastIndexOf('/') + 1));
      const text = await response.text();
      expect([response.status, text]).toEqual([200, name]);
      expect(JSON.parse(text)).toMatchObject(resource as object);
    }
    const [earlier] = await query("SELECT * FROM idempotency WHERE operation = 'sessions.extend'");
    const key = String(earlier!['idempotency_key']);
    const replay = await post({ server, token }, EXTEND, extension(), key);
    expect(await replay.json()).toEqual(JSON.parse(String(earlier!['response'])));
    const change = extension({ expectedVersion: 2, ttlMs: 10_800_000 });
    expect((await post({ server, token }, EXTEND, change)).status).toBe(200);
  } finally {
    await server.close();
  }
}

/** Expects the rows of the kept tables, in the columns of their time. */
async function expectRows({ query }: Place, version: number): Promise<void> {
  const kept = sqlitePlace(at(`${version}.sqlite`));
  for (const { name } of await kept.query(TABLES)) {
    const columns = (await kept.query(`SELECT name FROM pragma_table_info('${name}')`)).map(
      (row) => row['name'],
    );
    const where = name === 'meta' ? "WHERE name <> 'schema_version'" : '';
    const select = `SELECT ${columns.join(', ')} FROM ${name} ${where}`;
    const [rows, before] = [await query(select), await kept.query(select)];
    const sort = (all: readonly Row[]) =>
      all.map((row) => JSON.stringify(Object.values(row).map(String))).toSorted();
    expect(sort(rows)).toEqual(sort(before));
  }
}

it.each(versions)(
  'an embedded store of schema %i is upgraded by the command, and served',
  async (version) => {
    const folder = await makeTestFolder();
    const file = join(folder, 'store.sqlite');
    await copyFile(at(`${version}.sqlite`), file);
    const { code, stdout } = await call(`admin migrate --data ${folder} --json`);
    const schema = { version: migrations.length, known: migrations.length };
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { schema }]);
    const place = sqlitePlace(file);
    await expectRows(place, version);
    const fresh = sqlitePlace(join(folder, 'fresh.sqlite'));
    await (await fresh.open()).close();
    const list = 'SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name';
    expect(await place.query(list)).toEqual(await fresh.query(list));
    await expectServed(await place.open(), place);
  },
);

/** A step of a future version. */
const NEXT = `
  ${[
    'operations',
    'sessions',
    'hosted_runs',
    'tokens',
    'projects',
    'organizations',
    'idempotency',
    'bundles',
    'exports',
  ]
    .map((table) => `ALTER TABLE ${table} ADD COLUMN note TEXT;`)
    .join(' ')}
  CREATE TABLE notes (a TEXT PRIMARY KEY, b INTEGER NOT NULL) STRICT;
  CREATE INDEX operations_by_note ON operations (note);
`;

/** Lets two versions of the program serve one store at the same time. */
async function expectRolling({ open }: Place): Promise<void> {
  const older = await serve(await open());
  // The older one has prepared its statements when the newer one changes the schema.
  for (const [path] of await listServed()) await ask({ server: older }, inProject(path), { token });
  for (const expectedVersion of [2, 3])
    await post(
      { server: older, token },
      EXTEND,
      extension({ expectedVersion, ttlMs: 7_200_000 + expectedVersion }),
    );
  const newer = await serve(await open([...migrations, NEXT]));
  try {
    for (const [n, server] of [older, newer, older].entries()) {
      const change = extension({ expectedVersion: n + 4, ttlMs: 7_200_000 + (n + 1) * 1000 });
      expect((await post({ server, token }, EXTEND, change)).status).toBe(200);
    }
    for (const [path] of await listServed())
      for (const server of [older, newer])
        expect((await ask({ server }, inProject(path), { token })).status).toBe(200);
    for (const [server, schema] of [
      [older, 'newer'],
      [newer, 'ok'],
    ] as const) {
      const response = await ask({ server }, '/readyz');
      expect([response.status, await response.json()]).toMatchObject([200, { checks: { schema } }]);
    }
    await expect(open()).rejects.toMatchObject({ code: 'server.SCHEMA_NEWER' });
  } finally {
    await older.close();
    await newer.close();
  }
}

it('an embedded store serves two versions while an update rolls, and refuses to start the older again', async () => {
  const file = join(await makeTestFolder(), 'store.sqlite');
  await copyFile(at('1.sqlite'), file);
  await expectRolling(sqlitePlace(file));
});

if (isDeep) {
  const postgres = await startPostgres();
  const postgresPlace = async (version?: number): Promise<Place> => {
    const url = await postgres.database();
    if (version !== undefined) await postgres.query(url, await readText(`${version}.sql`));
    return {
      query: async (text) => (await postgres.query(url, text)) as Row[],
      open: (steps = migrations) => openPostgresStore(url, { migrations: steps }),
    };
  };
  const SCHEMA = `
    SELECT concat_ws(' ', 'column', table_name, column_name, data_type, collation_name, is_nullable, column_default)
      AS line FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT concat_ws(' ', relname, relpersistence) FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace
    ORDER BY line`;

  describe('on PostgreSQL', () => {
    it.each(versions)('a dump of schema %i is upgraded at a start, and served', async (version) => {
      const place = await postgresPlace(version);
      const store = await place.open();
      await expectRows(place, version);
      const fresh = await postgresPlace();
      await (await fresh.open()).close();
      expect(await place.query(SCHEMA)).toEqual(await fresh.query(SCHEMA));
      await expectServed(store, place);
    });

    it('serves two versions while an update rolls, and refuses to start the older again', async () => {
      await expectRolling(await postgresPlace(1));
    });
  });
}
