import type { Digest } from '../../../bytes/index.ts';
import type { ServerContext } from '../../context.ts';
import type { Sweep } from '../handler.ts';
import { requestBundleDeletion } from './deletion.ts';

const MINUTE_MS = 60_000;
const BATCH = 100;

/** Deletes bundles whose `deleteAtMs` has passed; returns how many. */
export async function deleteDue({ store, now }: ServerContext, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  for (let due = await store.bundles.due(now(), BATCH); due.length > 0;) {
    for (const { projectId, evidenceBundleId } of due) {
      signal.throwIfAborted();
      const requested = await store.transaction(async (tx) => {
        const row = await tx.bundles.lock(projectId, evidenceBundleId);
        if (row?.resource.state !== 'available') return undefined; // another process was faster
        return requestBundleDeletion(tx, { projectId, evidenceBundleId }, now());
      });
      if (requested !== undefined) deleted++;
    }
    due = await store.bundles.due(now(), BATCH);
  }
  return deleted;
}

/**
 * Removes a blob unless a row needs it. The digest is locked, so that a transaction that is about to write such a row
 * waits, and then finds the blob missing. If this transaction fails, the blob is examined again.
 */
const removeUnneeded = ({ store, blobs }: ServerContext, digest: Digest): Promise<boolean> =>
  store.transaction(async (tx) => {
    if (!(await tx.blobs.lockRemoval(digest))) return false;
    const needed = await tx.blobs.isReferenced(digest);
    if (!needed) await blobs.remove(digest);
    await tx.blobs.endRemoval(digest);
    return !needed;
  });

/** Removes released blobs that no row needs; returns how many. One that cannot be removed is tried again next time. */
export async function removeReleased(context: ServerContext, signal: AbortSignal): Promise<number> {
  const { store, log } = context;
  let removed = 0;
  for (let digests = await store.blobs.removals('', BATCH); digests.length > 0;) {
    for (const digest of digests) {
      signal.throwIfAborted();
      try {
        if (await removeUnneeded(context, digest)) removed++;
      } catch (error) {
        log({ level: 'warn', event: 'retention.blob.left', facts: { digest }, error });
      }
    }
    digests = await store.blobs.removals(digests.at(-1) ?? '', BATCH);
  }
  return removed;
}

/** Long after every upload has ended, so that bytes whose row is still to be written are never taken for orphans. */
const ORPHANED_AFTER_MS = 24 * 60 * MINUTE_MS;

/**
 * Removes what killed processes left: unfinished files, and blobs without a row; returns how many. Blobs are only
 * released here: `removeReleased` looks again, under the lock, before it removes one.
 */
export async function releaseOrphans(
  { store, blobs, now }: ServerContext,
  signal: AbortSignal,
): Promise<number> {
  let count = await blobs.removeAbandoned(now());
  for await (const { digest, modifiedMs } of blobs.list()) {
    signal.throwIfAborted();
    if (now() - modifiedMs <= ORPHANED_AFTER_MS || (await store.blobs.isReferenced(digest))) continue;
    await store.transaction((tx) => tx.blobs.hold([digest]));
    count++;
  }
  return count;
}

/** The recurring work of retention. The jobs of deletions.ts do the work that it queues. */
export const retentionSweeps = (context: ServerContext): readonly Sweep[] => [
  { name: 'bundles-due', everyMs: MINUTE_MS, run: (signal) => deleteDue(context, signal) },
  { name: 'orphans', everyMs: ORPHANED_AFTER_MS, run: (signal) => releaseOrphans(context, signal) },
  { name: 'released-blobs', everyMs: MINUTE_MS, run: (signal) => removeReleased(context, signal) },
];
