import type { Bytes, Digest, RandomAccess } from '../../bytes/index.ts';
import type { ByteRange } from '../../node/s3/index.ts';
import type { BlobRef } from '../store/store.ts';

export type { ByteRange };

/** An open blob whose bytes were verified against its digest. Close it once. */
export type OpenBlob = {
  readonly bytes: number;
  /**
   * The bytes of a range, in order, in pieces.
   * @throws DrillproofError `io.CHANGED` when it is no longer what was opened, `io.UNREADABLE`, `control.UNAVAILABLE`
   */
  stream(range: ByteRange): Bytes;
  access(): RandomAccess;
  close(): Promise<void>;
};

/**
 * Bytes kept under their SHA-256. Putting the same bytes again changes nothing. What was put is durable when `put`
 * resolves, so a row that names a blob is written after it.
 */
export type Blobs = {
  /**
   * Stores a stream, hashing and counting it; with `expected`, other bytes are refused and not stored.
   * @throws DrillproofError `control.UPLOAD_MISMATCH`, `control.UNAVAILABLE`, `io.DISK_FULL`, `io.READ_ONLY`,
   *   `io.WRITE_FAILED`
   */
  put(source: Bytes, expected?: Partial<BlobRef>): Promise<BlobRef>;
  /**
   * Opens a blob after verifying its bytes; the result is reused until the stored object changes.
   * @throws DrillproofError `control.STORED_BYTES_CORRUPT` when they are missing or do not match, `io.UNREADABLE`,
   *   `control.UNAVAILABLE`
   */
  open(digest: Digest): Promise<OpenBlob>;
  /**
   * Hashes the bytes again, whatever was verified before; a different size is `corrupt` too.
   * @throws DrillproofError `io.UNREADABLE`, `control.UNAVAILABLE` when this could not be determined
   */
  verify(blob: BlobRef): Promise<'intact' | 'corrupt' | 'missing'>;
  /** Whether a blob exists, by its name only. @throws as `verify` */
  has(digest: Digest): Promise<boolean>;
  /** Every stored blob, by its name and size only, in no particular order. @throws as `verify` */
  list(): AsyncIterable<BlobRef>;
  /** Removes a blob; a missing one is not a failure. Remove the rows that name it first. @throws as `put` */
  remove(digest: Digest): Promise<void>;
  /** Whether the storage answers now. @throws DrillproofError `control.UNAVAILABLE`, `io.*` when it does not */
  ping(): Promise<void>;
};
