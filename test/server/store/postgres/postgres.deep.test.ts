import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../../../src/server/store/migrations.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/postgres.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { ORG } from '../../make.ts';
import { codeOf } from '../../thrown.ts';
import { idempotencySuite } from '../idempotency-suite.ts';
import { queueSuite } from '../queue-suite.ts';
import { retentionSuite } from '../retention-suite.ts';
import { storeSuite } from '../suite.ts';
import type { PairFactory } from '../work-rows.ts';
import { workSuite } from '../work-suite.ts';

const postgres = await startPostgres();

const SOURCE = new URL('../../../../src/server/store/postgres/postgres.ts', import.meta.url).href;

/** Another process that opens the store and then runs `more`; resolves when it has ended. */
function opener(url: string, options: string, more = ''): { pid: number; ended: Promise<number | null> } {
  const script = `
    import { openPostgresStore } from ${JSON.stringify(SOURCE)};
    const store = await openPostgresStore(process.env.URL, ${options});
    ${more}
    await store.close();
  `;
  const args = ['--conditions=drillproof:source', '--input-type=module', '-e', script];
  const child = spawn(process.execPath, args, { env: { ...process.env, URL: url }, stdio: 'inherit' });
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null);
  return { pid: child.pid!, ended };
}

const pair: PairFactory = async () => {
  const url = await postgres.schema();
  const stores = [await openPostgresStore(url), await openPostgresStore(url)] as const;
  return { stores, remove: async () => undefined };
};

describe('PostgreSQL', () => {
  storeSuite('the PostgreSQL store', async () => {
    const url = await postgres.schema();
    return { open: () => openPostgresStore(url), remove: async () => undefined };
  });

  workSuite('the PostgreSQL store: work', pair);
  queueSuite('the PostgreSQL store', pair);
  idempotencySuite('the PostgreSQL store', pair);
  retentionSuite('the PostgreSQL store: retention', pair);

  describe('opening the PostgreSQL store', () => {
    let url: string;
    beforeEach(async () => {
      url = await postgres.database();
    });

    const ask = (text: string, values: unknown[] = []) => postgres.query(url, text, values);
    const version = async () =>
      (await ask("SELECT value FROM meta WHERE name = 'schema_version'")).map(({ value }) => Number(value));

    it('numbers its schema, and sorts every text by its bytes', async () => {
      await (await openPostgresStore(url)).close();
      expect(await version()).toEqual([migrations.length]);
      const loose = `SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type NOT IN ('bigint')
          AND (data_type <> 'text' OR collation_name IS DISTINCT FROM 'C')`;
      expect(await ask(loose)).toEqual([]);
    });

    it('notes each statement that changes organizations, projects or tokens', async () => {
      await (await openPostgresStore(url)).close();
      const changes = [
        "INSERT INTO organizations VALUES ('o', 'o', 1)",
        "INSERT INTO projects VALUES ('p', 'o', 'p', 1)",
        "INSERT INTO tokens VALUES ('t', 'h', 'o', '[]', '[]', 1)",
        'UPDATE tokens SET revoked_at_ms = 2',
        'DELETE FROM tokens',
        'TRUNCATE organizations CASCADE',
      ];
      const noted = new Set<unknown>();
      for (const change of changes) {
        await ask(change);
        noted.add((await ask("SELECT value FROM meta WHERE name = 'tenants_changed'"))[0]?.['value']);
      }
      expect([noted.size, noted.has(undefined)]).toEqual([changes.length, false]);
    });

    it('refuses a newer schema, and a version that is not a number', async () => {
      await (await openPostgresStore(url)).close();
      for (const value of [String(migrations.length + 1), 'x', '-1', '0.5']) {
        await ask("UPDATE meta SET value = $1 WHERE name = 'schema_version'", [value]);
        expect(await codeOf(openPostgresStore(url))).toBe('server.CONFIG_INVALID');
      }
    });

    it('migration resumes after the last finished step and undoes a failed one', async () => {
      const broken = [...migrations, 'CREATE TABLE more (a TEXT) STRICT; SELECT * FROM nowhere;'];
      await expect(openPostgresStore(url, { migrations: broken })).rejects.toThrow('nowhere');
      expect(await version()).toEqual([migrations.length]);
      const mended = [...migrations, 'CREATE TABLE more (a TEXT) STRICT;'];
      await (await openPostgresStore(url, { migrations: mended })).close();
      expect(await ask('SELECT * FROM more')).toEqual([]);
      expect(await codeOf(openPostgresStore(url))).toBe('server.CONFIG_INVALID');
    });

    it('lets processes that open it at once make the schema once', async () => {
      const all = await Promise.all(Array.from({ length: 4 }, () => opener(url, '{}').ended));
      expect(all).toEqual([0, 0, 0, 0]);
      expect(await version()).toEqual([migrations.length]);
    });

    it('migration resumes after a process was killed during a step', async () => {
      const slow = JSON.stringify(['CREATE TABLE half (a TEXT); SELECT pg_sleep(60);']);
      const { pid, ended } = opener(url, `{ migrations: ${slow} }`);
      const asleep =
        "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()";
      while ((await ask(asleep)).length === 0);
      process.kill(pid, 'SIGKILL');
      await ended;
      // Its backend sees that nobody listens when it wakes; here it is woken, as an administrator would.
      for (const { pid: backend } of await ask(asleep))
        await ask('SELECT pg_terminate_backend($1)', [backend]);
      const store = await openPostgresStore(url);
      await store.close();
      expect(await version()).toEqual([migrations.length]);
      expect(await ask("SELECT to_regclass('half') AS name")).toEqual([{ name: null }]);
    });

    it('refuses to wait for ever behind another that changes the schema', async () => {
      const slow = ['SELECT pg_sleep(5);'];
      const first = openPostgresStore(url, { migrations: slow, migrationTimeoutMs: 900 });
      const second = openPostgresStore(url, { migrations: slow, migrationTimeoutMs: 100 });
      expect(await Promise.all([codeOf(first), codeOf(second)])).toEqual([
        'server.CONFIG_INVALID',
        'server.CONFIG_INVALID',
      ]);
    });

    it('is opened, when it is up to date, by a role that may not make tables', async () => {
      await (await openPostgresStore(url)).close();
      await ask("CREATE ROLE plain LOGIN PASSWORD 'plain'");
      await ask('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO plain');
      const plain = Object.assign(new URL(url), { username: 'plain', password: 'plain' }).href;
      const store = await openPostgresStore(plain);
      await store.transaction((tx) =>
        tx.organizations.insert({ organizationId: ORG, name: 'x', createdAtMs: 1 }),
      );
      await store.close();
      const empty = Object.assign(new URL(await postgres.database()), {
        username: 'plain',
        password: 'plain',
      }).href;
      expect(await codeOf(openPostgresStore(empty))).toBe('server.CONFIG_INVALID');
    });

    it('refuses a database of another encoding', async () => {
      await ask("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
      const latin = Object.assign(new URL(url), { pathname: '/latin' }).href;
      await expect(openPostgresStore(latin)).rejects.toThrow('LATIN1');
      expect(await codeOf(openPostgresStore(latin))).toBe('server.CONFIG_INVALID');
    });

    it('is shared by two that open the same database', async () => {
      const [first, second] = await Promise.all([openPostgresStore(url), openPostgresStore(url)]);
      await first.transaction((tx) =>
        tx.organizations.insert({ organizationId: ORG, name: 'x', createdAtMs: 1 }),
      );
      expect(await second.organizations.find(ORG)).toBeDefined();
      const secrets = await Promise.all([first.secret('a'), second.secret('a'), first.secret('a')]);
      expect(new Set(secrets.map(String)).size).toBe(1);
      await first.close();
      await second.close();
    });
  });

  describe('an address that does not lead to a database', () => {
    const SECRET = 'hunter2secret';
    const { port, user } = postgres;
    it.each([
      ['nothing listens', `postgres://${user}:${SECRET}@127.0.0.1:1/test`, 'ECONNREFUSED'],
      ['no such host', `postgres://${user}:${SECRET}@host.invalid/test`, 'failed'],
      ['a wrong password', `postgres://${user}:${SECRET}@127.0.0.1:${port}/postgres`, 'refuses the login'],
      ['no such role', `postgres://nobody:${SECRET}@127.0.0.1:${port}/postgres`, 'refuses the login'],
      ['no TLS there', `postgres://${user}:${SECRET}@127.0.0.1:${port}/postgres?sslmode=verify-full`, 'SSL'],
      ['another scheme', `mysql://${user}:${SECRET}@127.0.0.1/test`, 'postgres://'],
      ['no address', `postgres://${user}:${SECRET}@127.0.0.1:port/test`, 'postgres://'],
      ['a slash in the password', `postgres://${user}:${SECRET}/@127.0.0.1/test`, 'postgres://'],
      ['a certificate that is not there', `postgres://u:${SECRET}@h/d?sslrootcert=/${SECRET}`, 'postgres://'],
      ['no URL', SECRET, 'postgres://'],
    ])('stops with one line that holds no secret: %s', async (_what, address, says) => {
      const error: unknown = await openPostgresStore(address).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: 'server.CONFIG_INVALID', message: expect.stringContaining(says) });
      expect((error as Error).message).not.toMatch(/\n/);
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET);
    });

    it('stops with one line when the database does not exist', async () => {
      const url = Object.assign(new URL(await postgres.database()), { pathname: '/nowhere' }).href;
      await expect(openPostgresStore(url)).rejects.toMatchObject({
        code: 'server.CONFIG_INVALID',
        message: 'the database does not exist',
      });
    });

    it('does not wait longer than it should for one that is silent', async () => {
      const { createServer } = await import('node:net');
      const silent = createServer(() => undefined).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const address = silent.address() as { port: number };
      const url = `postgres://u:${SECRET}@127.0.0.1:${address.port}/d`;
      expect(await codeOf(openPostgresStore(url, { connectTimeoutMs: 100 }))).toBe('server.CONFIG_INVALID');
      silent.close();
    });
  });
});
