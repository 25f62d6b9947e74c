import {
  checkArguments,
  FUNCTION,
  type Kind,
  optional,
  optionsOf,
  type RandomAccess,
  TEXT,
  zipPlatform,
} from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';

/** How `blobAccess` reads. */
export type BlobAccessOptions = {
  /** The name of the file in errors. */
  readonly path?: string;
  /** Is called with the number of bytes of each read, as soon as they were read. */
  readonly onRead?: (bytes: number) => void;
};

declare const FileReaderSync: undefined | (new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer });

/**
 * A read costs much whatever its size, so that bytes are read in blocks. Browsers return nothing for some reads of more
 * than 256 MB.
 */
export const BLOCK_BYTES = 16 * 2 ** 20;
/** A part up to this size is read once, and then verified in memory, because Web Crypto has no SHA-256 for streams. */
export const HOLD_BYTES = 256 * 2 ** 20;

const BLOB: Kind = { what: 'a Blob', accepts: (value) => value instanceof Blob };
const OPTIONS = optionsOf({ path: optional(TEXT), onRead: optional(FUNCTION) });

/**
 * Random access to a Blob, such as a File that the user chose. In a worker it reads at once, elsewhere it waits. A file
 * that changed after it was chosen, or between two reads, is refused.
 * @throws TypeError for anything that is not a Blob; its methods throw DrillproofError `io.CHANGED`
 * @example
 * const report = await verifyPart(blobAccess(files[0]!), { asOfMs: Date.now(), trust });
 */
export function blobAccess(blob: Blob, options: BlobAccessOptions = {}): RandomAccess {
  checkArguments({ blob: BLOB, options: OPTIONS }, { blob, options });
  const path = options.path ?? ('name' in blob ? String(blob.name) : 'the file');
  const blocks = createBlocks(blob, { ...options, path });
  const access = { size: blob.size, holdBytes: HOLD_BYTES };
  if (typeof FileReaderSync === 'undefined') {
    return { ...access, read: (offset, length) => readLater(blocks, offset, length) };
  }
  const reader = new FileReaderSync();
  const load = (block: Blob): ArrayBuffer => reader.readAsArrayBuffer(block);
  const readInto = (target: Uint8Array, offset: number): void => {
    for (const piece of blocks.split(offset, target.length)) {
      const bytes =
        blocks.held(piece) ??
        blocks.take(
          piece,
          attempt(path, () => load(blocks.slice(piece))),
        );
      target.set(bytes, piece.start - offset);
    }
  };
  const read = (offset: number, length: number): Uint8Array => {
    const target = new Uint8Array(length);
    readInto(target, offset);
    return target;
  };
  // A smaller one is read once.
  if (blob.size <= HOLD_BYTES) return { ...access, read, readInto };
  // Chromium refuses every read of a file whose time of change differs from when it was chosen.
  const assertUnchanged = (): void => void attempt(path, () => load(blob.slice(0, 1)));
  return { ...access, read, readInto, assertUnchanged };
}

async function readLater(blocks: Blocks, offset: number, length: number): Promise<Uint8Array> {
  const target = new Uint8Array(length);
  for (const piece of blocks.split(offset, length)) {
    const bytes = blocks.held(piece) ?? blocks.take(piece, await loadLater(blocks, piece));
    target.set(bytes, piece.start - offset);
  }
  return target;
}

const loadLater = (blocks: Blocks, piece: BlockPiece): Promise<ArrayBuffer> =>
  blocks
    .slice(piece)
    .arrayBuffer()
    .catch((cause: unknown) => Promise.reject(changed(blocks.path, cause)));

/** The part of a range that lies in one block. */
type BlockPiece = { readonly block: number; readonly start: number; readonly end: number };

type Blocks = {
  readonly path: string;
  split(offset: number, length: number): readonly BlockPiece[];
  slice(piece: BlockPiece): Blob;
  /** The bytes of a piece of the block that was read last. */
  held(piece: BlockPiece): Uint8Array | undefined;
  /** Takes the block of a piece as it was read. @throws DrillproofError `io.CHANGED` */
  take(piece: BlockPiece, buffer: ArrayBuffer): Uint8Array;
};

/** The blocks of a Blob. Each that is read again must have the CRC-32 of the first time: Firefox notices no change. */
function createBlocks(blob: Blob, { path, onRead }: BlobAccessOptions & { readonly path: string }): Blocks {
  const checksums = new Map<number, number>();
  let last: { readonly block: number; readonly bytes: Uint8Array } | undefined;
  const endOf = (block: number): number => Math.min(blob.size, (block + 1) * BLOCK_BYTES);
  const held = ({ block, start, end }: BlockPiece): Uint8Array | undefined =>
    last?.block === block
      ? last.bytes.subarray(start - block * BLOCK_BYTES, end - block * BLOCK_BYTES)
      : undefined;
  return {
    path,
    held,
    split: splitRange,
    slice: ({ block }) => blob.slice(block * BLOCK_BYTES, endOf(block)),
    take(piece, buffer) {
      const { block } = piece;
      const bytes = new Uint8Array(buffer);
      onRead?.(bytes.length);
      const checksum = zipPlatform.crc32(bytes, 0);
      if (
        bytes.length !== endOf(block) - block * BLOCK_BYTES ||
        (checksums.get(block) ?? checksum) !== checksum
      )
        throw changed(path);
      checksums.set(block, checksum);
      last = { block, bytes };
      return held(piece)!;
    },
  };
}

function splitRange(offset: number, length: number): readonly BlockPiece[] {
  const pieces: BlockPiece[] = [];
  for (let start = offset; start < offset + length;) {
    const block = Math.floor(start / BLOCK_BYTES);
    const end = Math.min(offset + length, (block + 1) * BLOCK_BYTES);
    pieces.push({ block, start, end });
    start = end;
  }
  return pieces;
}

function attempt<T>(path: string, load: () => T): T {
  try {
    return load();
  } catch (cause) {
    throw changed(path, cause);
  }
}

/** Browsers name a change, a removal and a missing permission alike. */
function changed(path: string, cause?: unknown): DrillproofError {
  const message = `${path} cannot be read as it was chosen: it changed or was removed, or reading it is not permitted`;
  return new DrillproofError('io.CHANGED', message, { path, cause });
}
