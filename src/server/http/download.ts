import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Bytes, type Digest, fromHex } from '../../bytes/index.ts';
import type { Blobs, ByteRange, OpenBlob } from '../blobs/blobs.ts';
import { commonHeaders, ControlError, reprDigest } from './envelope.ts';
import type { Log } from '../telemetry/log.ts';
import type { BlobRef } from '../store/store.ts';

export type RangeSelection =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly range: ByteRange }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: RangeSelection = { kind: 'whole' };
const UNSATISFIABLE: RangeSelection = { kind: 'unsatisfiable' };
const ONE_RANGE = /^bytes=([0-9]*)-([0-9]*)$/i;

/**
 * What a Range header selects of `size` bytes (RFC 9110 §14.2). A header that is no single byte range (another unit,
 * several ranges however many, bad syntax) is ignored as the RFC allows, so the whole is served: no list of ranges
 * can multiply the work of a request.
 */
export function selectRange(header: string | undefined, size: number): RangeSelection {
  const match = header === undefined ? null : ONE_RANGE.exec(header.trim());
  if (match === null || size === 0) return WHOLE;
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? WHOLE : suffix(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return WHOLE;
  return start >= size ? UNSATISFIABLE : { kind: 'part', range: { start, end } };
}

const suffix = (length: number, size: number): RangeSelection =>
  length === 0 ? UNSATISFIABLE : { kind: 'part', range: { start: Math.max(0, size - length), end: size } };

/** Whether If-Range allows the Range: only if it is the strong validator served now (RFC 9110 §13.1.5). */
export const ifRangeHolds = (header: string | undefined, etag: string): boolean =>
  header === undefined || header.trim() === etag;

/** Stored bytes as an operation answers with them. */
export type Download = { readonly blob: BlobRef; readonly mediaType: string; readonly filename: string };

/** What a download needs of the request and of the process. */
export type DownloadContext = {
  readonly method: string;
  /** Whether the operation takes ranges; otherwise Range and If-Range are ignored. */
  readonly ranges: boolean;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly correlationId: string;
  readonly blobs: Blobs;
  readonly log: Log;
  /** The response of Node to write to directly; without it the bytes go through a web stream. */
  readonly outgoing: ServerResponse | undefined;
  /** Called with the bytes that are written to it directly. */
  readonly streamed: (bytes: number) => void;
};

type Answer = {
  readonly status: 200 | 206;
  readonly headers: Record<string, string>;
  readonly range: ByteRange;
};

// Below this size one read and one write cost less than a stream.
const ONE_SHOT_BYTES = 256 * 1024;

const etagOf = (digest: Digest): string => `"${digest}"`;

function headersOf(download: Download, { correlationId, ranges }: DownloadContext): Record<string, string> {
  const { blob, mediaType, filename } = download;
  const hash = Buffer.from(fromHex(blob.digest.slice('sha256:'.length)));
  return {
    ...commonHeaders(correlationId),
    'Content-Type': mediaType,
    'Accept-Ranges': ranges ? 'bytes' : 'none',
    ETag: etagOf(blob.digest),
    'Repr-Digest': reprDigest(hash),
    'Content-Disposition': `attachment; filename="${filename.replaceAll(/[^A-Za-z0-9._-]/g, '_')}"`,
  };
}

/** Status, headers and range by the preconditions of the request. Range is for GET only (RFC 9110 §14.2). */
function decide(download: Download, bytes: number, context: DownloadContext): Answer {
  const headers = headersOf(download, context);
  const mayRange =
    context.ranges && context.method === 'GET' && ifRangeHolds(context.ifRange, etagOf(download.blob.digest));
  const selection = selectRange(mayRange ? context.range : undefined, bytes);
  if (selection.kind === 'unsatisfiable') {
    throw new ControlError('control.RANGE_NOT_SATISFIABLE', `the range lies outside the ${bytes} bytes`, {
      headers: { 'Content-Range': `bytes */${bytes}`, 'Accept-Ranges': 'bytes' },
    });
  }
  if (selection.kind === 'whole') {
    return {
      status: 200,
      headers: { ...headers, 'Content-Length': String(bytes) },
      range: { start: 0, end: bytes },
    };
  }
  const { start, end } = selection.range;
  const contentRange = `bytes ${start}-${end - 1}/${bytes}`;
  return {
    status: 206,
    headers: { ...headers, 'Content-Length': String(end - start), 'Content-Range': contentRange },
    range: selection.range,
  };
}

async function collect(blob: OpenBlob, range: ByteRange) {
  const chunks: Uint8Array[] = [];
  for await (const chunk of blob.stream(range)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* counted(pieces: Bytes, streamed: (bytes: number) => void): Bytes {
  for await (const piece of pieces) {
    streamed(piece.length);
    yield piece;
  }
}

/**
 * Streams to the response of Node. Once the headers are out a failure can only cut the connection, which `pipeline`
 * does: the length that was announced is then not reached, and no client takes the part for the whole.
 */
async function writeOut(blob: OpenBlob, answer: Answer, outgoing: ServerResponse, context: DownloadContext) {
  outgoing.writeHead(answer.status, answer.headers);
  try {
    const pieces = counted(blob.stream(answer.range), context.streamed);
    await pipeline(Readable.from(pieces, { objectMode: true }), outgoing);
  } catch (error) {
    context.log({
      level: 'warn',
      event: 'download.interrupted',
      correlationId: context.correlationId,
      error,
    });
  }
  return RESPONSE_ALREADY_SENT;
}

function webStream(blob: OpenBlob, range: ByteRange): ReadableStream<Uint8Array> {
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

/**
 * Answers with stored bytes, whole or one range of them, or their headers only for HEAD. The bytes are proven before
 * the first of them, or the status, goes out.
 * @throws ControlError `control.RANGE_NOT_SATISFIABLE`, and what `Blobs.open` throws
 */
export async function answerDownload(download: Download, context: DownloadContext): Promise<Response> {
  const blob = await context.blobs.open(download.blob.digest);
  let handedOver = false;
  try {
    const answer = decide(download, blob.bytes, context);
    const { status, headers, range } = answer;
    if (context.method === 'HEAD') return new Response(null, { status, headers });
    if (range.end - range.start <= ONE_SHOT_BYTES) {
      return new Response(await collect(blob, range), { status, headers });
    }
    if (context.outgoing !== undefined) return await writeOut(blob, answer, context.outgoing, context);
    handedOver = true;
    return new Response(webStream(blob, range), { status, headers });
  } finally {
    if (!handedOver) await blob.close();
  }
}
