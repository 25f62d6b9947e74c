import { randomInt } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { closeAfter } from '../../bytes/async.ts';
import { countNoun } from '../../bytes/text/wording.ts';
import type { Code } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import type { Inventory, InventoryRow } from '../../mirror/inventory.ts';
import { mirrorExport } from '../../mirror/mirror.ts';
import { inTemporaryFolder } from '../../node/temporary-folder.ts';
import { mirrorDirectory } from '../../node/volume/mirror.ts';
import { size } from '../../report/text/page.ts';
import type { Cli } from '../cli.ts';
import { openReplicas, readExportRef } from '../shared/input/replicas.ts';
import { readToolName } from '../shared/output/product.ts';
import { withProgress } from '../shared/output/progress.ts';

/** What is wrong with a mirror of an archive. */
export type Fault = { readonly mirror: string; readonly code: Code; readonly message: string };

/** Reports an error of one mirror, so that the others are still read. An interruption and faults of the program are rethrown. */
export function toFault(cli: Cli, mirror: string, error: unknown): Fault {
  if (!(error instanceof DrillproofError) || cli.signal.aborted) throw error;
  return { mirror, code: error.code, message: error.message };
}

type Replicas = Awaited<ReturnType<typeof openReplicas>>;

type Rehearsal = {
  readonly restored: readonly Pick<InventoryRow, 'evidenceExportId' | 'files' | 'bytes'>[];
  readonly faults: readonly Fault[];
};

export const formatRehearsal = ({ restored }: Rehearsal): string => {
  const bytes = restored.reduce((sum, row) => sum + row.bytes, 0);
  return `${countNoun(restored.length, 'export')}, ${size(bytes)} restored and verified`;
};

/** Restores some mirrors at random, one after the other, as `mirror --from` does, and removes the copies. */
export async function rehearseRestore(
  cli: Cli,
  place: string,
  inventory: Inventory,
  most: number,
): Promise<Rehearsal> {
  const rows = draw([...inventory.exports.values()].filter(({ state }) => state === 'held')).slice(0, most);
  if (rows.length === 0)
    throw new DrillproofError('scrub.NOTHING_FOUND', `${place} holds no export`, { path: place });
  const restored: InventoryRow[] = [];
  const faults: Fault[] = [];
  const restoreInto = (folder: string, replicas: Replicas): Promise<void> =>
    withProgress(cli, 'restored', 'exports', async (progress) => {
      for (const row of rows) {
        progress.update({ done: restored.length + faults.length, of: rows.length });
        try {
          await restore(cli, replicas, row, join(folder, row.evidenceExportId));
          restored.push(row);
        } catch (error) {
          faults.push(toFault(cli, row.evidenceExportId, error));
        }
      }
    });
  await inTemporaryFolder('rehearsal', async (folder) =>
    closeAfter(await openReplicas(cli, place), (replicas) => restoreInto(folder, replicas)),
  );
  const listed = restored.map(({ evidenceExportId, files, bytes }) => ({ evidenceExportId, files, bytes }));
  return { restored: listed, faults };
}

/** Puts rows into a random order (Fisher and Yates). */
function draw<T>(rows: readonly T[]): readonly T[] {
  const drawn = [...rows];
  for (let left = drawn.length; left > 1; left--) {
    const at = randomInt(left);
    [drawn[at], drawn[left - 1]] = [drawn[left - 1]!, drawn[at]!];
  }
  return drawn;
}

async function restore(
  cli: Cli,
  replicas: Replicas,
  { evidenceExportId, manifestDigest }: InventoryRow,
  to: string,
): Promise<void> {
  const replica = await replicas.open(evidenceExportId);
  try {
    await mirrorExport(await readExportRef(replica, { evidenceExportId }), {
      client: replica.client,
      to: mirrorDirectory(to),
      expectManifest: manifestDigest,
      tool: await readToolName(),
      signal: cli.signal,
      now: cli.now,
    });
  } finally {
    await rm(to, { recursive: true, force: true });
  }
}
