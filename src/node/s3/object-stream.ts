import { setTimeout as pause } from 'node:timers/promises';
import { DrillproofError } from '../../errors.ts';
import type { Bucket, ByteRange } from './bucket.ts';
import { s3Error } from './errors.ts';

/** So many breaks in a row without a byte between them, and the storage is taken to be away. */
const TRIES = 5;
const PAUSE_MS = 100;

export type ObjectRef = { readonly key: string; readonly etag: string; readonly bytes: number };

/**
 * The bytes of an object from `start` up to `end`, going on by range where an answer breaks off; each request asks for
 * the entity tag, so that bytes of two versions are never joined.
 * @throws DrillproofError `io.CHANGED` when it is another object by now, `io.UNREADABLE`
 */
export async function* streamObject(
  bucket: Bucket,
  { key, etag, bytes }: ObjectRef,
  { start, end }: ByteRange = { start: 0, end: bytes },
): AsyncGenerator<Uint8Array, void, undefined> {
  let at = start;
  for (let breaks = 0; at < end;) {
    const before = at;
    try {
      for await (const chunk of await bucket.read(key, etag, { start: at, end })) {
        const piece = toBytes(chunk);
        at += piece.length;
        yield piece;
      }
      if (at < end) throw new Error('the answer ended early');
    } catch (cause) {
      if (cause instanceof DrillproofError) throw cause; // the SDK has tried again already
      breaks = at > before ? 1 : breaks + 1;
      if (breaks >= TRIES) throw s3Error(cause, bucket.nameOf(key), 'read');
      await pause(PAUSE_MS * 2 ** breaks);
    }
  }
}

/** All of a range that is small. @throws as `streamObject` */
export async function readRange(bucket: Bucket, object: ObjectRef, range: ByteRange): Promise<Uint8Array> {
  const whole = new Uint8Array(range.end - range.start);
  let at = 0;
  for await (const chunk of streamObject(bucket, object, range)) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw new DrillproofError('internal.BUG', 'a stream of S3 is not of bytes');
}
