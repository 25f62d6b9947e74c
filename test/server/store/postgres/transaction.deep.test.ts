import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrillproofError } from '../../../../src/errors.ts';
import { numberMarks } from '../../../../src/server/store/postgres/driver.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/postgres.ts';
import type { Store, Tx } from '../../../../src/server/store/store.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { id, ORG, OTHER_ORG } from '../../make.ts';
import { codeOf } from '../../thrown.ts';

const postgres = await startPostgres({ settings: ['deadlock_timeout=50ms'] });

const organization = (organizationId: string, name = 'x') => ({ organizationId, name, createdAtMs: 1 });
const insert = (tx: Tx, organizationId = ORG): Promise<void> =>
  tx.organizations.insert(organization(organizationId));

/** A gate that opens when `count` have come to it. */
function meeting(count: number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length >= count) for (const go of waiting) go();
    });
}

type Trap = { readonly url: string; arm(): void; close(): void };

/**
 * Stands before PostgreSQL and, once armed, does not pass on the answer to a COMMIT: it cuts the connection, or stays
 * silent for ever.
 */
async function commitTrap(url: string, then: 'cut' | 'silent'): Promise<Trap> {
  let armed = false;
  const target = Number(new URL(url).port);
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    let sprung = false;
    near.on('data', (chunk) => {
      sprung ||= armed && chunk.includes('COMMIT\0');
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (!sprung) near.write(chunk);
      else if (then === 'cut') near.destroy();
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const through = Object.assign(new URL(url), { port: String(port) }).href;
  return { url: through, arm: () => (armed = true), close: () => server.close() };
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

  /** Makes the next inserts of an organization fail with a SQLSTATE; afterwards they succeed. */
  const failNext = (times: number, state: string) =>
    ask(`CREATE SEQUENCE tries;
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('tries') <= ${times} THEN RAISE 'on purpose' USING ERRCODE = '${state}'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON organizations FOR EACH ROW EXECUTE FUNCTION refuse();`);

  it.each(['40001', '40P01'])(
    'runs again when the database says %s, and keeps its effect once',
    async (state) => {
      await failNext(3, state);
      let runs = 0;
      await store.transaction(async (tx) => {
        runs++;
        await insert(tx);
      });
      expect(runs).toBe(4);
      expect(await store.organizations.list()).toHaveLength(1);
    },
  );

  it('gives up after a bounded number of runs, so that the caller may try again', async () => {
    await failNext(100, '40001');
    let runs = 0;
    const work = store.transaction(async (tx) => {
      runs++;
      await insert(tx);
    });
    expect(await codeOf(work)).toBe('control.UNAVAILABLE');
    expect(runs).toBe(5);
    await ask('DROP TRIGGER refuse ON organizations');
    await store.transaction((tx) => insert(tx));
    expect(await store.organizations.list()).toHaveLength(1);
  });

  it('runs again when the work hides a lost race behind an error of its own', async () => {
    await failNext(1, '40001');
    await store.transaction(async (tx) => {
      await insert(tx).catch(() => {
        throw new DrillproofError('server.ADMIN_REFUSED', 'it exists already');
      });
    });
    expect(await store.organizations.list()).toHaveLength(1);
  });

  it('a transaction is never committed when the work ignores a failed statement', async () => {
    await failNext(1, '22000');
    const work = store.transaction(async (tx) => {
      await insert(tx, OTHER_ORG).catch(() => undefined);
    });
    await expect(work).rejects.toThrow('on purpose');
    const more = store.transaction(async (tx) => {
      await insert(tx, OTHER_ORG);
      await insert(tx, OTHER_ORG).catch(() => undefined);
    });
    await expect(more).rejects.toThrow('duplicate key');
    expect(await store.organizations.list()).toEqual([]);
  });

  it('ends with the reason why a write failed, although a later statement noticed it first', async () => {
    await failNext(1, '53100');
    const work = store.transaction(async (tx) => {
      await insert(tx);
      await tx.organizations.find(ORG);
    });
    expect(await codeOf(work)).toBe('io.DISK_FULL');
  });

  it('does not run again for an error of the work itself', async () => {
    let runs = 0;
    const work = store.transaction(async (tx) => {
      runs++;
      await insert(tx);
      throw new DrillproofError('control.NOT_FOUND', 'not there');
    });
    expect(await codeOf(work)).toBe('control.NOT_FOUND');
    expect(runs).toBe(1);
    expect(await store.organizations.list()).toEqual([]);
  });

  it('lets one of two that look for a key and then write it do so, and the other see it', async () => {
    const bothLooked = meeting(2);
    const create = () =>
      store.transaction(async (tx) => {
        const there = (await tx.organizations.find(ORG)) !== undefined;
        await bothLooked();
        if (!there) await insert(tx);
        return there;
      });
    expect((await Promise.all([create(), create()])).toSorted()).toEqual([false, true]);
  });

  it('undoes one of two that wait for each other, and runs it again', async () => {
    await store.transaction(async (tx) => {
      await insert(tx, ORG);
      await insert(tx, OTHER_ORG);
    });
    const bothHold = meeting(2);
    let runs = 0;
    const rename = (first: string, second: string, name: string) =>
      store.transaction(async (tx) => {
        runs++;
        await tx.organizations.lock(first);
        await bothHold();
        await tx.organizations.update(organization(first, name));
        await tx.organizations.update(organization(second, name));
      });
    await Promise.all([rename(ORG, OTHER_ORG, 'one'), rename(OTHER_ORG, ORG, 'two')]);
    expect(runs).toBe(3);
    expect(new Set((await store.organizations.list()).map(({ name }) => name)).size).toBe(1);
  });

  it('runs statements that are sent at once one after the other', async () => {
    await store.transaction(async (tx) => {
      await Promise.all(Array.from({ length: 20 }, (_, n) => insert(tx, id('org', n))));
    });
    expect(await store.organizations.list()).toHaveLength(20);
  });

  it('takes no statement after its end', async () => {
    let kept: Tx | undefined;
    await store.transaction(async (tx) => {
      kept = tx;
    });
    expect(await codeOf(insert(kept!))).toBe('internal.BUG');
    expect(await store.organizations.list()).toEqual([]);
  });

  it('ends as unavailable when a statement takes too long', async () => {
    await ask(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(30); RETURN NEW; END $$;
      CREATE TRIGGER slow BEFORE INSERT ON organizations FOR EACH ROW EXECUTE FUNCTION slow();`);
    const hasty = await openPostgresStore(url, { statementTimeoutMs: 500 });
    expect(await codeOf(hasty.transaction((tx) => insert(tx)))).toBe('control.UNAVAILABLE');
    expect(await hasty.organizations.list()).toEqual([]);
    await hasty.close();
  });

  it('a transaction fails as unavailable when another one locks a row for too long', async () => {
    await store.transaction((tx) => insert(tx));
    const hasty = await openPostgresStore(url, { lockTimeoutMs: 300 });
    await store.transaction(async (tx) => {
      await tx.organizations.update(organization(ORG, 'first'));
      const waiting = hasty.transaction((other) => other.organizations.update(organization(ORG, 'second')));
      expect(await codeOf(waiting)).toBe('control.UNAVAILABLE');
    });
    expect(await store.organizations.find(ORG)).toMatchObject({ name: 'first' });
    await hasty.close();
  });

  it('the database ends an idle transaction, so that a stopped process holds no lock', async () => {
    const hasty = await openPostgresStore(url, { idleInTransactionMs: 300 });
    const work = hasty.transaction(async (tx) => {
      await insert(tx);
      await new Promise((resolve) => setTimeout(resolve, 900));
      await insert(tx, OTHER_ORG);
    });
    expect(await codeOf(work)).toBe('control.UNAVAILABLE');
    expect(await hasty.organizations.list()).toEqual([]);
    await hasty.close();
  });

  it('ends as unavailable when its connection is lost, and the store continues with a new one', async () => {
    const work = store.transaction(async (tx) => {
      await insert(tx);
      await ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'drillproof'",
      );
      await insert(tx, OTHER_ORG);
    });
    expect(await codeOf(work)).toBe('control.UNAVAILABLE');
    await store.transaction((tx) => insert(tx, OTHER_ORG));
    expect((await store.organizations.list()).map(({ organizationId }) => organizationId)).toEqual([
      OTHER_ORG,
    ]);
  });

  it.each(['cut', 'silent'] as const)(
    'is not run again when the answer to its commit is lost, for it may have happened: %s',
    async (then) => {
      const trap = await commitTrap(url, then);
      const behind = await openPostgresStore(trap.url, { statementTimeoutMs: 800, connectTimeoutMs: 800 });
      trap.arm();
      let runs = 0;
      const work = behind.transaction(async (tx) => {
        runs++;
        await insert(tx);
      });
      expect(await codeOf(work)).toBe('control.UNAVAILABLE');
      expect(runs).toBe(1);
      expect(await store.organizations.list()).toHaveLength(1);
      await behind.close();
      trap.close();
    },
  );

  it.each([
    ['53100', 'io.DISK_FULL'],
    ['58030', 'io.UNREADABLE'],
    ['XX001', 'io.UNREADABLE'],
    ['25006', 'control.UNAVAILABLE'],
    ['53300', 'control.UNAVAILABLE'],
    ['57P01', 'control.UNAVAILABLE'],
    ['08006', 'control.UNAVAILABLE'],
  ])('says what the trouble of the database means: %s is %s', async (state, code) => {
    await failNext(1, state);
    expect(await codeOf(store.transaction((tx) => insert(tx)))).toBe(code);
    await store.transaction((tx) => insert(tx));
    expect(await store.organizations.list()).toHaveLength(1);
  });

  it('never waits for a connection longer than it should', async () => {
    const narrow = await openPostgresStore(url, { connections: 2, connectTimeoutMs: 800 });
    const bothThere = meeting(2);
    const first = narrow.transaction(async (tx) => {
      await insert(tx);
      await bothThere();
      // A read beside the transaction has a connection of its own.
      expect(await narrow.organizations.list()).toEqual([]);
    });
    expect(await codeOf(narrow.transaction((tx) => insert(tx, OTHER_ORG)))).toBe('control.UNAVAILABLE');
    await bothThere();
    await first;
    await narrow.close();
  });

  it('is durable, whatever is the default of the database', async () => {
    url = await postgres.database();
    await (await openPostgresStore(url)).close();
    await ask(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
    await ask(`CREATE TABLE seen (setting text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$;
      CREATE TRIGGER note BEFORE INSERT ON organizations FOR EACH ROW EXECUTE FUNCTION note();`);
    const other = await openPostgresStore(url);
    await other.transaction((tx) => insert(tx));
    await other.close();
    expect(await ask('SELECT * FROM seen')).toEqual([{ setting: 'on' }]);
  });

  it('refuses an integer that a number cannot hold, and gives back the largest that it can', async () => {
    await store.transaction((tx) =>
      tx.organizations.insert({ ...organization(ORG), createdAtMs: Number.MAX_SAFE_INTEGER }),
    );
    expect(await store.organizations.find(ORG)).toMatchObject({ createdAtMs: Number.MAX_SAFE_INTEGER });
    await ask('UPDATE organizations SET created_at_ms = 9007199254740993');
    expect(await codeOf(store.organizations.find(ORG))).toBe('internal.BUG');
  });

  it('sorts ids by their bytes and takes quotes for what they are', async () => {
    const ids = [
      "org_'; DROP TABLE organizations; --",
      'org_A',
      'org_Z',
      'org_a',
      'org_b?',
      'org_é',
      'org_😀',
    ];
    await store.transaction(async (tx) => {
      for (const one of ids.toReversed()) await insert(tx, one);
    });
    expect((await store.organizations.list()).map(({ organizationId }) => organizationId)).toEqual(ids);
  });
});
