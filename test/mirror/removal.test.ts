import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { InventoryLog, type InventoryRow, type LogFile } from '../../src/mirror/inventory.ts';
import { removeMirror } from '../../src/mirror/removal.ts';
import { DrillproofError } from '../../src/errors.ts';
import { failureOf } from '../client/make.ts';
import { EXPORT_ID, hashOf, NOW } from '../support/evidence.ts';

const HOLD = { by: 'Ana', reason: 'case 7', atMs: NOW };
const ROW: InventoryRow = {
  evidenceExportId: EXPORT_ID,
  manifestDigest: hashOf('manifest'),
  state: 'held',
  files: 1,
  bytes: 1,
  mirroredAtMs: NOW,
};

/** An inventory with a row, and a place that counts its removals. */
async function makePlace(row: InventoryRow = ROW, refusal?: DrillproofError) {
  let content = new Uint8Array();
  const log: LogFile = {
    read: async () => content,
    update: async (change) => void (content = Uint8Array.from(change(content))),
  };
  const inventory = new InventoryLog(log, 'test', () => NOW + 1);
  await inventory.write({ exports: [row] });
  const calls: string[] = [];
  const place = {
    assertRemovable: async () => {
      if (refusal !== undefined) throw refusal;
    },
    remove: async () => void calls.push((await readRow()).state),
  };
  const readRow = async () => (await inventory.read())!.exports.get(EXPORT_ID)!;
  return { inventory, place, calls, readRow };
}

describe('removeMirror', () => {
  it('states the removal before the first file is removed', async () => {
    const { inventory, place, calls, readRow } = await makePlace();
    await removeMirror(inventory, EXPORT_ID, place, 'asked for');
    expect(calls).toEqual(['removed']);
    expect(await readRow()).toEqual({
      ...ROW,
      state: 'removed',
      removedAtMs: NOW + 1,
      removedBecause: 'asked for',
    });
    // An interrupted removal is completed without another line.
    const { number } = (await inventory.read())!;
    await removeMirror(inventory, EXPORT_ID, place, 'again');
    expect([calls.length, (await inventory.read())!.number]).toEqual([2, number]);
  });

  it.each<[string, InventoryRow, DrillproofError | undefined]>([
    ['a hold in the inventory', { ...ROW, hold: HOLD }, undefined],
    ['a hold of a mirror that is being removed', { ...ROW, state: 'removed', hold: HOLD }, undefined],
    ['a lock of the storage', ROW, new DrillproofError('inventory.HELD', 'locked')],
  ])('removes nothing under %s', async (_, row, refusal) => {
    const { inventory, place, calls, readRow } = await makePlace(row, refusal);
    const failure = await failureOf(removeMirror(inventory, EXPORT_ID, place, 'asked for'));
    expect(failure.code).toBe('inventory.HELD');
    expect([calls, await readRow()]).toEqual([[], row]);
  });

  it('sees a hold that another process added since the inventory was read', async () => {
    const { inventory, place, calls } = await makePlace();
    await inventory.read();
    const late = {
      ...place,
      assertRemovable: () => inventory.edit(EXPORT_ID, (row) => ({ ...row, hold: HOLD })),
    };
    expect((await failureOf(removeMirror(inventory, EXPORT_ID, late, 'x'))).code).toBe('inventory.HELD');
    expect(calls).toEqual([]);
  });

  it('does not remove what the inventory does not name', async () => {
    const { inventory, place, calls } = await makePlace();
    const failure = await failureOf(removeMirror(inventory, 'evexp_other', place, 'x'));
    expect([failure.code, calls]).toEqual(['inventory.UNLISTED', []]);
  });

  it('is the only caller that asks a volume to remove its files', async () => {
    const src = fileURLToPath(new URL('../../src/', import.meta.url));
    const files = (await readdir(src, { recursive: true })).filter((path) => path.endsWith('.ts'));
    const callers: string[] = [];
    for (const path of files)
      if (
        /\.assertRemovable\(|(?:volume|place|child\([^)]*\))\.remove\(/.test(
          await readFile(join(src, path), 'utf8'),
        )
      )
        callers.push(path);
    expect(callers).toEqual(['mirror/removal.ts']);
  });
});
