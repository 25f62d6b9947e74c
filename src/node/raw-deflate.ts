import {
  createDeflateRaw,
  createInflateRaw,
  deflateRawSync,
  inflateRawSync,
  type DeflateRaw,
  type InflateRaw,
} from 'node:zlib';
import type { Bytes } from '../bytes/platform.ts';
import { concatBytes } from '../bytes/async.ts';
import { DrillproofError } from '../errors.ts';
import { errnoOf } from './fs-errors.ts';

// Creating a zlib stream costs more than the work on a small file, and evidence has thousands of them. Small
// files therefore take one call. The limits bound such a call to a few milliseconds and a few MiB.
const INFLATE_AT_ONCE_BYTES = 262_144;
const INFLATE_AT_ONCE_RESULT_BYTES = 4 * 2 ** 20;
const DEFLATE_AT_ONCE_BYTES = 65_536;
const STREAM_CHUNK_BYTES = 65_536;
/** Each chunk costs two switches between threads. */
const INFLATE_CHUNK_BYTES = 262_144;

/** `inflateRaw` of the platform, on zlib. */
export async function* inflateRaw(compressed: Bytes): Bytes {
  const start = await readStart(compressed, INFLATE_AT_ONCE_BYTES);
  const plain = start.rest === undefined ? inflateAtOnce(start.head) : undefined;
  if (plain !== undefined) yield plain;
  else yield* inflateStream(start);
}

/** `deflateRaw` of the platform, on zlib. The chunks of the input do not affect the output. */
export async function* deflateRaw(plain: Bytes, level: number): Bytes {
  const start = await readStart(plain, DEFLATE_AT_ONCE_BYTES);
  if (start.rest === undefined) yield deflateRawSync(start.head, { level });
  else
    yield* pipeThrough(createDeflateRaw({ level, chunkSize: STREAM_CHUNK_BYTES }), start, (cause) => cause);
}

/** `inflateAtOnce` of the platform; `undefined` if input or output is too large for one call. */
export function inflateAtOnce(compressed: Uint8Array): Uint8Array | undefined {
  if (compressed.length > INFLATE_AT_ONCE_BYTES) return undefined;
  const chunkSize = Math.min(STREAM_CHUNK_BYTES, Math.max(1_024, 4 * compressed.length));
  const options = { info: true, chunkSize, maxOutputLength: INFLATE_AT_ONCE_RESULT_BYTES };
  try {
    const result = inflateRawSync(compressed, options);
    if (!hasEngine(result)) return undefined;
    assertConsumed(result.engine.bytesWritten, compressed.length);
    return result.buffer;
  } catch (cause) {
    if (errnoOf(cause) === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw deflateError(cause);
  }
}

/** With `info` the call also returns its engine, which its types do not declare. */
const hasEngine = (
  result: object,
): result is { readonly buffer: Uint8Array; readonly engine: { readonly bytesWritten: number } } =>
  'engine' in result;

async function* inflateStream(start: Start): Bytes {
  const inflate = createInflateRaw({ chunkSize: INFLATE_CHUNK_BYTES });
  const fed = { bytes: 0 };
  yield* pipeThrough(inflate, start, deflateError, fed);
  assertConsumed(inflate.bytesWritten, fed.bytes);
}

/** zlib stops reading at the end of the stream; further bytes are not part of the entry. */
function assertConsumed(consumed: number, fed: number): void {
  if (consumed === fed) return;
  throw new DrillproofError('zip.DATA_INVALID', 'there are bytes after the end of the compressed data');
}

function deflateError(cause: unknown): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  return new DrillproofError('zip.DATA_INVALID', 'the compressed data does not decode', { cause });
}

/** The first bytes of a stream, and the rest; `rest` is undefined if the stream has ended. */
type Start = { readonly head: Uint8Array; readonly rest: AsyncIterator<Uint8Array> | undefined };

async function readStart(stream: Bytes, bytes: number): Promise<Start> {
  const rest = stream[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let count = 0;
  for (;;) {
    const { value, done } = await rest.next();
    if (done === true) return { head: concatBytes(chunks), rest: undefined };
    chunks.push(value);
    count += value.length;
    if (count > bytes) return { head: concatBytes(chunks), rest };
  }
}

/**
 * Pipes a stream through zlib, one chunk at a time. `fed` counts the bytes.
 * @throws the error of the source, or the error of zlib after `convert`
 */
async function* pipeThrough(
  zlib: DeflateRaw | InflateRaw,
  { head, rest }: Start,
  convert: (cause: unknown) => unknown,
  fed = { bytes: 0 },
): Bytes {
  let sourceFailure: { readonly error: unknown } | undefined;
  const feed = async (): Promise<void> => {
    try {
      for (let chunk: Uint8Array | undefined = head; chunk !== undefined && !zlib.destroyed;) {
        fed.bytes += chunk.length;
        await write(zlib, chunk);
        const next: IteratorResult<Uint8Array> | undefined = await rest?.next();
        chunk = next?.done === true ? undefined : next?.value;
      }
      zlib.end();
    } catch (error) {
      sourceFailure = { error };
      zlib.destroy(new Error('the source failed'));
    }
  };
  void feed();
  try {
    yield* zlib as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw sourceFailure === undefined ? convert(cause) : sourceFailure.error;
  } finally {
    // If the data ends early, the last write never completes and the source waits for another read.
    zlib.destroy();
    await rest?.return?.();
  }
}

/** Resolves when the chunk is consumed. The output reports errors of zlib. */
const write = (zlib: DeflateRaw | InflateRaw, chunk: Uint8Array): Promise<void> =>
  new Promise((resolve) => void zlib.write(chunk, () => resolve()));
