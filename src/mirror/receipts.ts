import { digestOf, digestStream, type Digest } from '../bytes/hash.ts';
import { RECEIPT_PREDICATE_TYPE, type ReceiptStatement } from '../contract/index.ts';
import { DrillproofError } from '../errors.ts';
import { attestReceiptDsse } from '../evidence/index.ts';
import {
  isReceiptPath,
  receiptBytes,
  receiptEnvelopePath,
  receiptPath,
  timeInPath,
  type LinkedReceipt,
  type ReceiptLink,
} from '../evidence/export/receipt.ts';
import { dsseBytes, type Signer } from '../trust/index.ts';
import type { MirrorTarget } from './sink.ts';

/** What a run did, before its place in the chain of receipts is known. */
export type ReceiptFacts = Omit<LinkedReceipt, 'schemaVersion' | 'kind' | 'finishedAtMs' | 'previous'>;

/** Who signs receipts, and in whose name. */
export type ReceiptSigning = { readonly signer: Signer; readonly issuer: string };

export type ReceiptOptions = {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signing?: ReceiptSigning | undefined;
};

export type WrittenReceipt = {
  readonly receipt: LinkedReceipt;
  readonly path: string;
  readonly digest: Digest;
  /** Why the receipt that was to be signed is not. */
  readonly unsigned?: DrillproofError;
};

type Target = Pick<MirrorTarget, 'list' | 'read' | 'write'>;

/**
 * Writes the receipt of a run as the next one of its mirror, which names the one before it by path and digest, and
 * beside it the envelope that signs it. The target is held meanwhile, so that no two receipts name the same one. A
 * signer that fails leaves the receipt unsigned, and the reason in the result.
 */
export async function appendReceipt(
  target: Target,
  facts: ReceiptFacts,
  { now, signing }: ReceiptOptions,
): Promise<WrittenReceipt> {
  const previous = await lastReceipt(target);
  const receipt: LinkedReceipt = {
    schemaVersion: 2,
    kind: 'mirror.receipt',
    ...facts,
    finishedAtMs: timeAfter(previous, now()),
    ...(previous !== undefined && { previous }),
  };
  const bytes = receiptBytes(receipt);
  const digest = digestOf(bytes);
  const path = receiptPath(receipt, digest);
  const envelope = signing === undefined ? undefined : await sign(receipt, path, digest, signing);
  await target.write(path, bytes);
  if (envelope instanceof Uint8Array) await target.write(receiptEnvelopePath(path), envelope);
  return { receipt, path, digest, ...(envelope instanceof DrillproofError && { unsigned: envelope }) };
}

/** The newest receipt: the names begin with the time, and each time is later than the one before. */
async function lastReceipt(target: Target): Promise<ReceiptLink | undefined> {
  const path = (await target.list('receipts')).findLast(isReceiptPath);
  // Damaged or not, it is what stands there: who verifies the chain sees what is wrong with it.
  return path === undefined ? undefined : { path, digest: (await digestStream(target.read(path))).digest };
}

// A clock that went back must not put a receipt before the one that it names. Later than the truth is the safe side:
// no receipt ever claims to have seen its evidence earlier than it did.
const timeAfter = (previous: ReceiptLink | undefined, nowMs: number): number =>
  previous === undefined ? nowMs : Math.max(nowMs, timeInPath(previous.path) + 1);

async function sign(
  { evidenceExportId, manifestDigest, finishedAtMs }: LinkedReceipt,
  path: string,
  receiptDigest: Digest,
  { signer, issuer }: ReceiptSigning,
): Promise<Uint8Array | DrillproofError> {
  const statement: ReceiptStatement = {
    schemaVersion: 1,
    predicateType: RECEIPT_PREDICATE_TYPE,
    issuer,
    keyId: signer.keyId,
    issuedAtMs: finishedAtMs,
    subject: { evidenceExportId, manifestDigest, receiptDigest },
  };
  try {
    return dsseBytes(await attestReceiptDsse(statement, path, [signer]));
  } catch (cause) {
    if (cause instanceof DrillproofError) return cause;
    throw cause;
  }
}
