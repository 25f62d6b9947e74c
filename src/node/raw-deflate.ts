import {
  createDeflateRaw,
  createInflateRaw,
  deflateRawSync,
  inflateRawSync,
  type DeflateRaw,
  type InflateRaw,
} from 'node:zlib';
import { type Bytes, concatBytes } from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';
import { errnoOf } from './fs-errors.ts';

// Creating a zlib stream costs more than the work on a small file, and evidence has thousands of them. Small
// files therefore go through zlib in one call. The caps keep such a call to a few milliseconds and a few MiB.
const INFLATE_AT_ONCE_BYTES = 262_144;
const INFLATE_AT_ONCE_RESULT_BYTES = 4 * 2 ** 20;
const DEFLATE_AT_ONCE_BYTES = 65_536;
const STREAM_CHUNK_BYTES = 65_536;
/** A chunk costs two changes of thread. */
const INFLATE_CHUNK_BYTES = 262_144;

/** `inflateRaw` of the platform, on zlib. */
export async function* inflateRaw(compressed: Bytes): Bytes {
  const start = await startOf(compressed, INFLATE_AT_ONCE_BYTES);
  const plain = start.rest === undefined ? inflateAtOnce(start.head) : undefined;
  if (plain !== undefined) yield plain;
  else yield* inflateStream(start);
}

/** `deflateRaw` of the platform, on zlib: the same bytes however the input is cut into chunks. */
export async function* deflateRaw(plain: Bytes, level: number): Bytes {
  const start = await startOf(plain, DEFLATE_AT_ONCE_BYTES);
  if (start.rest === undefined) yield deflateRawSync(start.head, { level });
  else yield* through(createDeflateRaw({ level, chunkSize: STREAM_CHUNK_BYTES }), start, (cause) => cause);
}

/** `inflateAtOnce` of the platform: `undefined` when either side is too large for one call. */
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
  const offered = { bytes: 0 };
  yield* through(inflate, start, deflateError, offered);
  assertConsumed(inflate.bytesWritten, offered.bytes);
}

/** zlib stops reading at the end of the stream; further bytes are not part of the entry. */
function assertConsumed(consumed: number, given: number): void {
  if (consumed === given) return;
  throw new DrillproofError('zip.DATA_INVALID', 'there are bytes after the end of the compressed data');
}

function deflateError(cause: unknown): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  return new DrillproofError('zip.DATA_INVALID', 'the compressed data does not decode', { cause });
}

/** The first bytes of a stream; `rest` goes on after them and is absent when the stream has ended. */
type Start = { readonly head: Uint8Array; readonly rest: AsyncIterator<Uint8Array> | undefined };

async function startOf(stream: Bytes, bytes: number): Promise<Start> {
  const rest = stream[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  for (;;) {
    const { value, done } = await rest.next();
    if (done === true) return { head: concatBytes(held), rest: undefined };
    held.push(value);
    heldBytes += value.length;
    if (heldBytes > bytes) return { head: concatBytes(held), rest };
  }
}

/**
 * The start and what follows it through a zlib stream, the next chunk when the last is used up; `given` counts them.
 * @throws what the source throws, and otherwise what `failed` makes of the error of zlib
 */
async function* through(
  zlib: DeflateRaw | InflateRaw,
  { head, rest }: Start,
  failed: (cause: unknown) => unknown,
  given = { bytes: 0 },
): Bytes {
  let sourceFailure: { readonly error: unknown } | undefined;
  const feed = async (): Promise<void> => {
    try {
      for (let chunk: Uint8Array | undefined = head; chunk !== undefined && !zlib.destroyed;) {
        given.bytes += chunk.length;
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
    throw sourceFailure === undefined ? failed(cause) : sourceFailure.error;
  } finally {
    // If the data ends early, the last write never completes and the source waits for another read.
    zlib.destroy();
    await rest?.return?.();
  }
}

/** Resolves when the chunk is consumed; the output reports errors of zlib. */
const write = (zlib: DeflateRaw | InflateRaw, chunk: Uint8Array): Promise<void> =>
  new Promise((resolve) => void zlib.write(chunk, () => resolve()));
