import { LimitError } from '../errors.ts';
import type { Bytes } from './platform.ts';

/** The chunks as one array. */
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

/**
 * All bytes of a stream that is small; nothing is kept beyond `maxBytes` (default: no limit).
 * @throws LimitError `json.TOO_LARGE`
 */
export async function collectBytes(stream: Bytes, maxBytes = Infinity): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new LimitError('json.TOO_LARGE', `the content has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return concatBytes(chunks);
}

/** The same bytes with small chunks joined: thousands of records of a few bytes would cost their consumer more. */
export async function* joinChunks(
  stream: Bytes,
  pieceBytes = 65_536,
): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const chunk of stream) {
    if (heldBytes + chunk.length > pieceBytes && heldBytes > 0) {
      yield concatBytes(held);
      held = [];
      heldBytes = 0;
    }
    held.push(chunk);
    heldBytes += chunk.length;
  }
  if (heldBytes > 0) yield concatBytes(held);
}
