import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../../../src/server/store/migrations.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/postgres.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { codeOf } from '../../thrown.ts';
import { insertOrganization } from '../rows.ts';
import { storeSuites } from '../suite.ts';

const postgres = await startPostgres();

const SOURCE = new URL('../../../../src/server/store/postgres/postgres.ts', import.meta.url).href;

/** Starts another process that opens the store and closes it. */
function startOpener(url: string, options = '{}'): { pid: number; ended: Promise<number | null> } {
  const script = `
    import { openPostgresStore } from ${JSON.stringify(SOURCE)};
    await (await openPostgresStore(process.env.URL, ${options})).close();
  `;
  const args = ['--conditions=drillproof:source', '--input-type=module', '-e', script];
  const child = spawn(process.execPath, args, { env: { ...process.env, URL: url }, stdio: 'inherit' });
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null);
  return { pid: child.pid!, ended };
}

const openAsPlain = (url: string) =>
  openPostgresStore(Object.assign(new URL(url), { username: 'plain', password: 'plain' }).href);

/** Opens the store and closes it again. */
const migrate = async (url: string, options: Parameters<typeof openPostgresStore>[1] = {}): Promise<void> =>
  (await openPostgresStore(url, options)).close();

describe('PostgreSQL', () => {
  storeSuites('the PostgreSQL store', async () => {
    const url = await postgres.schema();
    const open = (steps = migrations) => openPostgresStore(url, { migrations: steps });
    const query = (text: string) => postgres.query(url, text);
    return { open, query, isShared: true };
  });

  describe('opening the PostgreSQL store', () => {
    let url: string;
    beforeEach(async () => {
      url = await postgres.database();
    });

    const ask = (text: string, values: unknown[] = []) => postgres.query(url, text, values);
    const readMeta = async (name: string) =>
      (await ask('SELECT value FROM meta WHERE name = $1', [name])).map(({ value }) => value);
    const readVersion = async () => (await readMeta('schema_version')).map(Number);

    it('numbers its schema, and sorts every text by its bytes', async () => {
      await migrate(url);
      expect(await readVersion()).toEqual([migrations.length]);
      const loose = `SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type NOT IN ('bigint')
          AND (data_type <> 'text' OR collation_name IS DISTINCT FROM 'C')`;
      expect(await ask(loose)).toEqual([]);
    });

    it('simultaneous processes create the schema once', async () => {
      const exits = await Promise.all(Array.from({ length: 4 }, () => startOpener(url).ended));
      expect(exits).toEqual([0, 0, 0, 0]);
      expect(await readVersion()).toEqual([migrations.length]);
    });

    it('migration resumes after a process was killed during a step', async () => {
      const slow = JSON.stringify(['CREATE TABLE half (a TEXT); SELECT pg_sleep(60);']);
      const { pid, ended } = startOpener(url, `{ migrations: ${slow} }`);
      const asleep =
        "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()";
      while ((await ask(asleep)).length === 0);
      process.kill(pid, 'SIGKILL');
      await ended;
      // The backend would notice the lost client when the sleep ends; an administrator can end it sooner.
      for (const { pid: backend } of await ask(asleep))
        await ask('SELECT pg_terminate_backend($1)', [backend]);
      await migrate(url);
      expect(await readVersion()).toEqual([migrations.length]);
      expect(await ask("SELECT to_regclass('half') AS name")).toEqual([{ name: null }]);
    });

    it('opening fails when another process migrates for too long', async () => {
      const slow = ['SELECT pg_sleep(5);'];
      const first = openPostgresStore(url, { migrations: slow, migrationTimeoutMs: 900 });
      const second = openPostgresStore(url, { migrations: slow, migrationTimeoutMs: 100 });
      expect(await Promise.all([codeOf(first), codeOf(second)])).toEqual([
        'server.CONFIG_INVALID',
        'server.CONFIG_INVALID',
      ]);
    });

    it('a role that may not create tables opens a store that is up to date', async () => {
      await migrate(url);
      await ask("CREATE ROLE plain LOGIN PASSWORD 'plain'");
      await ask('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO plain');
      const store = await openAsPlain(url);
      await insertOrganization(store);
      await store.close();
      expect(await codeOf(openAsPlain(await postgres.database()))).toBe('server.CONFIG_INVALID');
    });

    it('refuses a database of another program, and changes nothing in it', async () => {
      await ask('CREATE TABLE bookmarks (name TEXT)');
      expect(await codeOf(migrate(url))).toBe('server.STORE_FOREIGN');
      expect(await ask("SELECT to_regclass('meta') AS name")).toEqual([{ name: null }]);
      await ask('DROP TABLE bookmarks; CREATE VIEW bookmarks AS SELECT 1 AS name');
      await migrate(url);
    });

    it('refuses a database whose encoding is not UTF-8', async () => {
      await ask("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
      const latin = Object.assign(new URL(url), { pathname: '/latin' }).href;
      await expect(openPostgresStore(latin)).rejects.toThrow('LATIN1');
      expect(await codeOf(openPostgresStore(latin))).toBe('server.CONFIG_INVALID');
    });

    it('two stores that generate a secret at once get the same', async () => {
      const [first, second] = await Promise.all([openPostgresStore(url), openPostgresStore(url)]);
      const secrets = await Promise.all([first.secret('a'), second.secret('a'), first.secret('a')]);
      expect(new Set(secrets.map(String)).size).toBe(1);
      await first.close();
      await second.close();
    });
  });

  describe('an address without a database', () => {
    const SECRET = 'hunter2secret';
    const { port, user } = postgres;
    it.each([
      ['a wrong password', `postgres://${user}:${SECRET}@127.0.0.1:${port}/postgres`, 'refuses the login'],
      ['no such role', `postgres://nobody:${SECRET}@127.0.0.1:${port}/postgres`, 'refuses the login'],
      [
        'a server without TLS',
        `postgres://${user}:${SECRET}@127.0.0.1:${port}/postgres?sslmode=verify-full`,
        'SSL',
      ],
      ['another scheme', `mysql://${user}:${SECRET}@127.0.0.1/test`, 'postgres://'],
      ['no address', `postgres://${user}:${SECRET}@127.0.0.1:port/test`, 'postgres://'],
      ['a slash in the password', `postgres://${user}:${SECRET}/@127.0.0.1/test`, 'postgres://'],
      [
        'a certificate that is missing',
        `postgres://u:${SECRET}@h/d?sslrootcert=/${SECRET}`,
        'file of certificates',
      ],
      ['no URL', SECRET, 'postgres://'],
    ])('stops with one line without a secret: %s', async (_what, address, reason) => {
      const error: unknown = await openPostgresStore(address).catch((caught: unknown) => caught);
      const message = expect.stringContaining(reason);
      expect(error).toMatchObject({ code: 'server.CONFIG_INVALID', message });
      expect((error as Error).message).not.toMatch(/\n/);
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET);
    });

    it.each([
      ['nothing listens', `postgres://${user}:${SECRET}@127.0.0.1:1/test`, 'ECONNREFUSED'],
      [
        'the host has no address yet',
        `postgres://${user}:${SECRET}@host.invalid/test`,
        /ENOTFOUND|EAI_AGAIN/,
      ],
    ])('a database is away, without a secret in the error: %s', async (_what, address, reason) => {
      const error: unknown = await openPostgresStore(address).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: 'control.UNAVAILABLE', message: expect.stringMatching(reason) });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET);
    });

    it('a database that is full of connections is away', async () => {
      const admin = await postgres.database();
      await postgres.query(admin, "CREATE ROLE busy LOGIN PASSWORD 'busy' CONNECTION LIMIT 0");
      const full = `postgres://busy:busy@127.0.0.1:${port}/postgres`;
      expect(await codeOf(openPostgresStore(full))).toBe('control.UNAVAILABLE');
    });

    it('stops with one line when the database does not exist', async () => {
      const url = Object.assign(new URL(await postgres.database()), { pathname: '/nowhere' }).href;
      await expect(openPostgresStore(url)).rejects.toMatchObject({
        code: 'server.CONFIG_INVALID',
        message: 'the database does not exist',
      });
    });

    it('opening fails when the server does not answer in time', async () => {
      const silent = createServer(() => undefined).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const address = silent.address() as { port: number };
      const url = `postgres://u:${SECRET}@127.0.0.1:${address.port}/d`;
      expect(await codeOf(openPostgresStore(url, { connectTimeoutMs: 100 }))).toBe('control.UNAVAILABLE');
      silent.close();
    });
  });
});
