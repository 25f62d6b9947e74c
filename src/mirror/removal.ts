import { DrillproofError } from '../errors.ts';
import type { InventoryLog, InventoryRow } from './inventory.ts';

/** The place of a mirror in an archive, which can remove its files. */
export type Removable = {
  /** @throws DrillproofError `inventory.HELD` if the storage itself holds a file */
  assertRemovable(): Promise<void>;
  /** Locks the mirror and removes its files. @throws DrillproofError `io.LOCKED` and other `io.` codes */
  remove(): Promise<void>;
};

/**
 * Removes a mirror from an archive. Nothing else removes one, so nothing escapes a hold. The inventory states the removal
 * before the first file is removed; after an interruption the rest is removed by the next call.
 * @param why is recorded
 * @throws DrillproofError `inventory.HELD`, `inventory.UNLISTED` for an export that the inventory does not name, and what
 *   the inventory and the place throw
 */
export async function removeMirror(
  inventory: InventoryLog,
  evidenceExportId: string,
  place: Removable,
  why: string,
): Promise<void> {
  await place.assertRemovable();
  await inventory.edit(evidenceExportId, (row, nowMs) => {
    assertNotHeld(row);
    if (row.state === 'removed') return row;
    return { ...row, state: 'removed', removedAtMs: nowMs, removedBecause: why };
  });
  await place.remove();
}

function assertNotHeld({ evidenceExportId, hold }: InventoryRow): void {
  if (hold === undefined) return;
  const message = `${evidenceExportId} is held by ${hold.by}: ${hold.reason}`;
  throw new DrillproofError('inventory.HELD', message, { path: evidenceExportId });
}
