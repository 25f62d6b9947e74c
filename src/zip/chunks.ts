import type { Bytes } from '../bytes/index.ts';

/** The chunks as one array. */
export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** All bytes of a stream that is known to be small. */
export async function collect(stream: Bytes): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return concat(chunks);
}

/** The same bytes with small chunks joined: thousands of records of a few bytes would cost their consumer more. */
export async function* joined(
  stream: Bytes,
  pieceBytes = 65_536,
): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const chunk of stream) {
    if (heldBytes + chunk.length > pieceBytes && heldBytes > 0) {
      yield concat(held);
      held = [];
      heldBytes = 0;
    }
    held.push(chunk);
    heldBytes += chunk.length;
  }
  if (heldBytes > 0) yield concat(held);
}
