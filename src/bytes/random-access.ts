import { DrillproofError } from '../errors.ts';
import { BYTES, checkArguments, defined, type Kind } from './arguments.ts';

/**
 * Bytes that can be read at any offset: a file, a slice of one, an object in S3, an ArrayBuffer. `size` is in bytes.
 */
export type RandomAccess = {
  readonly size: number;
  /**
   * Exactly `length` bytes from `offset`; both are within the size. The result does not change: no later read
   * writes into it.
   * @throws DrillproofError `io.UNREADABLE` when the bytes cannot be read, `io.CHANGED` when they are no longer there.
   */
  read(offset: number, length: number): Promise<Uint8Array> | Uint8Array;
  /**
   * Fills `target` with the bytes from `offset` synchronously, for readers that process the bytes before the next read.
   * Errors are those of `read`.
   */
  readInto?(target: Uint8Array, offset: number): void;
  /** The SHA-256 of all bytes, if the source has a faster way than reading them. */
  digest?(): Promise<`sha256:${string}`>;
  /** Up to this size, one read of everything costs less than many reads; default 1 MiB. */
  readonly holdBytes?: number;
  /** All the bytes, if they are in memory: `read` returns parts of them. Nothing may change them. */
  readonly bytes?: Uint8Array;
  /**
   * Throws if the bytes have changed since they were opened, so that a reader can rely on two reads of the same bytes.
   * @throws DrillproofError `io.CHANGED`
   */
  assertUnchanged?(): void;
};

export const ACCESS: Kind = {
  what: 'a RandomAccess: { size, read() }',
  accepts: (value) =>
    typeof value === 'object' &&
    value !== null &&
    'size' in value &&
    'read' in value &&
    typeof value.size === 'number' &&
    typeof value.read === 'function',
};

/** The `assertUnchanged` of a random access, for another one that reads through it. */
export const forwardChecks = (access: RandomAccess): Pick<RandomAccess, 'assertUnchanged'> =>
  defined({ assertUnchanged: access.assertUnchanged && (() => access.assertUnchanged?.()) });

/**
 * Random access to bytes in memory. The bytes are not copied, so do not change them while they are read.
 * @throws TypeError for anything that is not a Uint8Array
 * @example
 * const part = memoryAccess(await readFile('part.zip'));
 * const report = await verifyPart(part, { asOfMs: Date.now() });
 */
export function memoryAccess(bytes: Uint8Array): RandomAccess {
  checkArguments({ bytes: BYTES }, { bytes });
  return { size: bytes.length, bytes, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

const HOLD_BYTES = 2 ** 20;

/**
 * The same bytes in memory if there are at most `holdBytes`; otherwise the access itself.
 * @throws what `read` throws; DrillproofError `io.CHANGED` when the source returns fewer bytes than it has
 */
export async function holdSmall(access: RandomAccess): Promise<RandomAccess> {
  if (access.bytes !== undefined || access.size > (access.holdBytes ?? HOLD_BYTES)) return access;
  return { ...memoryAccess(await readExactly(access, 0, access.size)), ...forwardChecks(access) };
}

/** The window `[offset, offset + size)` of another random access. */
export function sliceAccess(access: RandomAccess, offset: number, size: number): RandomAccess {
  return {
    size,
    read: (at, length) => access.read(offset + at, length),
    ...defined({
      readInto:
        access.readInto && ((target: Uint8Array, at: number) => access.readInto?.(target, offset + at)),
      bytes: access.bytes?.subarray(offset, offset + size),
      holdBytes: access.holdBytes,
    }),
    ...forwardChecks(access),
  };
}

/**
 * Reads exactly `length` bytes.
 * @throws DrillproofError `io.CHANGED`, and what `read` throws
 */
export async function readExactly(
  access: RandomAccess,
  offset: number,
  length: number,
  path?: string,
): Promise<Uint8Array> {
  const bytes = await access.read(offset, length);
  if (bytes.length === length) return bytes;
  const message = `the source returned ${bytes.length} bytes instead of ${length}`;
  throw new DrillproofError('io.CHANGED', message, defined({ path }));
}

/**
 * The bytes of a window in order, in pieces of at most `pieceBytes` (default 256 KiB).
 * @throws DrillproofError `io.CHANGED` when the source returns fewer bytes than it has
 */
export async function* streamAccess(
  access: RandomAccess,
  offset = 0,
  length = access.size - offset,
  pieceBytes = 262_144,
): AsyncGenerator<Uint8Array, void, undefined> {
  const end = offset + length;
  for (let at = offset; at < end; at += pieceBytes) {
    yield await readExactly(access, at, Math.min(pieceBytes, end - at));
  }
}
