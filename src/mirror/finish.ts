import { canonicalBytes } from '../bytes/json/canonical.ts';
import { digestOf, type Digest, digestStream } from '../bytes/hash.ts';
import { collectBytes } from '../bytes/async.ts';
import { defined } from '../bytes/arguments.ts';
import { DrillproofError } from '../errors.ts';
import { type Checksum, CHECKSUMS, parseChecksums } from '../evidence/export/checksums.ts';
import { DEFAULT_LIMITS } from '../evidence/document.ts';
import { EXPORT_ATTESTATION, EXPORT_RESOURCE } from '../evidence/export/pack-export.ts';
import { parseExportResource, listResourceDifferences } from '../evidence/export/manifest.ts';
import {
  isReceiptPath,
  type LinkedReceipt,
  type ReceiptLink,
  receiptPath,
  parseReceipt,
  parseReceiptTime,
} from '../evidence/export/receipt.ts';
import { assertSubject, fetchAttestation, type Pinned } from './fetch/documents.ts';
import { type FailedFile, toFailure } from './fetch/all.ts';
import type { FileState, MirrorRun } from './run.ts';
import { type MirrorTarget, type MirrorView, parseIfValid, readSmallFile, readValid } from './sink.ts';

/** A file of the mirror. It has no state if this run did not verify it. */
export type Proven = Checksum & { readonly bytes: number; readonly state?: FileState };

/** A document of the export: `kept` if it is that of the target, `fetched` if it is that of the source. */
type Document = { readonly bytes: Uint8Array; readonly state: 'kept' | 'fetched' };

/** The export attestation, the failure to fetch it, or `undefined` if there is none. */
export type FoundAttestation = Document | FailedFile | undefined;

/** Finds the export attestation: the one in the target if it names this manifest, else that of the source. */
export async function findAttestation(
  run: MirrorRun,
  pinned: Pinned,
  view: MirrorView,
): Promise<FoundAttestation> {
  const existing = await readValid(view, EXPORT_ATTESTATION, DEFAULT_LIMITS.documentBytes, (bytes) => {
    assertSubject(bytes, pinned);
    return bytes;
  });
  const stored = existing && ({ bytes: existing, state: 'kept' } as const);
  if (pinned.manifestFrom === 'target') return stored; // the source has deleted it
  if (stored !== undefined && !(await hasRotted(EXPORT_ATTESTATION, stored.bytes, view))) return stored;
  try {
    const bytes = await fetchAttestation(run, pinned);
    return bytes === undefined ? stored : { bytes, state: 'fetched' };
  } catch (cause) {
    run.signal?.throwIfAborted();
    if (!(cause instanceof DrillproofError)) throw cause;
    return toFailure(EXPORT_ATTESTATION, cause);
  }
}

/**
 * Finds `export.json`: the one in the target if it agrees with the manifest, because an available export never changes,
 * else that of the source.
 */
export async function findResource(pinned: Pinned, view: MirrorView): Promise<Document> {
  const { manifest, manifestDigest, manifestBytes } = pinned;
  const stored = await readValid(view, EXPORT_RESOURCE, DEFAULT_LIMITS.documentBytes, (content) => {
    const resource = parseExportResource(content);
    const [difference] = listResourceDifferences(resource, manifest, manifestDigest, manifestBytes.length);
    return difference === undefined ? content : undefined;
  });
  const canReplace = pinned.manifestFrom !== 'target';
  if (stored === undefined || (canReplace && (await hasRotted(EXPORT_RESOURCE, stored, view))))
    return { bytes: canonicalBytes(pinned.resource), state: 'fetched' };
  return { bytes: stored, state: 'kept' };
}

/** Writes a document, unless the target has it. */
export async function writeDocument(
  path: string,
  { bytes, state }: Document,
  target: MirrorTarget,
): Promise<Proven> {
  if (state === 'fetched') await target.write(path, bytes);
  return { ...toChecksum(path, bytes), state };
}

/** Writes a small file, unless the target has it with these bytes. Returns whether it was written. */
export async function writeOnce(target: MirrorTarget, path: string, bytes: Uint8Array): Promise<boolean> {
  const existing = await readSmallFile(target, path, bytes.length);
  const differs = existing === undefined || digestOf(existing) !== digestOf(bytes);
  if (differs) await target.write(path, bytes);
  return differs;
}

/**
 * Checks if a document no longer matches the checksums of the mirror. No digest of the manifest covers the export resource
 * and the attestation, so only the checksums detect a byte of them that rotted.
 */
async function hasRotted(path: string, bytes: Uint8Array, view: MirrorView): Promise<boolean> {
  const checksums = await readValid(view, CHECKSUMS, DEFAULT_LIMITS.manifestBytes, parseChecksums);
  const row = checksums?.find((checksum) => checksum.path === path);
  return row !== undefined && row.digest !== digestOf(bytes);
}

export const toChecksum = (path: string, bytes: Uint8Array) => ({
  path,
  digest: digestOf(bytes),
  bytes: bytes.length,
});

/** The facts about a run, without its place in the chain of receipts. */
export type ReceiptContent = Omit<LinkedReceipt, 'schemaVersion' | 'kind' | 'finishedAtMs' | 'previous'>;

export type WrittenReceipt = {
  readonly receipt: LinkedReceipt;
  readonly path: string;
  /** The digest of `receipt`. */
  readonly digest: Digest;
};

type Target = Pick<MirrorTarget, 'list' | 'read' | 'write'>;

/**
 * Writes the receipt of a run as the next one of its mirror, which names the previous one by path and digest. The
 * caller must hold the lock of the target, so that no two receipts name the same previous one. If the run changed nothing
 * and the newest receipt is of the same complete mirror, none is written, and `path` is that of the newest receipt.
 * @param now milliseconds since the epoch
 */
export async function appendReceipt(
  target: Target,
  facts: ReceiptContent,
  now: () => number,
  changed = true,
): Promise<WrittenReceipt> {
  const previous = await findLastReceipt(target);
  const receipt: LinkedReceipt = {
    schemaVersion: 2,
    kind: 'mirror.receipt',
    ...facts,
    finishedAtMs: timeAfter(previous, now()),
    ...defined({ previous }),
  };
  const bytes = canonicalBytes(receipt);
  const digest = digestOf(bytes);
  if (!changed && previous !== undefined && (await isReceiptOf(target, previous, facts)))
    return { receipt, path: previous.path, digest };
  const path = receiptPath(receipt, digest);
  await target.write(path, bytes);
  return { receipt, path, digest };
}

/** Checks if a receipt is undamaged and says that this mirror is complete. */
async function isReceiptOf(target: Target, link: ReceiptLink, facts: ReceiptContent): Promise<boolean> {
  const bytes = await collectBytes(target.read(link.path), DEFAULT_LIMITS.manifestBytes);
  const receipt = parseIfValid(() => parseReceipt(bytes));
  return (
    receipt !== undefined &&
    receiptPath(receipt, digestOf(bytes)) === link.path &&
    receipt.outcome === 'complete' &&
    receipt.manifestDigest === facts.manifestDigest &&
    receipt.withoutLocalReports === facts.withoutLocalReports
  );
}

/** Finds the newest receipt. Names begin with the time, and each time is later than the previous one. */
async function findLastReceipt(target: Target): Promise<ReceiptLink | undefined> {
  const path = (await target.list('receipts')).findLast(
    (file) => file.regular && isReceiptPath(file.path),
  )?.path;
  // A damaged receipt is named with its present digest. Verifying the chain reports the damage.
  return path === undefined ? undefined : { path, digest: (await digestStream(target.read(path))).digest };
}

// A clock that was set back must not put a receipt before the one that it names.
const timeAfter = (previous: ReceiptLink | undefined, nowMs: number): number =>
  previous === undefined ? nowMs : Math.max(nowMs, parseReceiptTime(previous.path) + 1);
