import { type Bytes, once } from '../../bytes/index.ts';
import { holdBlobs } from '../blobs/blobs.ts';
import { receive } from '../blobs/receive.ts';
import type { ServerContext } from '../context.ts';
import { type Content, toUploadError, sizeMismatch, type Span, parseSpan } from '../http/body.ts';
import { ControlError, notFound } from '../http/envelope.ts';
import { toDigest } from '../ids.ts';
import { isEnd } from '../states.ts';
import type { BuildAttemptRow, Tx, UploadPieceRow } from '../store/store.ts';

type Work = Pick<ServerContext, 'store' | 'blobs'>;
type Ref = Pick<BuildAttemptRow, 'projectId' | 'buildAttemptId'>;

export type Announced = Ref & { readonly artifactDigest: string; readonly bytes: number };

// So much of an upload is in memory. What is stored survives the connection and the server.
const PIECE_BYTES = 1024 * 1024;

export function sumPieces(pieces: readonly UploadPieceRow[]): number {
  const last = pieces.at(-1);
  return last === undefined ? 0 : last.firstByte + last.archive.bytes;
}

const offsetMismatch = (received: number): ControlError =>
  new ControlError('control.UPLOAD_OFFSET_MISMATCH', `the upload continues at byte ${received}`, {
    details: { receivedBytes: received },
    headers: { Connection: 'close' },
  });

/** Forgets the pieces of an attempt; their bytes are removed when nothing else needs them. */
export async function dropPieces(tx: Tx, ref: Ref): Promise<void> {
  const pieces = await tx.uploadPieces.list(ref);
  if (pieces.length === 0) return;
  await tx.uploadPieces.removeAll(ref);
  await tx.blobs.hold(pieces.map(({ archive }) => archive.digest));
}

const dropAll = ({ store }: Work, ref: Ref): Promise<void> => store.transaction((tx) => dropPieces(tx, ref));

async function keepPiece({ store, blobs }: Work, ref: Ref, at: number, bytes: Uint8Array): Promise<void> {
  const archive = await blobs.put(once(bytes));
  await store.transaction(async (tx) => {
    const row = await tx.buildAttempts.lock(ref.projectId, ref.buildAttemptId);
    if (row === undefined || isEnd('buildAttempt', row.resource.state)) throw notFound();
    const received = sumPieces(await tx.uploadPieces.list(ref));
    if (received !== at) throw offsetMismatch(received);
    await holdBlobs(tx, blobs, [archive.digest]);
    const { organizationId, projectId, buildAttemptId } = row;
    await tx.uploadPieces.insert({ organizationId, projectId, buildAttemptId, firstByte: at, archive });
  });
}

/** Stores what arrives in pieces, also when it stops, and returns the rest, which is not stored. */
async function collect(
  work: Work,
  announced: Announced,
  { first, end }: Span,
  content: Content,
): Promise<Uint8Array> {
  let at = first;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  // The last bytes are never among the pieces: the request that brings them stores the archive.
  const mayKeep = (): boolean => heldBytes > 0 && at + heldBytes < announced.bytes;
  const keep = async (): Promise<void> => {
    await keepPiece(work, announced, at, Buffer.concat(held));
    at += heldBytes;
    [held, heldBytes] = [[], 0];
  };
  try {
    for await (const chunk of content.bytes()) {
      held.push(chunk);
      heldBytes += chunk.length;
      if (at + heldBytes > end) throw sizeMismatch(end - first, at + heldBytes - first);
      if (heldBytes >= PIECE_BYTES && mayKeep()) await keep();
    }
  } catch (error) {
    const isCut = !(error instanceof ControlError) || CUT.has(error.code);
    if (isCut && mayKeep()) await keep().catch(() => undefined); // it only saves sending them again
    throw error;
  }
  if (at + heldBytes !== end) throw sizeMismatch(end - first, at + heldBytes - first);
  return Buffer.concat(held);
}
const CUT: ReadonlySet<string> = new Set(['control.REQUEST_TIMEOUT', 'control.REQUEST_INVALID']);

async function* wholeOf(
  { blobs }: Work,
  pieces: readonly UploadPieceRow[],
  rest: Uint8Array,
): AsyncGenerator<Uint8Array> {
  for (const { archive } of pieces) {
    const blob = await blobs.open(archive.digest);
    try {
      yield* blob.stream({ start: 0, end: blob.bytes });
    } finally {
      await blob.close();
    }
  }
  yield rest;
}

/** Where an upload begins. Without Content-Range it begins again, and what arrived before is forgotten. */
async function assertPlace(work: Work, ref: Ref, { first }: Span, isWhole: boolean): Promise<void> {
  const received = sumPieces(await work.store.uploadPieces.list(ref));
  if (received === first) return;
  if (!isWhole) throw offsetMismatch(received);
  await dropAll(work, ref);
}

/**
 * Receives the bytes of an archive, or some of them, and stores the archive once all of it has come and matches its
 * address. What arrived of an upload that was cut stays, so that it can continue.
 * @returns whether the archive is stored
 * @throws ControlError `control.UPLOAD_OFFSET_MISMATCH`, `control.UPLOAD_MISMATCH`, after which it begins again
 */
export async function receiveArchive(work: Work, announced: Announced, content: Content): Promise<boolean> {
  const { artifactDigest, bytes } = announced;
  const span = parseSpan(content, bytes);
  await assertPlace(work, announced, span, content.range === undefined);
  try {
    const rest = await collect(work, announced, span, content);
    if (span.end < bytes) {
      if (rest.length > 0) await keepPiece(work, announced, span.end - rest.length, rest);
      return false;
    }
    const pieces = await work.store.uploadPieces.list(announced);
    await work.blobs.put(wholeOf(work, pieces, rest), { digest: toDigest(artifactDigest), bytes });
    return true;
  } catch (error) {
    const refusal = toUploadError(error);
    if (refusal instanceof ControlError && refusal.code === 'control.UPLOAD_MISMATCH')
      await dropAll(work, announced);
    throw refusal;
  }
}

const drain = async (bytes: Bytes): Promise<void> => {
  for await (const _ of bytes);
};

/** Reads bytes for an attempt that has ended, and stores nothing. */
export async function readInVain(announced: Announced, content: Content): Promise<void> {
  const { first, end } = parseSpan(content, announced.bytes);
  const isWhole = end - first === announced.bytes;
  const digest = isWhole ? { digest: toDigest(announced.artifactDigest) } : {};
  await receive(content.bytes(), { bytes: end - first, ...digest }, drain).catch((error: unknown) => {
    throw toUploadError(error);
  });
}
