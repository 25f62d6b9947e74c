import type { Digest } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { Tx } from '../store/store.ts';
import type { Blobs } from './blobs.ts';

const TOGETHER = 32;

/**
 * Locks blobs until the transaction ends, so that none is removed between this check and the write of the row that
 * names it. Call it before the rows are written.
 * @throws DrillproofError `control.UNAVAILABLE` when one was removed again: store it again
 */
export async function holdBlobs(tx: Tx, blobs: Pick<Blobs, 'has'>, digests: Iterable<Digest>): Promise<void> {
  const all = [...new Set(digests)];
  await tx.blobs.hold(all);
  for (let at = 0; at < all.length; at += TOGETHER) {
    const stored = await Promise.all(all.slice(at, at + TOGETHER).map((digest) => blobs.has(digest)));
    if (stored.includes(false))
      throw new DrillproofError('control.UNAVAILABLE', 'stored bytes were removed before a row named them');
  }
}
