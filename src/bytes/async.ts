import { platform } from '#platform';
import { LimitError } from '../errors.ts';
import type { Bytes } from './platform.ts';

/** Streams bytes in memory as one chunk. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

/** Yields items until the signal is aborted, and then throws its reason. */
export async function* abortable<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  for await (const item of items) {
    signal?.throwIfAborted();
    yield item;
  }
}

/**
 * The result of `work`. If it fails after `signal` was aborted, the reason of the signal is thrown instead.
 * @throws the reason of an aborted `signal`, before the work begins or when it fails; what `work` throws
 */
export async function rejectWithReason<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await work();
  } catch (cause) {
    signal?.throwIfAborted();
    throw cause;
  }
}

/**
 * Runs at most `concurrency` tasks at once. The results have the order of the items. After a failure no other task begins.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = Array.from({ length: items.length });
  let next = 0;
  const runner = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      try {
        results[index] = await work(items[index]!, index);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, runner));
  return results;
}

/** Lets other waiting work run once, such as timers, signals and input. Synchronous reads never let it run. */
export const turn = (): Promise<void> => platform.turn();

/** Does the work with an open resource, and closes it afterwards, even if the work failed. */
export async function closeAfter<R extends { close(): Promise<void> }, T>(
  opened: R,
  work: (opened: R) => Promise<T>,
): Promise<T> {
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

const contentError = (maxBytes: number): Error =>
  new LimitError('json.TOO_LARGE', `the content has more than ${maxBytes} bytes`);

/**
 * All bytes of a small stream, at most `maxBytes` (default: no limit).
 * @throws what `tooLarge` returns (default: a LimitError `json.TOO_LARGE`)
 */
export async function collectBytes(
  stream: Bytes,
  maxBytes = Infinity,
  tooLarge = contentError,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return concatBytes(chunks);
}

const JOINED_BYTES = 65_536;

/** The same bytes with small chunks joined, because thousands of small chunks would cost their consumer more. */
export async function* joinChunks(stream: Bytes): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const chunk of stream) {
    if (heldBytes + chunk.length > JOINED_BYTES && heldBytes > 0) {
      yield concatBytes(held);
      held = [];
      heldBytes = 0;
    }
    held.push(chunk);
    heldBytes += chunk.length;
  }
  if (heldBytes > 0) yield concatBytes(held);
}

export const sumSizes = (files: readonly { readonly bytes: number }[]): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns the largest of any number of values; `Math.max` throws for very many. `-Infinity` for none. */
export function findLargest(values: Iterable<number>): number {
  let largest = -Infinity;
  for (const value of values) largest = Math.max(largest, value);
  return largest;
}

/** The items by key, in their order; no group is empty. */
export function groupBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
