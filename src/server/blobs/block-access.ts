import type { RandomAccess } from '../../bytes/random-access.ts';

const BLOCK_BYTES = 1024 * 1024;
const MAX_BLOCKS = 8;

/**
 * Random access to what is dear to ask for and cheap to go on reading: whole blocks are read, and the last few kept,
 * so that the many small reads of an archive become few requests.
 */
export function blockAccess(
  size: number,
  readBlock: (start: number, end: number) => Promise<Uint8Array>,
  blockBytes: number = BLOCK_BYTES,
): RandomAccess {
  const blocks = new Map<number, Promise<Uint8Array>>();

  const block = (index: number): Promise<Uint8Array> => {
    const start = index * blockBytes;
    const bytes = blocks.get(index) ?? readBlock(start, Math.min(size, start + blockBytes));
    blocks.delete(index); // what was used last stands last
    blocks.set(index, bytes);
    bytes.catch(() => blocks.delete(index));
    const [oldest] = blocks.keys();
    if (blocks.size > MAX_BLOCKS && oldest !== undefined) blocks.delete(oldest);
    return bytes;
  };

  return {
    size,
    async read(offset, length) {
      const result = new Uint8Array(length);
      for (let done = 0; done < length;) {
        const at = offset + done;
        const within = at % blockBytes;
        const piece = (await block(Math.floor(at / blockBytes))).subarray(within, within + length - done);
        result.set(piece, done);
        done += piece.length;
      }
      return result;
    },
  };
}
