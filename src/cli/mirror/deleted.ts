import { hasCode } from '../../errors.ts';
import type { InventoryLog, InventoryRow } from '../../mirror/inventory.ts';
import { removeMirror } from '../../mirror/removal.ts';
import type { Volume } from '../../node/volume/volume.ts';
import type { ArchiveReport } from '../../report/many/archives.ts';
import type { MirrorCommandOptions } from './options.ts';

type Deleted = NonNullable<ArchiveReport['deletedAtSource']>[number];

const SOURCE = 'the source deleted it';

/**
 * Applies the rule of the operator to an export that the source has deleted: the first run that sees it notes the time, and
 * with `hold` puts a hold on the mirror; a run after the time of `follow` removes it.
 */
export async function handleDeleted(
  evidenceExportId: string,
  { inventory, archive, nowMs }: { inventory: InventoryLog; archive: Volume; nowMs: number },
  { deleted = 'keep', followAfter = 0, check, dryRun }: MirrorCommandOptions,
): Promise<Deleted> {
  const row = (await inventory.read())?.exports.get(evidenceExportId);
  if (row === undefined) return { evidenceExportId, mirror: 'absent' };
  const { deletedAtSourceAtMs = nowMs } = row;
  const describe = (mirror: Deleted['mirror']): Deleted => ({
    evidenceExportId,
    mirror,
    deletedAtSourceAtMs,
  });
  if (check === true || dryRun === true) return describe(describeRow(row));
  await inventory.edit(evidenceExportId, (current) => noteDeletion(current, deleted, nowMs));
  // A removal that was interrupted is completed.
  const isDue = deleted === 'follow' && nowMs - deletedAtSourceAtMs >= followAfter;
  if (!isDue && row.state !== 'removed') return describe(deleted === 'hold' ? 'held' : describeRow(row));
  try {
    await removeMirror(inventory, evidenceExportId, archive.child(evidenceExportId), SOURCE);
    return describe('removed');
  } catch (cause) {
    if (hasCode(cause, 'inventory.HELD')) return describe('held');
    throw cause;
  }
}

const describeRow = ({ state, hold }: InventoryRow): Deleted['mirror'] => {
  if (state === 'removed') return 'removed';
  return hold === undefined ? 'kept' : 'held';
};

function noteDeletion(row: InventoryRow, rule: MirrorCommandOptions['deleted'], nowMs: number): InventoryRow {
  const noted = row.deletedAtSourceAtMs === undefined ? { ...row, deletedAtSourceAtMs: nowMs } : row;
  if (rule !== 'hold' || noted.hold !== undefined || noted.state === 'removed') return noted;
  return { ...noted, hold: { by: 'mirror --deleted hold', reason: SOURCE, atMs: nowMs } };
}
