import { defined, type Digest, digestOf, digestStream } from '../bytes/index.ts';
import {
  isReceiptPath,
  type LinkedReceipt,
  receiptBytes,
  type ReceiptLink,
  receiptPath,
  timeInPath,
} from '../evidence/index.ts';
import type { MirrorTarget } from './sink.ts';

/** The facts about a run, without its place in the chain of receipts. */
export type ReceiptFacts = Omit<LinkedReceipt, 'schemaVersion' | 'kind' | 'finishedAtMs' | 'previous'>;

export type WrittenReceipt = {
  readonly receipt: LinkedReceipt;
  readonly path: string;
  readonly digest: Digest;
};

type Target = Pick<MirrorTarget, 'list' | 'read' | 'write'>;

/**
 * Writes the receipt of a run as the next one of its mirror, which names the previous one by path and digest. The
 * caller must hold the lock of the target, so that no two receipts name the same one.
 * @param now milliseconds since the epoch
 */
export async function appendReceipt(
  target: Target,
  facts: ReceiptFacts,
  now: () => number,
): Promise<WrittenReceipt> {
  const previous = await lastReceipt(target);
  const receipt: LinkedReceipt = {
    schemaVersion: 2,
    kind: 'mirror.receipt',
    ...facts,
    finishedAtMs: timeAfter(previous, now()),
    ...defined({ previous }),
  };
  const bytes = receiptBytes(receipt);
  const digest = digestOf(bytes);
  const path = receiptPath(receipt, digest);
  await target.write(path, bytes);
  return { receipt, path, digest };
}

/** The newest receipt: names begin with the time, and each time is later than the previous one. */
async function lastReceipt(target: Target): Promise<ReceiptLink | undefined> {
  const path = (await target.list('receipts')).findLast(isReceiptPath);
  // A damaged receipt is named as it is; verifying the chain shows what is wrong with it.
  return path === undefined ? undefined : { path, digest: (await digestStream(target.read(path))).digest };
}

// A clock that was set back must not put a receipt before the one that it names.
const timeAfter = (previous: ReceiptLink | undefined, nowMs: number): number =>
  previous === undefined ? nowMs : Math.max(nowMs, timeInPath(previous.path) + 1);
