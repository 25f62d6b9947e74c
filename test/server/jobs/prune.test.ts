import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { openDiskBlobs } from '../../../src/server/blobs/disk.ts';
import { prune, type Pruned, setRetention } from '../../../src/server/jobs/prune.ts';
import {
  retentionTargets,
  retentionKinds,
  type RetentionRules,
} from '../../../src/server/store/retention.ts';
import { openPostgresStore } from '../../../src/server/store/postgres/postgres.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/sqlite.ts';
import type { Tx } from '../../../src/server/store/store.ts';
import { isDeep, tries } from '../../support/deep.ts';
import { forAllAsync } from '../../support/property.ts';
import { startPostgres } from '../../support/postgres.ts';
import * as make from '../make.ts';
import { id, NOW_MS, ORG, PROJECT, type Plane } from '../make.ts';
import * as rows from '../store/rows.ts';
import { codeOf } from '../thrown.ts';

const DAY_MS = 86_400_000;
const postgres = isDeep ? await startPostgres() : undefined;
const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

/** A control plane on the store of this run: PostgreSQL in the deep run, else SQLite. */
async function makePlane() {
  const url = await postgres?.schema();
  const openOn = async (folder: string) => ({
    store:
      url === undefined ? await openSqliteStore(join(folder, 'store.sqlite')) : await openPostgresStore(url),
    blobs: await openDiskBlobs(folder),
  });
  const plane = await make.makePlane({}, openOn);
  planes.push(plane);
  await make.createTenants(plane);
  await plane.store.transaction((tx) => tx.environments.insert(rows.environment));
  return { ...plane, place: url ?? join(plane.folder, 'store.sqlite') };
}

type Item = { readonly endedAtMs: number | undefined; readonly to: number };
type World = Readonly<
  Record<
    'sessions' | 'runs' | 'bundles' | 'conversations' | 'turns' | 'operations' | 'attempts' | 'tokens',
    readonly Item[]
  >
>;
type Kind = keyof World;

const { inProject } = rows;
const times = ({ endedAtMs = NOW_MS }: Item) => ({ updatedAtMs: endedAtMs, finishedAtMs: endedAtMs });
/** The item at a number that may be too high: none. */
const at = (items: readonly Item[], n: number): number | undefined => (n < items.length ? n : undefined);

/** The items to which an item refers, so that they stay while it stays. */
const holds: Readonly<
  Record<Kind, (item: Item, n: number, world: World) => readonly (readonly [Kind, number | undefined])[]>
> = {
  sessions: (item, _, { sessions }) => [['sessions', at(sessions, item.to)]],
  runs: (item, n, { runs, sessions }) => [
    ['runs', at(runs, item.to)],
    ['sessions', n % sessions.length],
  ],
  bundles: (item, _, { runs }) => [['runs', item.endedAtMs === undefined ? at(runs, item.to) : undefined]],
  conversations: () => [],
  turns: (_, n, { conversations, operations }) => [
    ['conversations', n % conversations.length],
    ['operations', at(operations, n)],
  ],
  operations: () => [],
  attempts: () => [],
  tokens: () => [],
};
const RULE: Readonly<Partial<Record<Kind, keyof RetentionRules>>> = {
  sessions: 'sessions',
  runs: 'runs',
  conversations: 'authoring',
  turns: 'authoring',
  operations: 'operations',
  attempts: 'buildAttempts',
  tokens: 'tokens',
};
const kinds = Object.keys(holds) as Kind[];

/** What stays, found by removing one item after the other until none can be removed. */
function findStaying(world: World, rules: RetentionRules): Set<string> {
  const staying = new Set(kinds.flatMap((kind) => world[kind].map((_, n) => `${kind} ${n}`)));
  const isDue = (kind: Kind, n: number): boolean => {
    const days = rules[RULE[kind] ?? 'tokens'];
    const endedAtMs = world[kind][n]?.endedAtMs;
    if (RULE[kind] === undefined || days === undefined || endedAtMs === undefined) return false;
    if (endedAtMs > NOW_MS - days * DAY_MS) return false;
    return kind !== 'turns' || isDue('conversations', n % world.conversations.length);
  };
  const isHeld = (name: string): boolean =>
    kinds.some((kind) =>
      world[kind].some(
        (item, n) =>
          staying.has(`${kind} ${n}`) && holds[kind](item, n, world).some(([to, m]) => `${to} ${m}` === name),
      ),
    );
  for (let before = -1; before !== staying.size;) {
    before = staying.size;
    for (const name of staying) {
      const [kind, n] = name.split(' ') as [Kind, string];
      if (isDue(kind, Number(n)) && !isHeld(name)) staying.delete(name);
    }
  }
  return staying;
}

const SPECIAL = 'a\u0000b\ud800\\u0000\\\\ud83d"\n'; // JSON escapes that PostgreSQL refuses, and texts that look like them

const refer = (prefix: string, items: readonly Item[], n: number) =>
  at(items, n) === undefined ? undefined : id(prefix, n);

async function writeWorld(tx: Tx, world: World): Promise<void> {
  for (const [n, item] of world.sessions.entries()) {
    const sessionId = id('ses', n);
    const parentSessionId = refer('ses', world.sessions, item.to);
    const state = item.endedAtMs === undefined ? ('ready' as const) : ('expired' as const);
    const facts = { sessionId, state, updatedAtMs: item.endedAtMs ?? 1, seed: SPECIAL };
    const resource = { ...rows.session.resource, ...facts, ...(parentSessionId && { parentSessionId }) };
    await tx.sessions.insert({ ...inProject, sessionId, resource });
  }
  for (const [n, item] of world.runs.entries()) {
    const row = rows.hostedRun(n, item.endedAtMs === undefined ? 'running' : 'succeeded');
    const rerunOfHostedRunId = refer('hrun', world.runs, item.to);
    const sessionId = id('ses', n % world.sessions.length);
    const { rerunOfHostedRunId: _, ...facts } = { ...row.resource, ...times(item), sessionId };
    await tx.runs.insert({
      ...row,
      resource: { ...facts, ...(rerunOfHostedRunId && { rerunOfHostedRunId }) },
    });
  }
  for (const [n, item] of world.bundles.entries()) {
    const deleted = item.endedAtMs === undefined ? {} : { deletedAtMs: item.endedAtMs };
    const row = rows.bundle(n, { createdAtMs: NOW_MS, ...deleted });
    await tx.bundles.insert({ ...row, resource: { ...row.resource, hostedRunId: id('hrun', item.to) } });
  }
  for (const [n, item] of world.operations.entries()) {
    const state = item.endedAtMs === undefined ? 'pending' : 'succeeded';
    const isTurn = n < world.turns.length;
    const subject = isTurn ? { resourceType: 'authoring_turn', resourceId: id('authturn', n) } : {};
    const { resource, ...row } = rows.operation(n, { ...subject, state });
    const { finishedAtMs: _, ...pending } = resource;
    await tx.operations.insert({
      ...row,
      resource: item.endedAtMs === undefined ? pending : { ...resource, ...times(item) },
    });
  }
  for (const [n, { endedAtMs }] of world.conversations.entries()) {
    const authoringSessionId = id('authsess', n);
    const { closedAtMs: _, ...active } = rows.authoringSession.resource;
    const closed = endedAtMs === undefined ? { state: 'active' } : { state: 'closed', closedAtMs: endedAtMs };
    const resource = { ...active, authoringSessionId, ...closed };
    await tx.authoringSessions.insert({ ...inProject, authoringSessionId, resource });
  }
  for (const [n, item] of world.turns.entries()) {
    const authoringSessionId = id('authsess', n % world.conversations.length);
    const facts = { authoringSessionId, operationId: id('op', n), state: 'succeeded', prompt: SPECIAL };
    const row = rows.turn(n + 1, facts);
    const { finishedAtMs: _, ...unfinished } = row.resource;
    const ended = item.endedAtMs === undefined ? {} : { finishedAtMs: item.endedAtMs };
    await tx.turns.insert({
      ...row,
      authoringTurnId: id('authturn', n),
      resource: { ...unfinished, authoringTurnId: id('authturn', n), ...ended },
    });
  }
  for (const [n, item] of world.attempts.entries()) {
    const row = rows.attempt(n, item.endedAtMs === undefined ? 'queued' : 'failed');
    await tx.buildAttempts.insert({
      ...row,
      resource: { ...row.resource, updatedAtMs: item.endedAtMs ?? 1 },
    });
  }
  for (const [n, { endedAtMs, to }] of world.tokens.entries()) {
    const name = to % 2 === 0 ? 'revokedAtMs' : 'expiresAtMs';
    const ended = endedAtMs === undefined ? {} : { [name]: endedAtMs };
    const facts = {
      organizationId: ORG,
      projects: 'all' as const,
      permissions: [],
      createdAtMs: 1,
      ...ended,
    };
    await tx.tokens.insert({ tokenId: id('tok', n), tokenHash: `hash ${n}`, ...facts });
  }
}

async function readStaying({ store }: Plane, world: World): Promise<Set<string>> {
  const tokens = new Set((await store.tokens.list(ORG)).map(({ tokenId }) => tokenId));
  const find: Readonly<Record<Kind, (n: number) => Promise<unknown>>> = {
    sessions: (n) => store.sessions.find(PROJECT, id('ses', n)),
    runs: (n) => store.runs.find(PROJECT, id('hrun', n)),
    bundles: (n) => store.bundles.find(PROJECT, id('evidence', n)),
    conversations: (n) => store.authoringSessions.find(PROJECT, id('authsess', n)),
    turns: (n) => store.turns.find(PROJECT, id('authturn', n)),
    operations: (n) => store.operations.find(ORG, id('op', n)),
    attempts: (n) => store.buildAttempts.find(PROJECT, id('attempt', n)),
    tokens: async (n) => (tokens.has(id('tok', n)) ? true : undefined),
  };
  const staying = new Set<string>();
  for (const kind of kinds)
    for (const n of world[kind].keys()) if ((await find[kind](n)) !== undefined) staying.add(`${kind} ${n}`);
  return staying;
}

const NOTHING = Object.fromEntries(Object.keys(retentionTargets).map((kind) => [kind, 0]));
const count = (pruned: Pruned): number => Object.values(pruned).reduce((sum, number) => sum + number, 0);

// Ages of 1 to 4 days, and a millisecond less and more, around rules of 2 and 3 days.
const anItem = fc.record({
  endedAtMs: fc.option(
    fc
      .tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom(-1, 0, 1))
      .map(([age, ms]) => NOW_MS - age * DAY_MS + ms),
    { nil: undefined, freq: 3 },
  ),
  to: fc.nat({ max: 6 }),
});
const items = (min: number) => fc.array(anItem, { minLength: min, maxLength: 6 });
const aWorld: fc.Arbitrary<World> = fc.record({
  sessions: items(1),
  runs: items(0),
  bundles: items(0),
  conversations: items(1),
  turns: items(0),
  operations: items(0),
  attempts: items(0),
  tokens: items(0),
});
const someRules = fc.record(Object.fromEntries(retentionKinds.map((rule) => [rule, fc.constantFrom(2, 3)])), {
  requiredKeys: [],
}) as fc.Arbitrary<RetentionRules>;

it('what rules remove is old enough, and nothing that stays refers to it, for slices of any size', async () => {
  await forAllAsync(
    tries(12, 30),
    [aWorld, someRules, fc.integer({ min: 1, max: 8 })],
    async (world, rules, slice) => {
      const plane = await makePlane();
      const { store } = plane;
      await store.transaction((tx) => writeWorld(tx, world));
      await setRetention(plane, rules);
      const context = { store, now: () => NOW_MS };
      const all = await readStaying(plane, world);
      const planned = await prune(context, { dryRun: true, slice });
      expect(await readStaying(plane, world)).toEqual(all);
      const staying = findStaying(world, rules);
      const removed = await prune(context, { slice });
      expect(await readStaying(plane, world)).toEqual(staying);
      for (const [kind, number] of Object.entries(planned))
        expect(number).toBeLessThanOrEqual(removed[kind as keyof Pruned]);
      expect(count(removed)).toBe(all.size - staying.size);
      for (const dryRun of [true, false]) expect(await prune(context, { dryRun })).toEqual(NOTHING);
      await planes.pop()?.close();
    },
  );
});

const old = (number: number): Item[] =>
  Array.from({ length: number }, () => ({ endedAtMs: NOW_MS - 1000 * DAY_MS, to: 99 }));
const WORLD: World = {
  sessions: old(2),
  runs: old(2),
  bundles: [{ endedAtMs: undefined, to: 0 }],
  conversations: old(1),
  turns: old(2),
  operations: old(3),
  attempts: old(1),
  tokens: old(2),
};
const ALL: RetentionRules = Object.fromEntries(retentionKinds.map((rule) => [rule, 2]));

it('without a rule, rows stay for ever', async () => {
  const plane = await makePlane();
  await plane.store.transaction((tx) => writeWorld(tx, WORLD));
  expect(await prune({ store: plane.store, now: () => NOW_MS + 50_000 * DAY_MS })).toEqual(NOTHING);
});

it('a run stays while its bundle is not deleted, and its session as long', async () => {
  const plane = await makePlane();
  const { store } = plane;
  await store.transaction((tx) => writeWorld(tx, WORLD));
  await setRetention(plane, { runs: 2, sessions: 2 });
  const pruneNow = () => prune({ store, now: () => NOW_MS });
  expect(await pruneNow()).toMatchObject({ runs: 1, sessions: 1 });
  await store.transaction((tx) =>
    tx.bundles.update(rows.bundle(0, { createdAtMs: NOW_MS, deletedAtMs: NOW_MS })),
  );
  expect(await pruneNow()).toMatchObject({ runs: 1, sessions: 1 });
});

it('the operations of an export stay, and a session that has a child', async () => {
  const plane = await makePlane();
  const resourceId = id('evexp', 1);
  await plane.store.transaction(async (tx) => {
    await tx.exports.insert(rows.newExport(1));
    await tx.operations.insert(rows.operation(1, { resourceId, state: 'succeeded', finishedAtMs: 1 }));
    await tx.operations.insert(
      rows.operation(2, { resourceId: id('evexp', 2), state: 'succeeded', finishedAtMs: 1 }),
    );
    await writeWorld(tx, {
      ...WORLD,
      operations: [],
      sessions: [...old(1), { endedAtMs: undefined, to: 0 }],
      runs: [],
      turns: [],
    });
  });
  await setRetention(plane, ALL);
  expect(await prune({ store: plane.store, now: () => NOW_MS })).toMatchObject({
    operations: 1,
    sessions: 0,
  });
  expect(await plane.store.operations.find(ORG, id('op', 1))).toBeDefined();
});

it('a row that another transaction is about to refer to stays', async () => {
  const plane = await makePlane();
  const { store } = plane;
  await store.transaction((tx) => writeWorld(tx, { ...WORLD, bundles: [] }));
  await setRetention(plane, { runs: 2 });
  let pruning: Promise<Pruned> | undefined;
  await store.transaction(async (tx) => {
    const original = (await tx.runs.lock(PROJECT, id('hrun', 0)))!;
    pruning = prune({ store, now: () => NOW_MS });
    await sleep(50); // on SQLite, the prune waits for this transaction
    const rerun = rows.hostedRun(7);
    const resource = { ...rerun.resource, sessionId: id('ses', 0), rerunOfHostedRunId: original.hostedRunId };
    await tx.runs.insert({ ...rerun, resource });
  });
  expect(await pruning).toMatchObject({ runs: 1 });
  expect(await store.runs.find(PROJECT, id('hrun', 0))).toBeDefined();
  expect(await prune({ store, now: () => NOW_MS })).toEqual(NOTHING);
});

it.each<unknown>([
  { runs: 1 },
  { runs: 36_501 },
  { runs: 2.5 },
  { runs: '3' },
  { runs: NaN },
  { bundles: 9 },
  7,
])('the rules %j are refused, and the earlier ones stay', async (rules) => {
  const plane = await makePlane();
  await plane.admin.setRetention({ runs: 2, tokens: 36_500 });
  expect(await codeOf(plane.admin.setRetention(rules as RetentionRules))).toBe('server.ADMIN_REFUSED');
  expect(await plane.store.retention.rules()).toEqual({ runs: 2, tokens: 36_500 });
});

it('a prune that was stopped, and one whose process was killed, are completed by the next', async () => {
  const plane = await makePlane();
  const { store } = plane;
  const left = { ...WORLD, operations: old(300), turns: [] };
  await store.transaction((tx) => writeWorld(tx, left));
  await setRetention(plane, { operations: 2 });
  const stop = new AbortController();
  const remaining = async () =>
    [...(await readStaying(plane, left))].filter((name) => name.startsWith('op')).length;
  let slices = 0;
  const counting: typeof store = {
    ...store,
    transaction: (work) => {
      if (++slices === 3) stop.abort();
      return store.transaction(work);
    },
  };
  const stopped = await prune({ store: counting, now: () => NOW_MS }, { signal: stop.signal, slice: 10 });
  expect([stopped.operations, await remaining()]).toEqual([30, 270]);

  const script = `
    import { openPostgresStore } from ${source('store/postgres/postgres.ts')};
    import { openSqliteStore } from ${source('store/sqlite/sqlite.ts')};
    import { prune } from ${source('jobs/prune.ts')};
    const [place] = process.argv.slice(1);
    const store = await (place.startsWith('postgres') ? openPostgresStore : openSqliteStore)(place);
    await prune({ store, now: () => ${NOW_MS} }, { slice: 2 });
    await store.close();
  `;
  const args = ['--conditions=drillproof:source', '--input-type=module', '-e', script, plane.place];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const ended = once(child, 'exit');
  await expect.poll(remaining, { interval: 1, timeout: 30_000 }).toBeLessThan(250);
  child.kill('SIGKILL');
  await ended;
  const half = await remaining();
  expect(half).toBeGreaterThan(0);
  expect(await prune({ store, now: () => NOW_MS })).toMatchObject({ operations: half });
  expect(await remaining()).toBe(0);
});
const source = (path: string): string =>
  JSON.stringify(new URL(`../../../src/server/${path}`, import.meta.url).href);
