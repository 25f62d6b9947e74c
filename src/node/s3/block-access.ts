import type { RandomAccess } from '../../bytes/index.ts';

export type BlockOptions = {
  /** Bytes of a block; default 1 MiB. */
  readonly blockBytes?: number;
  /** Blocks that are kept; default 8. */
  readonly blocks?: number;
  /** Whether the block after the one that is read in order is asked for already; default no. */
  readonly ahead?: boolean;
};

/**
 * Random access to what is dear to ask for and cheap to go on reading: whole blocks are read, and the last few kept,
 * so that the many small reads of an archive become few requests.
 */
export function blockAccess(
  size: number,
  readBlock: (start: number, end: number) => Promise<Uint8Array>,
  { blockBytes = 1024 * 1024, blocks: maxBlocks = 8, ahead = false }: BlockOptions = {},
): RandomAccess {
  const blocks = new Map<number, Promise<Uint8Array>>();
  let last = -1;

  const block = (index: number): Promise<Uint8Array> => {
    const start = index * blockBytes;
    const bytes = blocks.get(index) ?? readBlock(start, Math.min(size, start + blockBytes));
    blocks.delete(index); // what was used last stands last
    blocks.set(index, bytes);
    bytes.catch(() => blocks.delete(index));
    const [oldest] = blocks.keys();
    if (blocks.size > maxBlocks && oldest !== undefined) blocks.delete(oldest);
    return bytes;
  };
  const inOrder = (index: number): Promise<Uint8Array> => {
    const next = index + 1;
    const following = index === last + 1 && !blocks.has(next) && next * blockBytes < size;
    last = index;
    const bytes = block(index);
    if (ahead && following) void block(next);
    return bytes;
  };

  return {
    size,
    async read(offset, length) {
      const result = new Uint8Array(length);
      for (let done = 0; done < length;) {
        const at = offset + done;
        const within = at % blockBytes;
        const piece = (await inOrder(Math.floor(at / blockBytes))).subarray(within, within + length - done);
        result.set(piece, done);
        done += piece.length;
      }
      return result;
    },
  };
}
