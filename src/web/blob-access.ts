import {
  checkArguments,
  FUNCTION,
  type Kind,
  optional,
  optionsOf,
  type RandomAccess,
  TEXT,
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

/** Browsers return nothing at all for some reads of more than 256 MB. */
const MAX_READ_BYTES = 32 * 2 ** 20;
/** A read takes about 1 ms whatever its size, so small ones take a window of this size, and the next ones use it. */
const WINDOW_BYTES = 256 * 1024;
/** A part up to this size is read once, and then verified in memory. */
const HOLD_BYTES = 64 * 2 ** 20;

export const BLOB: Kind = { what: 'a Blob', accepts: (value) => value instanceof Blob };
const OPTIONS = optionsOf({ path: optional(TEXT), onRead: optional(FUNCTION) });

/**
 * Random access to a Blob, such as a File that the user chose. In a worker it reads at once, elsewhere it waits. A file
 * that changed after it was chosen is refused.
 * @throws TypeError for anything that is not a Blob; its methods throw DrillproofError `io.CHANGED`, `io.UNREADABLE`
 * @example
 * const report = await verifyPart(blobAccess(files[0]!), { asOfMs: Date.now(), trust });
 */
export function blobAccess(blob: Blob, options: BlobAccessOptions = {}): RandomAccess {
  checkArguments({ blob: BLOB, options: OPTIONS }, { blob, options });
  const { path = 'name' in blob ? String(blob.name) : 'the file', onRead } = options;
  const take = (buffer: ArrayBuffer, length: number): Uint8Array => {
    onRead?.(buffer.byteLength);
    if (buffer.byteLength === length) return new Uint8Array(buffer);
    const message = `${path} returned ${buffer.byteLength} bytes instead of ${length}`;
    throw new DrillproofError('io.CHANGED', message, { path });
  };
  const fail = (cause: unknown): unknown =>
    cause instanceof DrillproofError ? cause : readError(cause, path);
  const base = { size: blob.size, holdBytes: HOLD_BYTES };
  if (typeof FileReaderSync === 'undefined') {
    const read = async (at: number, length: number): Promise<Uint8Array> =>
      take(await blob.slice(at, at + length).arrayBuffer(), length);
    return {
      ...base,
      read: (at, length) => inPieces(at, length, read).catch((cause) => Promise.reject(fail(cause))),
    };
  }
  const reader = new FileReaderSync();
  const read = (at: number, length: number): Uint8Array => {
    try {
      return take(reader.readAsArrayBuffer(blob.slice(at, at + length)), length);
    } catch (cause) {
      throw fail(cause);
    }
  };
  const readWindow = keepWindow(blob.size, read);
  const readInto = (target: Uint8Array, offset: number): void => {
    for (let at = 0; at < target.length; at += MAX_READ_BYTES)
      target.set(readWindow(offset + at, Math.min(MAX_READ_BYTES, target.length - at)), at);
  };
  return {
    ...base,
    readInto,
    read(offset, length) {
      if (length <= MAX_READ_BYTES) return readWindow(offset, length);
      const bytes = new Uint8Array(length);
      readInto(bytes, offset);
      return bytes;
    },
    // A read fails as soon as the file has another time of change than when it was chosen.
    assertUnchanged: () => void (blob.size > 0 && read(blob.size - 1, 1)),
  };
}

async function inPieces(
  offset: number,
  length: number,
  read: (at: number, length: number) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (length <= MAX_READ_BYTES) return read(offset, length);
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += MAX_READ_BYTES)
    bytes.set(await read(offset + at, Math.min(MAX_READ_BYTES, length - at)), at);
  return bytes;
}

/** Reads that keep the window of the last small one. Nothing writes into the bytes that they return. */
function keepWindow(
  size: number,
  read: (at: number, length: number) => Uint8Array,
): (at: number, length: number) => Uint8Array {
  let window = new Uint8Array();
  let start = 0;
  return (at, length) => {
    if (at >= start && at + length <= start + window.length)
      return window.subarray(at - start, at - start + length);
    if (length >= WINDOW_BYTES) return read(at, length);
    window = new Uint8Array(read(at, Math.min(WINDOW_BYTES, size - at)));
    start = at;
    return window.subarray(0, length);
  };
}

/** Browsers name a changed file and a missing permission alike. */
function readError(cause: unknown, path: string): DrillproofError {
  const isGone = cause instanceof DOMException && ['NotReadableError', 'NotFoundError'].includes(cause.name);
  if (!isGone) return new DrillproofError('io.UNREADABLE', `${path} could not be read`, { path, cause });
  const message = `${path} cannot be read any more: it changed after it was chosen, or the browser may not read it`;
  return new DrillproofError('io.CHANGED', message, { path, cause });
}
