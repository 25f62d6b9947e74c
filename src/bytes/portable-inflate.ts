import { DrillproofError } from '../errors.ts';
import type { Bytes } from './platform.ts';

/** Makes a decoder of raw deflate on web streams. */
type MakeDecoder = () => GenericTransformStream;

/** An empty final block and one trailing byte. */
const ENDED_EARLY = Uint8Array.of(0x03, 0x00, 0x00);

/**
 * Inflate on web streams that refuses bytes after the end of the data. The Compression standard requires this, but
 * Node.js 22.13 does not do it. On such engines a second decoder gets everything except the last byte. If that is a
 * complete stream, the last byte is trailing data.
 */
export function portableInflate(create: MakeDecoder): (compressed: Bytes) => Bytes {
  let lenient: Promise<boolean> | undefined;
  return async function* inflateRaw(compressed) {
    lenient ??= accepts(create, ENDED_EARLY);
    if (await lenient) yield* inflateTwice(compressed, create);
    else yield* pipeThrough(compressed, create(), inflateError);
  };
}

const inflateError = (cause: unknown): DrillproofError =>
  new DrillproofError('zip.DATA_INVALID', 'the compressed data does not decode', { cause });

async function accepts(create: MakeDecoder, bytes: Uint8Array): Promise<boolean> {
  const decoder = createSecondDecoder(create);
  await decoder.take(bytes);
  return decoder.isWhole();
}

async function* inflateTwice(compressed: Bytes, create: MakeDecoder): Bytes {
  const second = createSecondDecoder(create);
  try {
    yield* pipeThrough(copyExceptLast(second, compressed), create(), inflateError);
    if (await second.isWhole())
      throw new DrillproofError('zip.DATA_INVALID', 'bytes follow the end of the compressed data');
  } finally {
    await second.drop();
  }
}

async function* copyExceptLast(second: SecondDecoder, compressed: Bytes): Bytes {
  let last = new Uint8Array();
  for await (const chunk of compressed) {
    if (chunk.length === 0) continue;
    await second.take(last);
    await second.take(chunk.subarray(0, -1));
    last = chunk.slice(-1);
    yield chunk;
  }
}

type SecondDecoder = {
  take(chunk: Uint8Array): Promise<void>;
  /** Ends the stream, and returns true if the bytes are complete. */
  isWhole(): Promise<boolean>;
  drop(): Promise<void>;
};

const ignore = (): void => undefined;

/** Discards what it decodes and only reports how the stream ended. A failure is final. */
function createSecondDecoder(create: MakeDecoder): SecondDecoder {
  const { readable, writable } = create();
  const writer = writable.getWriter();
  const ended = drain(readable).then(
    () => true,
    () => false,
  );
  writer.closed.catch(ignore);
  return {
    take: (chunk) => writer.write(chunk.slice()).catch(ignore),
    async isWhole() {
      await writer.close().catch(ignore);
      return ended;
    },
    drop: () => writer.abort().catch(ignore),
  };
}

async function drain(readable: ReadableStream): Promise<void> {
  const reader = readable.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read());
}

/** Writes the input into a transform. A failure of the input is kept, because the transform would replace it. */
async function feed(
  input: AsyncIterator<Uint8Array>,
  writer: WritableStreamDefaultWriter,
  keep: (failure: unknown) => void,
): Promise<void> {
  try {
    for (let next = await input.next(); next.done !== true; next = await input.next()) {
      const written = await writer.write(Uint8Array.from(next.value)).then(
        () => true,
        () => false,
      );
      if (!written) return void (await input.return?.());
    }
  } catch (failure) {
    keep(failure);
    return writer.abort(failure).catch(ignore);
  }
  await writer.close().catch(ignore);
}

/**
 * Bytes through a transform of web streams. A pipe of streams would take three times as long for small entries.
 * @throws what the input throws; for an error of the transform, the result of `failed`
 */
export async function* pipeThrough(
  input: Bytes,
  { readable, writable }: GenericTransformStream,
  failed: (cause: unknown) => unknown,
): Bytes {
  const reader = readable.getReader();
  let failure: unknown;
  const feeding = feed(input[Symbol.asyncIterator](), writable.getWriter(), (error) => (failure = error));
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      yield piece.value as Uint8Array;
    await feeding;
  } catch (cause) {
    throw failure ?? failed(cause);
  } finally {
    await reader.cancel().catch(ignore);
  }
}
