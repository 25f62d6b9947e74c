import { once } from '../../bytes/async.ts';
import { holdBlobs } from '../blobs/blobs.ts';
import { drain, receive } from '../blobs/receive.ts';
import type { ServerContext } from '../model/context.ts';
import { type Content, toUploadError, sizeMismatch, type Span, parseSpan } from '../http/body.ts';
import { Refusal, notFound } from '../http/envelope.ts';
import { toDigest } from '../model/ids.ts';
import { isEnd } from '../model/states.ts';
import type { BuildAttemptRow, Tx, UploadPieceRow } from '../store/store.ts';

type Work = Pick<ServerContext, 'store' | 'blobs'>;
type Ref = Pick<BuildAttemptRow, 'projectId' | 'buildAttemptId'>;

export type Announced = Ref & { readonly artifactDigest: string; readonly bytes: number };

// The bytes of an upload in memory. Stored pieces survive the connection and the server.
const PIECE_BYTES = 1024 * 1024;

export function sumPieces(pieces: readonly UploadPieceRow[]): number {
  const last = pieces.at(-1);
  return last === undefined ? 0 : last.firstByte + last.archive.bytes;
}

const offsetError = (received: number): Refusal =>
  new Refusal('control.UPLOAD_OFFSET_MISMATCH', `the upload continues at byte ${received}`, {
    details: { receivedBytes: received },
    headers: { Connection: 'close' },
  });

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
    if (received !== at) throw offsetError(received);
    await holdBlobs(tx, blobs, [archive.digest]);
    const { organizationId, projectId, buildAttemptId } = row;
    await tx.uploadPieces.insert({ organizationId, projectId, buildAttemptId, firstByte: at, archive });
  });
}

/** Stores received bytes in pieces, even if the upload is cut, and returns the rest, which is not stored. */
async function collect(
  work: Work,
  announced: Announced,
  { first, end }: Span,
  content: Content,
): Promise<Uint8Array> {
  let at = first;
  let chunks: Uint8Array[] = [];
  let chunkBytes = 0;
  // The last bytes are never in a piece, because their request stores the archive.
  const mayKeep = (): boolean => chunkBytes > 0 && at + chunkBytes < announced.bytes;
  const keep = async (): Promise<void> => {
    await keepPiece(work, announced, at, Buffer.concat(chunks));
    at += chunkBytes;
    [chunks, chunkBytes] = [[], 0];
  };
  try {
    for await (const chunk of content.bytes()) {
      chunks.push(chunk);
      chunkBytes += chunk.length;
      if (at + chunkBytes > end) throw sizeMismatch(end - first, at + chunkBytes - first);
      if (chunkBytes >= PIECE_BYTES && mayKeep()) await keep();
    }
  } catch (error) {
    const isCut = !(error instanceof Refusal) || CUT.has(error.code);
    if (isCut && mayKeep()) await keep().catch(() => undefined); // a failure only means that they are sent again
    throw error;
  }
  if (at + chunkBytes !== end) throw sizeMismatch(end - first, at + chunkBytes - first);
  return Buffer.concat(chunks);
}
const CUT: ReadonlySet<string> = new Set(['control.REQUEST_TIMEOUT', 'control.REQUEST_INVALID']);

async function* joinPieces(
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

/** Checks the first byte of a request. Without Content-Range the upload begins again, and earlier pieces are removed. */
async function assertOffset(work: Work, ref: Ref, { first }: Span, isWhole: boolean): Promise<void> {
  const received = sumPieces(await work.store.uploadPieces.list(ref));
  if (received === first) return;
  if (!isWhole) throw offsetError(received);
  await dropAll(work, ref);
}

/**
 * Receives all or some bytes of an archive, and stores the archive once all have arrived and match its address. Received
 * bytes of an upload that was cut stay, so that it can continue.
 * @returns whether the archive is stored
 * @throws Refusal `control.UPLOAD_OFFSET_MISMATCH`; `control.UPLOAD_MISMATCH`, after which the upload begins again
 */
export async function receiveArchive(work: Work, announced: Announced, content: Content): Promise<boolean> {
  const { artifactDigest, bytes } = announced;
  const span = parseSpan(content, bytes);
  await assertOffset(work, announced, span, content.range === undefined);
  try {
    const rest = await collect(work, announced, span, content);
    if (span.end < bytes) {
      if (rest.length > 0) await keepPiece(work, announced, span.end - rest.length, rest);
      return false;
    }
    const pieces = await work.store.uploadPieces.list(announced);
    await work.blobs.put(joinPieces(work, pieces, rest), { digest: toDigest(artifactDigest), bytes });
    return true;
  } catch (error) {
    const refusal = toUploadError(error);
    if (refusal instanceof Refusal && refusal.code === 'control.UPLOAD_MISMATCH')
      await dropAll(work, announced);
    throw refusal;
  }
}

/** Reads and checks bytes for an attempt that has ended, and stores nothing. */
export async function discardArchive(announced: Announced, content: Content): Promise<void> {
  const { first, end } = parseSpan(content, announced.bytes);
  const isWhole = end - first === announced.bytes;
  const digest = isWhole ? { digest: toDigest(announced.artifactDigest) } : {};
  await receive(content.bytes(), { bytes: end - first, ...digest }, drain).catch((error: unknown) => {
    throw toUploadError(error);
  });
}
