import type { Bytes } from './platform.ts';

/** A stream that reads its input only when asked, and remembers whether it was the input that failed. */
function streamOf(input: Bytes): { stream: ReadableStream<BufferSource>; failure(): unknown } {
  const chunks = input[Symbol.asyncIterator]();
  let failure: unknown;
  const stream = new ReadableStream<BufferSource>({
    async pull(controller) {
      try {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(Uint8Array.from(next.value));
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    async cancel() {
      await chunks.return?.();
    },
  });
  return { stream, failure: () => failure };
}

/**
 * Bytes through a transform of web streams.
 * @throws what the input throws, and otherwise what `failed` makes of the error of the transform
 */
export async function* through(
  input: Bytes,
  transform: GenericTransformStream,
  failed: (cause: unknown) => unknown,
): Bytes {
  const source = streamOf(input);
  try {
    yield* source.stream.pipeThrough(transform) as unknown as Bytes;
  } catch (cause) {
    throw source.failure() ?? failed(cause);
  }
}
