import type { Bytes } from '../../bytes/platform.ts';
import type { Digest } from '../../bytes/hash.ts';
import type { RandomAccess } from '../../bytes/random-access.ts';
import type { ByteRange } from '../../node/s3/bucket.ts';
import type { BlobRef } from '../store/store.ts';

export type { ByteRange };

/** An open blob whose bytes were proven to have its digest. It is closed once, whatever happened to it. */
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
   * Takes in a stream, hashing and counting as it passes; with `expected`, other bytes are refused and not kept.
   * @throws DrillproofError `control.UPLOAD_MISMATCH`, `control.UNAVAILABLE`, `io.DISK_FULL`, `io.READ_ONLY`,
   *   `io.WRITE_FAILED`
   */
  put(source: Bytes, expected?: Partial<BlobRef>): Promise<BlobRef>;
  /**
   * Opens a blob after proving its bytes; a proof holds until what is stored is seen to have changed.
   * @throws DrillproofError `control.STORED_BYTES_CORRUPT` when they are gone or have another digest, `io.UNREADABLE`,
   *   `control.UNAVAILABLE`
   */
  open(digest: Digest): Promise<OpenBlob>;
  /**
   * Hashes the bytes again, whatever was proven before; bytes of another count are `corrupt` too.
   * @throws DrillproofError `io.UNREADABLE`, `control.UNAVAILABLE` when it could not be found out
   */
  verify(blob: BlobRef): Promise<'intact' | 'corrupt' | 'missing'>;
  /** Whether a blob is there, by its name only. @throws as `verify` */
  has(digest: Digest): Promise<boolean>;
  /** Every blob that is kept, by its name and size only, in no promised order. @throws as `verify` */
  list(): AsyncIterable<BlobRef>;
  /** Removes a blob; one that is not there is no failure. The rows that name it go first. @throws as `put` */
  remove(digest: Digest): Promise<void>;
  /** Whether the storage answers now. @throws DrillproofError `control.UNAVAILABLE`, `io.*` when it does not */
  ping(): Promise<void>;
};
