import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrillproofError } from '../../../../src/errors.ts';
import { numberMarks } from '../../../../src/server/store/postgres/driver.ts';
import type { PostgresOptions } from '../../../../src/server/store/postgres/driver.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/postgres.ts';
import type { Store, Tx } from '../../../../src/server/store/store.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { id, ORG, OTHER_ORG } from '../../make.ts';
import { codeOf } from '../../thrown.ts';
import { organization } from '../rows.ts';

const postgres = await startPostgres({ settings: ['deadlock_timeout=50ms'] });

const insert = (tx: Tx, organizationId = ORG): Promise<void> =>
  tx.organizations.insert(organization(organizationId));

/** Creates a barrier that opens when `count` have reached it. */
function createBarrier(count: number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length >= count) for (const resume of waiting) resume();
    });
}

type Work = (tx: Tx) => Promise<unknown>;
const codeFrom = (error: unknown) => (error instanceof DrillproofError ? error.code : String(error));

/** Starts a proxy that, once armed, withholds the answer to a COMMIT: it cuts the connection, or stays silent. */
async function startCommitTrap(url: string, then: 'cut' | 'silent') {
  let armed = false;
  let trips = 0; // how often PostgreSQL was asked and waited for
  const target = Number(new URL(url).port);
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    let sprung = false;
    let asking = false;
    near.on('data', (chunk) => {
      if (!asking) trips++;
      asking = true;
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      asking = false;
      sprung ||= armed && chunk.includes('COMMIT\0');
      if (!sprung) near.write(chunk);
      else if (then === 'cut') near.destroy();
    });
    for (const event of ['error', 'close']) {
      near.on(event, () => far.destroy());
      far.on(event, () => near.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const through = Object.assign(new URL(url), { port: String(port) }).href;
  return { url: through, trips: () => trips, arm: () => (armed = true), close: () => server.close() };
}

it('statements for PostgreSQL number their parameters in order', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a = ', ' AND ', '?', '(', ')', '::bigint')), (words) => {
      const text = words.join('');
      let n = 0;
      const expected = words.map((word) => (word === '?' ? `$${++n}` : word)).join('');
      expect(numberMarks(text)).toBe(expected);
      expect(numberMarks(text)).toBe(expected);
    }),
  );
});

describe('a transaction of the PostgreSQL store', () => {
  let url: string;
  let store: Store;
  const ask = (text: string, values: unknown[] = []) => postgres.query(url, text, values);
  beforeEach(async () => {
    url = await postgres.schema();
    store = await openPostgresStore(url);
  });
  afterEach(() => store.close());

  const list = async () => (await store.organizations.list()).map(({ organizationId }) => organizationId);

  const read = () =>
    Promise.all([1, 2, 3].map(() => store.organizations.find(ORG).then(() => 'read', codeFrom)));

  /** Does some work in a transaction; returns the code of its error, if any, and how often it ran. */
  async function run(work: Work, on = store): Promise<[string, number]> {
    let runs = 0;
    const done = on.transaction(async (tx) => {
      runs++;
      await work(tx);
    });
    return [await done.then(() => 'committed', codeFrom), runs];
  }

  /** Does the same on a store with other options. */
  async function runWith(options: Partial<PostgresOptions>, work: Work) {
    const other = await openPostgresStore(url, options);
    try {
      return await run(work, other);
    } finally {
      await other.close();
    }
  }

  /** Runs PL/pgSQL before each insert of an organization. */
  const beforeInsert = (plpgsql: string) =>
    ask(`CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${plpgsql} RETURN NEW; END $$;
      CREATE TRIGGER act BEFORE INSERT ON organizations FOR EACH ROW EXECUTE FUNCTION act();`);

  /** Makes the next inserts of an organization fail with a SQLSTATE; afterwards they succeed. */
  async function failNext(times: number, state: string): Promise<void> {
    await ask('CREATE SEQUENCE tries');
    await beforeInsert(
      `IF nextval('tries') <= ${times} THEN RAISE 'on purpose' USING ERRCODE = '${state}'; END IF;`,
    );
  }

  it.each(['40001', '40P01'])(
    'runs again after the SQLSTATE %s and writes its effect once',
    async (state) => {
      await failNext(3, state);
      expect(await run(insert)).toEqual(['committed', 4]);
      expect(await list()).toEqual([ORG]);
    },
  );

  it('a transaction fails as unavailable after 5 lost races, and can be tried again', async () => {
    await failNext(5, '40001');
    expect(await run(insert)).toEqual(['control.UNAVAILABLE', 5]);
    expect(await run(insert)).toEqual(['committed', 1]);
    expect(await list()).toEqual([ORG]);
  });

  it('a transaction runs again when the work replaces the error of a lost race', async () => {
    await failNext(1, '40001');
    const outcome = await run((tx) =>
      insert(tx).catch(() => {
        throw new DrillproofError('server.ADMIN_REFUSED', 'it exists already');
      }),
    );
    expect(outcome).toEqual(['committed', 2]);
    expect(await list()).toEqual([ORG]);
  });

  it('a transaction is never committed when the work ignores a failed statement', async () => {
    await failNext(1, '22000');
    const [failure] = await run((tx) => insert(tx).catch(() => undefined));
    expect(failure).toContain('on purpose');
    const [duplicate] = await run(async (tx) => {
      await insert(tx);
      await insert(tx).catch(() => undefined);
    });
    expect(duplicate).toContain('duplicate key');
    expect(await list()).toEqual([]);
  });

  it('ends with the reason of a failed write, although a later statement noticed it first', async () => {
    await failNext(1, '53100');
    const outcome = await run(async (tx) => {
      await insert(tx);
      await tx.organizations.find(ORG);
    });
    expect(outcome).toEqual(['io.DISK_FULL', 1]);
  });

  it('does not run again for an error of the work itself', async () => {
    const outcome = await run(async (tx) => {
      await insert(tx);
      throw new DrillproofError('control.NOT_FOUND', 'missing');
    });
    expect(outcome).toEqual(['control.NOT_FOUND', 1]);
    expect(await list()).toEqual([]);
  });

  it('one of two transactions that read a missing key and then write it does so, and the other sees it', async () => {
    const reachBoth = createBarrier(2);
    const create = () =>
      store.transaction(async (tx) => {
        const exists = (await tx.organizations.find(ORG)) !== undefined;
        await reachBoth();
        if (!exists) await insert(tx);
        return exists;
      });
    expect((await Promise.all([create(), create()])).toSorted()).toEqual([false, true]);
  });

  it('one of two transactions that wait for each other is undone and runs again', async () => {
    await store.transaction((tx) => Promise.all([insert(tx, ORG), insert(tx, OTHER_ORG)]));
    const reachBoth = createBarrier(2);
    const rename = (first: string, second: string, name: string) =>
      run(async (tx) => {
        await tx.organizations.lock(first);
        await reachBoth();
        await tx.organizations.update({ ...organization(first), name });
        await tx.organizations.update({ ...organization(second), name });
      });
    const outcomes = await Promise.all([rename(ORG, OTHER_ORG, 'one'), rename(OTHER_ORG, ORG, 'two')]);
    expect(outcomes.reduce((sum, [, runs]) => sum + runs, 0)).toBe(3);
    expect(new Set((await store.organizations.list()).map(({ name }) => name)).size).toBe(1);
  });

  it('runs simultaneous statements one after the other', async () => {
    const ids = Array.from({ length: 20 }, (_, n) => id('org', n));
    await store.transaction((tx) => Promise.all(ids.map((organizationId) => insert(tx, organizationId))));
    expect(await list()).toEqual(ids);
  });

  it('takes no statement after its end', async () => {
    const ended = await store.transaction(async (tx) => ({ tx }));
    expect(await codeOf(insert(ended.tx))).toBe('internal.BUG');
    expect(await list()).toEqual([]);
  });

  it('ends as unavailable when a statement takes too long', async () => {
    await beforeInsert('PERFORM pg_sleep(30);');
    expect(await runWith({ statementTimeoutMs: 500 }, insert)).toEqual(['control.UNAVAILABLE', 1]);
    expect(await list()).toEqual([]);
  });

  it('a transaction fails as unavailable when another one locks a row for too long', async () => {
    await store.transaction((tx) => insert(tx));
    await store.transaction(async (tx) => {
      await tx.organizations.update(organization(ORG, 'first'));
      const second = organization(ORG, 'second');
      const outcome = await runWith({ lockTimeoutMs: 300 }, (other) => other.organizations.update(second));
      expect(outcome).toEqual(['control.UNAVAILABLE', 1]);
    });
    expect(await store.organizations.find(ORG)).toMatchObject({ name: 'first' });
  });

  it('the database ends an idle transaction, so that a stopped process holds no lock', async () => {
    const outcome = await runWith({ idleInTransactionMs: 300 }, async (tx) => {
      await insert(tx);
      await sleep(900);
      await insert(tx, OTHER_ORG);
    });
    expect(outcome).toEqual(['control.UNAVAILABLE', 1]);
    expect(await list()).toEqual([]);
  });

  it('ends as unavailable when its connection is lost, and the store continues with a new one', async () => {
    const sessions = "FROM pg_stat_activity WHERE application_name = 'drillproof'";
    const outcome = await run(async (tx) => {
      await insert(tx);
      await ask(`SELECT pg_terminate_backend(pid) ${sessions}`);
      await insert(tx, OTHER_ORG);
    });
    expect(outcome).toEqual(['control.UNAVAILABLE', 1]);
    await store.transaction((tx) => insert(tx, OTHER_ORG));
    expect(await list()).toEqual([OTHER_ORG]);
  });

  it.each(['cut', 'silent'] as const)(
    'does not run again when the answer to its commit is lost, because it may be committed: %s',
    async (then) => {
      const trap = await startCommitTrap(url, then);
      const behind = await openPostgresStore(trap.url, { statementTimeoutMs: 800, connectTimeoutMs: 800 });
      trap.arm();
      expect(await run(insert, behind)).toEqual(['control.UNAVAILABLE', 1]);
      expect(await list()).toEqual([ORG]);
      await behind.close();
      trap.close();
    },
  );

  it('a transaction makes one round trip for all that it does not wait for, BEGIN and COMMIT included', async () => {
    const relay = await startCommitTrap(url, 'cut');
    const behind = await openPostgresStore(relay.url);
    await behind.transaction((tx) => insert(tx));
    const before = relay.trips();
    await behind.transaction((tx) => tx.organizations.update(organization(ORG, 'y')));
    expect(relay.trips() - before).toBe(1);
    await behind.close();
    relay.close();
  });

  it.each([
    ['53100', 'io.DISK_FULL'],
    ['58030', 'io.UNREADABLE'],
    ['XX001', 'io.UNREADABLE'],
    ['25006', 'control.UNAVAILABLE'],
    ['53300', 'control.UNAVAILABLE'],
    ['57P01', 'control.UNAVAILABLE'],
    ['08006', 'control.UNAVAILABLE'],
  ])('the SQLSTATE %s becomes the code %s', async (state, code) => {
    await failNext(1, state);
    expect(await run(insert)).toEqual([code, 1]);
    expect(await run(insert)).toEqual(['committed', 1]);
    expect(await list()).toEqual([ORG]);
  });

  it('fails as unavailable when no connection is free in time', async () => {
    const narrow = await openPostgresStore(url, { connections: 2, connectTimeoutMs: 800 });
    const reachBoth = createBarrier(2);
    const first = narrow.transaction(async (tx) => {
      await insert(tx);
      await reachBoth();
      // Reads have separate connections.
      expect(await narrow.organizations.list()).toEqual([]);
    });
    expect(await run((tx) => insert(tx, OTHER_ORG), narrow)).toEqual(['control.UNAVAILABLE', 0]);
    await reachBoth();
    await first;
    await narrow.close();
  });

  it('is durable even if the default of the database is not', async () => {
    url = await postgres.database();
    await (await openPostgresStore(url)).close();
    await ask(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
    await ask('CREATE TABLE settings (setting text)');
    await beforeInsert("INSERT INTO settings VALUES (current_setting('synchronous_commit'));");
    await runWith({}, insert);
    expect(await ask('SELECT * FROM settings')).toEqual([{ setting: 'on' }]);
  });

  it('simultaneous reads share a connection, and later ones open another after it was lost', async () => {
    const sessions = "FROM pg_stat_activity WHERE application_name = 'drillproof'";
    expect(await read()).toEqual(['read', 'read', 'read']);
    expect(await ask(`SELECT pid ${sessions}`)).toHaveLength(1);
    const sleeper = "FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()";
    const locked = ask('BEGIN; LOCK TABLE organizations; SELECT pg_sleep(60); COMMIT').catch(() => undefined);
    await expect.poll(() => ask(`SELECT pid ${sleeper} AND wait_event = 'PgSleep'`)).toHaveLength(1);
    const reading = read();
    await expect.poll(() => ask(`SELECT pid ${sessions} AND wait_event_type = 'Lock'`)).toHaveLength(1);
    await ask(`SELECT pg_terminate_backend(pid) ${sessions}`);
    const lost = 'control.UNAVAILABLE';
    expect(await reading).toEqual([lost, lost, lost]);
    await ask(`SELECT pg_terminate_backend(pid) ${sleeper}`);
    await locked;
    expect(await read()).toEqual(['read', 'read', 'read']);
    expect(await ask(`SELECT pid ${sessions}`)).toHaveLength(1);
  });

  it('reads the largest safe integer and refuses a larger one', async () => {
    const row = { ...organization(), createdAtMs: Number.MAX_SAFE_INTEGER };
    await store.transaction((tx) => tx.organizations.insert(row));
    expect(await store.organizations.find(ORG)).toEqual(row);
    await ask('UPDATE organizations SET created_at_ms = 9007199254740993');
    expect(await codeOf(store.organizations.find(ORG))).toBe('internal.BUG');
  });
});
