import type { Digest } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import type { Writes } from '../store/store.ts';
import type { Blobs } from './blobs.ts';

const TOGETHER = 32;

/**
 * Holds blobs until the transaction ends, so that nobody removes one between the look for it and the row that will
 * name it. Call it before the rows are written.
 * @throws DrillproofError `control.UNAVAILABLE` when one is gone again: put it anew
 */
export async function holdBlobs(
  tx: Pick<Writes, 'holdBlob'>,
  blobs: Pick<Blobs, 'has'>,
  digests: Iterable<Digest>,
  nowMs: number,
): Promise<void> {
  const all = [...new Set(digests)].toSorted(); // in one order, so that two of us never wait for each other
  for (const digest of all) await tx.holdBlob(digest, nowMs);
  for (let at = 0; at < all.length; at += TOGETHER) {
    const there = await Promise.all(all.slice(at, at + TOGETHER).map((digest) => blobs.has(digest)));
    if (there.includes(false))
      throw new DrillproofError(
        'control.UNAVAILABLE',
        'stored bytes were removed before a row could name them',
      );
  }
}
