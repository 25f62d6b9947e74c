import { checkArguments, FUNCTION, type Kind, optional, optionsOf, TEXT } from '../bytes/arguments.ts';
import type { RandomAccess } from '../bytes/random-access.ts';
import { zipPlatform } from '../bytes/platform-portable.ts';
import { DrillproofError } from '../errors.ts';

/** Options of `blobAccess`. */
export type BlobAccessOptions = {
  /** The name of the file in errors. */
  readonly path?: string;
  /** Called with the number of bytes after each read. */
  readonly onRead?: (bytes: number) => void;
};

declare const FileReaderSync: undefined | (new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer });

/**
 * Bytes are read in blocks, because each read has a high fixed cost. Browsers return nothing for some reads of more than
 * 256 MB.
 */
export const BLOCK_BYTES = 16 * 2 ** 20;
/** A part up to this size is verified in memory, because Web Crypto has no SHA-256 for streams. */
export const HOLD_BYTES = 256 * 2 ** 20;

const BLOB: Kind = { what: 'a Blob', accepts: (value) => value instanceof Blob };
const OPTIONS = optionsOf({ path: optional(TEXT), onRead: optional(FUNCTION) });

/**
 * Random access to a Blob, such as a File that the user chose. Reads are synchronous in a worker and asynchronous
 * elsewhere. A file that changed after it was chosen, or between two reads, is refused.
 * @throws TypeError for anything that is not a Blob; its methods throw DrillproofError `io.CHANGED`
 * @example
 * const report = await verifyPart(blobAccess(files[0]!), { asOfMs: Date.now(), trust });
 */
export function blobAccess(blob: Blob, options: BlobAccessOptions = {}): RandomAccess {
  checkArguments({ blob: BLOB, options: OPTIONS }, { blob, options });
  return openBlob(blob, options);
}

/** A buffer for the next large file, because browsers free unused buffers late. */
export type Spare = { buffer?: ArrayBuffer };

/** `blobAccess` that reads a large file into a spare buffer if the browser can: its bytes are good until the next one. */
export function openBlob(blob: Blob, options: BlobAccessOptions, spare?: Spare): RandomAccess {
  const path = options.path ?? ('name' in blob ? String(blob.name) : 'the file');
  const fill = createFiller(blob, path, options.onRead);
  const access = { size: blob.size, holdBytes: HOLD_BYTES };
  const takeWhole = (buffer: ArrayBuffer): Uint8Array => {
    if (buffer.byteLength !== blob.size) throw changedError(path);
    options.onRead?.(blob.size);
    return new Uint8Array(buffer);
  };
  if (typeof FileReaderSync === 'undefined') {
    const readPieces = createAsyncReader(fill, path);
    const toChanged = (cause: unknown) => Promise.reject(changedError(path, cause));
    const read = async (offset: number, length: number): Promise<Uint8Array> =>
      isWhole(blob, length)
        ? takeWhole(await blob.slice(0, length).arrayBuffer().catch(toChanged))
        : readPieces(offset, length);
    return { ...access, read };
  }
  const reader = new FileReaderSync();
  const load = (block: Blob): ArrayBuffer => {
    try {
      return reader.readAsArrayBuffer(block);
    } catch (cause) {
      throw changedError(path, cause);
    }
  };
  const readInto = (target: Uint8Array, offset: number): void => {
    const filling = fill(target, offset);
    for (let step = filling.next(); step.done !== true;) step = filling.next(load(step.value));
  };
  const read = (offset: number, length: number): Uint8Array | Promise<Uint8Array> => {
    const stream = spare && length === blob.size ? openReader(blob) : undefined;
    if (spare && stream)
      return fillSpare(stream, blob.size, spare, options.onRead).catch((cause: unknown) =>
        Promise.reject(changedError(path, cause)),
      );
    if (isWhole(blob, length)) return takeWhole(load(blob.slice(0, length)));
    const target = new Uint8Array(length);
    readInto(target, offset);
    return target;
  };
  if (blob.size <= HOLD_BYTES) return { ...access, read, readInto }; // it is read only once
  // Chromium refuses every read of a file that was modified after it was chosen.
  return { ...access, read, readInto, assertUnchanged: () => void load(blob.slice(0, 1)) };
}

/** A file of this size is read at once if all of it is wanted, without a copy or a checksum of each block. */
const WHOLE_BYTES = 64 * 2 ** 20;
const isWhole = ({ size }: Blob, length: number): boolean => length === size && size <= WHOLE_BYTES;

/** Smaller files are read faster in one call, and larger ones block by block. */
export const MIN_SPARE_BYTES = 2 ** 20;
const MAX_SPARE_BYTES = 2 * BLOCK_BYTES;

function openReader(blob: Blob): ReadableStreamBYOBReader | undefined {
  if (blob.size < MIN_SPARE_BYTES || blob.size > MAX_SPARE_BYTES) return undefined;
  try {
    return blob.stream().getReader({ mode: 'byob' });
  } catch {
    return undefined; // not in every browser
  }
}

async function fillSpare(
  reader: ReadableStreamBYOBReader,
  size: number,
  spare: Spare,
  onRead: BlobAccessOptions['onRead'],
): Promise<Uint8Array> {
  let buffer = spare.buffer ?? new ArrayBuffer(MAX_SPARE_BYTES);
  delete spare.buffer; // a read that fails loses it
  for (let at = 0; at < size;) {
    const { value, done } = await reader.read(new Uint8Array(buffer, at, size - at));
    if (done) throw new RangeError(`the file ends at ${at}`);
    ({ buffer } = value);
    at += value.length;
    onRead?.(value.length);
  }
  spare.buffer = buffer;
  return new Uint8Array(buffer, 0, size);
}

/** Fills a target with the bytes from an offset: it yields each block, and continues with the bytes of the block. */
type Filler = (target: Uint8Array, offset: number) => Generator<Blob, void, ArrayBuffer>;

const createAsyncReader = (fill: Filler, path: string) => async (offset: number, length: number) => {
  const target = new Uint8Array(length);
  const filling = fill(target, offset);
  for (let step = filling.next(); step.done !== true;) {
    const loading = step.value.arrayBuffer();
    step = filling.next(await loading.catch((cause: unknown) => Promise.reject(changedError(path, cause))));
  }
  return target;
};

/** Reads block by block. A block that is read again must have the same CRC-32, because Firefox notices no change. */
function createFiller(blob: Blob, path: string, onRead: BlobAccessOptions['onRead']): Filler {
  const checksums = new Map<number, number>();
  let last: { readonly start: number; readonly bytes: Uint8Array } | undefined;
  const take = (bytes: Uint8Array, start: number): Uint8Array => {
    onRead?.(bytes.length);
    const checksum = zipPlatform.crc32(bytes, 0);
    const isComplete = bytes.length === Math.min(blob.size - start, BLOCK_BYTES);
    if (!isComplete || (checksums.get(start) ?? checksum) !== checksum) throw changedError(path);
    checksums.set(start, checksum);
    last = { start, bytes };
    return bytes;
  };
  return function* fill(target, offset) {
    for (let done = 0; done < target.length;) {
      const at = offset + done;
      const start = at - (at % BLOCK_BYTES);
      const bytes =
        last?.start === start
          ? last.bytes
          : take(new Uint8Array(yield blob.slice(start, start + BLOCK_BYTES)), start);
      const piece = bytes.subarray(at - start, at - start + target.length - done);
      if (piece.length === 0) throw changedError(path);
      target.set(piece, done);
      done += piece.length;
    }
  };
}

/** Browsers report a change, a removal and a missing permission with the same error. */
function changedError(path: string, cause?: unknown): DrillproofError {
  const message = `${path} cannot be read as it was chosen: it changed or was removed, or reading it is not permitted`;
  return new DrillproofError('io.CHANGED', message, { path, cause });
}
