import type { ServerResponse } from 'node:http';
import type { Blobs, ByteRange, OpenBlob } from '../blobs/blobs.ts';
import { type ServerAnswer, commonHeaders, Refusal, type LargeBody, formatReprDigest } from './envelope.ts';
import { answerNotModified, assertMatch, formatEtag, isUnchanged } from './validate.ts';
import type { Log } from '../model/log.ts';
import type { BlobRef } from '../store/store.ts';
import type { HttpRequest } from './request.ts';

type RangeSelection = ByteRange | 'whole' | 'unsatisfiable';

const ONE_RANGE = /^bytes=([0-9]*)-([0-9]*)$/i;

/**
 * Selects the range of a Range header in `size` bytes (RFC 9110 §14.2). A header that is not a single byte range is
 * ignored, as the RFC allows, and all bytes are served: a list of ranges cannot multiply the work of a request.
 */
export function selectRange(header: string | undefined, size: number): RangeSelection {
  const match = header === undefined ? null : ONE_RANGE.exec(header.trim());
  if (match === null || size === 0) return 'whole';
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? 'whole' : selectSuffix(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end };
}

const selectSuffix = (length: number, size: number): RangeSelection =>
  length === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size };

export type StoredFile = { readonly blob: BlobRef; readonly mediaType: string; readonly filename: string };

export type DownloadContext = {
  readonly request: Pick<HttpRequest, 'method' | 'header' | 'outgoing'>;
  /** Whether the operation supports ranges; otherwise Range and If-Range are ignored. */
  readonly ranges: boolean;
  readonly correlationId: string;
  readonly blobs: Blobs;
  readonly log: Log;
  /** The least rate at which the client reads, and how long it may pause. */
  readonly pace: { readonly graceMs: number; readonly bytesPerSecond: number };
  readonly streamed: (bytes: number) => void;
};

type Decided = Pick<ServerAnswer, 'status' | 'headers'> & { readonly range: ByteRange };

// Below this size one read and one write cost less than a stream.
const ONE_SHOT_BYTES = 256 * 1024;

function buildHeaders(
  download: StoredFile,
  { correlationId, ranges }: DownloadContext,
): Record<string, string> {
  const { blob, mediaType, filename } = download;
  const hash = Buffer.from(blob.digest.slice('sha256:'.length), 'hex').toString('base64');
  return {
    ...commonHeaders(correlationId),
    'Content-Type': mediaType,
    'Accept-Ranges': ranges ? 'bytes' : 'none',
    ETag: formatEtag(blob.digest),
    'Repr-Digest': formatReprDigest(hash),
    'Content-Disposition': `attachment; filename="${filename.replaceAll(/[^A-Za-z0-9._-]/g, '_')}"`,
  };
}

/** Decides status, headers and range. Range is for GET only (RFC 9110 §14.2). */
function decide(download: StoredFile, bytes: number, context: DownloadContext): Decided {
  const headers = buildHeaders(download, context);
  const { method, header } = context.request;
  const { ETag } = headers;
  // Of If-Range, only the current strong validator allows the range (RFC 9110 §13.1.5).
  const isCurrent = (header('if-range')?.trim() ?? ETag) === ETag;
  const mayRange = context.ranges && method === 'GET' && isCurrent;
  const selection = selectRange(mayRange ? header('range') : undefined, bytes);
  if (selection === 'unsatisfiable') {
    throw new Refusal('control.RANGE_NOT_SATISFIABLE', `the range lies outside the ${bytes} bytes`, {
      headers: { 'Content-Range': `bytes */${bytes}`, 'Accept-Ranges': 'bytes' },
    });
  }
  const range = selection === 'whole' ? { start: 0, end: bytes } : selection;
  headers['Content-Length'] = String(range.end - range.start);
  if (selection === 'whole') return { status: 200, headers, range };
  headers['Content-Range'] = `bytes ${range.start}-${range.end - 1}/${bytes}`;
  return { status: 206, headers, range };
}

/** At most this much of a download is in memory, however slowly the client reads. */
const BUFFER_BYTES = 256 * 1024;
const MAX_SPARE = 64;
const spare: Buffer[] = [];

/**
 * Resolves when the system has the bytes and the buffer can be used again; rejects when the client disconnects, or does
 * not read them in time.
 */
function writePiece(outgoing: ServerResponse, piece: Uint8Array, leftMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (outgoing.destroyed) return reject(new Error('the client disconnected'));
    const onClose = (): void => end(new Error('the client disconnected'));
    const late = setTimeout(() => end(new Error('the client reads too slowly')), leftMs);
    const end = (error: Error | null | undefined): void => {
      clearTimeout(late);
      outgoing.off('close', onClose);
      if (error === null || error === undefined) resolve();
      else reject(error);
    };
    outgoing.once('close', onClose);
    outgoing.write(piece, end);
  });
}

/** The time that a client has for some bytes if it pauses at most once. */
const computeTimeMs = ({ graceMs, bytesPerSecond }: DownloadContext['pace'], bytes: number): number =>
  graceMs + (bytes * 1000) / bytesPerSecond;

/** Cuts a response whose client does not read its bytes in time. */
function boundReading(outgoing: ServerResponse | undefined, leftMs: number): void {
  const late = setTimeout(() => outgoing?.destroy(), leftMs).unref();
  outgoing?.once('close', () => clearTimeout(late));
}

/** Writes pieces at the least rate of a download or faster. Only the time of the client counts, not that of the storage. */
function createPacedWriter(outgoing: ServerResponse, pace: DownloadContext['pace']) {
  let graceMs = pace.graceMs;
  return async (piece: Uint8Array): Promise<void> => {
    const leftMs = computeTimeMs({ ...pace, graceMs }, piece.length);
    const startedMs = performance.now();
    await writePiece(outgoing, piece, leftMs);
    graceMs = Math.min(pace.graceMs, leftMs - (performance.now() - startedMs));
  };
}

/** Reads the pieces of a range into one buffer, so that the next piece overwrites the last. */
async function* readPieces(
  readInto: NonNullable<OpenBlob['readInto']>,
  range: ByteRange,
  buffer: Buffer,
): AsyncGenerator<Uint8Array> {
  for (let at = range.start; at < range.end; at += buffer.length) {
    const piece = buffer.subarray(0, Math.min(buffer.length, range.end - at));
    await readInto(piece, at);
    yield piece;
  }
}

/**
 * Writes a range and ends the response. A failure can only cut the connection; a client sees that bytes are missing,
 * because their number was announced.
 */
async function pump(blob: OpenBlob, range: ByteRange, outgoing: ServerResponse, context: DownloadContext) {
  const { readInto } = blob;
  const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  const write = createPacedWriter(outgoing, context.pace);
  try {
    const pieces = readInto === undefined ? blob.stream(range) : readPieces(readInto, range, buffer);
    for await (const piece of pieces) {
      await write(piece);
      context.streamed(piece.length);
      blob.free?.(piece);
    }
    outgoing.end();
    if (spare.length < MAX_SPARE) spare.push(buffer); // after a failure the system may still read from it
  } catch (error) {
    const { correlationId, log } = context;
    // A client that disconnects is not a failure of the server; the log line of the request records it.
    if (!outgoing.destroyed) log({ level: 'warn', event: 'download.interrupted', correlationId, error });
    outgoing.destroy();
  }
}

function createWebStream(blob: OpenBlob, range: ByteRange): ReadableStream<Uint8Array> {
  const pieces = blob.stream(range)[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      try {
        const next = await pieces.next();
        if (next.done !== true) return controller.enqueue(next.value);
        await blob.close();
        controller.close();
      } catch (error) {
        await blob.close();
        controller.error(error);
      }
    },
    cancel: () => blob.close(),
  });
}

const createLargeBody = (blob: OpenBlob, range: ByteRange, context: DownloadContext): LargeBody => ({
  async writeTo(outgoing) {
    try {
      await pump(blob, range, outgoing, context);
    } finally {
      await blob.close();
    }
  },
  toWeb: () => createWebStream(blob, range),
});

/**
 * Answers with all stored bytes, with one range, or for HEAD with the headers. The bytes are verified before anything is
 * sent.
 * @throws Refusal `control.PRECONDITION_FAILED`, `control.RANGE_NOT_SATISFIABLE`, and the codes of `Blobs.open`
 */
export async function answerDownload(download: StoredFile, context: DownloadContext): Promise<ServerAnswer> {
  const { method, header } = context.request;
  const blob = await context.blobs.open(download.blob.digest);
  let handedOver = false;
  try {
    const etag = formatEtag(download.blob.digest);
    assertMatch(header('if-match'), etag);
    if (isUnchanged(header('if-none-match'), etag)) return answerNotModified(context.correlationId, etag);
    const { range, ...head } = decide(download, blob.bytes, context);
    if (method === 'HEAD') return { ...head, body: null };
    const bytes = range.end - range.start;
    if (bytes <= ONE_SHOT_BYTES) {
      const body = await blob.access().read(range.start, bytes);
      boundReading(context.request.outgoing, computeTimeMs(context.pace, bytes));
      return { ...head, body };
    }
    handedOver = true;
    return { ...head, body: createLargeBody(blob, range, context) };
  } finally {
    if (!handedOver) await blob.close();
  }
}
