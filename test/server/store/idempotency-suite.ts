import { describe, expect, it } from 'vitest';
import { prune } from '../../../src/server/jobs/prune.ts';
import type { IdempotencyRow, Store } from '../../../src/server/store/store.ts';
import { HASH, id, NOW_MS } from '../make.ts';
import { inProject, eachPair, type StoreFactory } from './rows.ts';

const scope = { ...inProject, operation: 'sessions.extend', idempotencyKey: 'k' };
const record = (over: Partial<IdempotencyRow> = {}): IdempotencyRow => ({
  ...scope,
  requestHash: HASH,
  response: 'a',
  createdAtMs: NOW_MS,
  expiresAtMs: NOW_MS + 100,
  ...over,
});

const find = ({ idempotency }: Store) =>
  idempotency.find(scope.organizationId, scope.projectId, scope.operation, scope.idempotencyKey);

/** Claims a key and returns the row that is stored then. */
const claimKey = (store: Store, row: IdempotencyRow): Promise<IdempotencyRow> =>
  store.transaction(async (tx) => (await tx.idempotency.claim(row)) ?? row);

/** Tests idempotency keys, also when two instances claim them at once. */
export function idempotencySuite(name: string, factory: StoreFactory): void {
  describe(`${name}: idempotency keys`, () => {
    const { pair, store, write } = eachPair(factory);

    it('a key keeps its answer until it expires', async () => {
      const done = record({ response: '{"a":1}' });
      await write(async (tx) => {
        await tx.idempotency.claim(record());
        await tx.idempotency.complete(done);
      });
      expect(await find(store)).toEqual(done);
      expect(await claimKey(store, record({ response: 'b', createdAtMs: NOW_MS + 99 }))).toEqual(done);
      const later = record({ response: 'b', createdAtMs: NOW_MS + 100 });
      expect(await claimKey(store, later)).toEqual(later);
    });

    it('a transaction that claims a claimed key waits until the first transaction has ended', async () => {
      const [first, second] = pair;
      for (const fails of [true, false]) {
        let claimed!: () => void;
        const begun = new Promise<void>((resolve) => (claimed = resolve));
        const held = first.transaction(async (tx) => {
          await tx.idempotency.claim(record());
          claimed();
          await tx.idempotency.complete(record({ response: 'done' }));
          if (fails) throw new Error('rolled back');
        });
        await begun;
        const late = second.transaction((tx) => tx.idempotency.claim(record({ response: 'b' })));
        if (fails) await expect(held).rejects.toThrow('rolled back');
        expect((await late)?.response).toBe(fails ? undefined : 'done');
        if (fails) await prune({ store: first, now: () => NOW_MS + 100 });
        await held.catch(() => undefined);
      }
    });

    it('a key belongs to its organization, project and operation, and is removed when it has expired', async () => {
      const others = [
        { projectId: id('prj', 2) },
        { operation: 'runs.reruns.create' },
        { idempotencyKey: 'K' },
      ];
      await claimKey(store, record());
      for (const other of others)
        expect((await claimKey(store, record({ ...other, response: 'b' }))).response).toBe('b');
      expect(await prune({ store, now: () => NOW_MS + 99 })).toMatchObject({ keys: 0 });
      expect(await prune({ store, now: () => NOW_MS + 100 })).toMatchObject({ keys: 4 });
      expect(await find(store)).toBeUndefined();
    });
  });
}
