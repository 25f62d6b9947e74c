import { setTimeout as sleep } from 'node:timers/promises';
import { compareUtf8 } from '../../bytes/text/encoding.ts';
import type { RandomAccess } from '../../bytes/random-access.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import type { EvidenceSource, OpenFile, SourceFile } from '../../evidence/source.ts';
import type { Bucket, ListedObject, ObjectFacts } from './bucket.ts';
import type { ByteRange, ObjectRef } from './location.ts';
import { s3Error } from './errors.ts';

/** Interruptions in a row without a byte, after which the storage counts as unavailable. */
const TRIES = 5;
const PAUSE_MS = 100;
/** The memory that one open object may use. */
const BLOCKS = { blockBytes: 4 * 1024 * 1024, blocks: 4, ahead: true } as const;
/** Objects listed in memory, far more than an export may have. */
const MAX_OBJECTS = 1_000_000;

/**
 * Reads an object from `start` up to `end`. An interrupted answer is resumed by range. Each request names the entity tag,
 * so that bytes of two versions are never joined.
 * @throws DrillproofError `io.CHANGED` if the object was replaced, `io.UNREADABLE`
 */
export async function* streamObject(
  bucket: Bucket,
  object: ObjectRef,
  { start, end }: ByteRange = { start: 0, end: object.bytes },
): AsyncGenerator<Uint8Array, void, undefined> {
  let at = start;
  for (let breaks = 0; at < end;) {
    const before = at;
    try {
      for await (const chunk of await bucket.read(object, { start: at, end })) {
        if (!(chunk instanceof Uint8Array))
          throw new DrillproofError('internal.BUG', 'a stream of S3 does not contain bytes');
        at += chunk.length;
        yield chunk;
      }
      if (at < end) throw new Error('the answer ended early');
    } catch (cause) {
      if (cause instanceof DrillproofError) throw cause; // the SDK has retried
      breaks = at > before ? 1 : breaks + 1;
      if (breaks >= TRIES) throw s3Error(cause, bucket.nameOf(object.key), 'read');
      await sleep(PAUSE_MS * 2 ** breaks);
    }
  }
}

/**
 * Frees the memory of a piece of `Bucket.read` at once. Otherwise large objects start a full garbage collection every few
 * reads. A piece that does not fill its memory may share it, and is not freed.
 */
export function freePiece({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Reads a small range, by default the whole object. @throws as `streamObject` */
export async function readObject(
  bucket: Bucket,
  object: ObjectRef,
  range: ByteRange = { start: 0, end: object.bytes },
): Promise<Uint8Array> {
  const whole = new Uint8Array(range.end - range.start);
  let at = 0;
  for await (const chunk of streamObject(bucket, object, range)) {
    whole.set(chunk, at);
    at += chunk.length;
    freePiece(chunk);
  }
  return whole;
}

export type BlockOptions = {
  /** Bytes of a block; default 1 MiB. */
  readonly blockBytes?: number;
  /** Blocks held in memory; default 8. */
  readonly blocks?: number;
  /** Sequential reads request the next block in advance; default no. */
  readonly ahead?: boolean;
};

/**
 * Creates random access for a source with expensive requests. It reads whole blocks and caches the last few, so that the
 * many small reads of an archive become few requests.
 */
export function blockAccess(
  size: number,
  readBlock: (start: number, end: number) => Promise<Uint8Array>,
  { blockBytes = 1024 * 1024, blocks: maxBlocks = 8, ahead = false }: BlockOptions = {},
): RandomAccess {
  const blocks = new Map<number, Promise<Uint8Array>>();
  let last = -1;

  const readCached = (index: number): Promise<Uint8Array> => {
    const start = index * blockBytes;
    const bytes = blocks.get(index) ?? readBlock(start, Math.min(size, start + blockBytes));
    blocks.delete(index); // the most recently used block is the last one
    blocks.set(index, bytes);
    bytes.catch(() => blocks.delete(index));
    const [oldest] = blocks.keys();
    if (blocks.size > maxBlocks && oldest !== undefined) blocks.delete(oldest);
    return bytes;
  };
  const readAhead = (index: number): Promise<Uint8Array> => {
    const next = index + 1;
    const following = index === last + 1 && !blocks.has(next) && next * blockBytes < size;
    last = index;
    const bytes = readCached(index);
    if (ahead && following) void readCached(next);
    return bytes;
  };

  return {
    size,
    async read(offset, length) {
      const result = new Uint8Array(length);
      for (let done = 0; done < length;) {
        const at = offset + done;
        const within = at % blockBytes;
        const piece = (await readAhead(Math.floor(at / blockBytes))).subarray(within, within + length - done);
        result.set(piece, done);
        done += piece.length;
      }
      return result;
    },
  };
}

/** Opens a listed object for random access. @throws `io.CHANGED` if it was replaced */
export function objectAccess(bucket: Bucket, object: ObjectRef): OpenFile {
  const readBlock = (start: number, end: number) => readObject(bucket, object, { start, end });
  return { ...blockAccess(object.bytes, readBlock, BLOCKS), close: () => Promise.resolve() };
}

/**
 * Lists the objects below a prefix, which ends with a slash or is empty, by their relative path. The empty objects that
 * consoles create to show a folder are ignored.
 * @throws LimitError `export.FILES_EXCEEDED`, and what the bucket throws
 */
export async function listTree(bucket: Bucket, prefix: string): Promise<Map<string, ListedObject>> {
  const tree = new Map<string, ListedObject>();
  for await (const object of bucket.list(prefix)) {
    if (!object.key.startsWith(prefix)) continue;
    if (object.bytes === 0 && (object.key === prefix || object.key.endsWith('/'))) continue;
    tree.set(object.key.slice(prefix.length), object);
    if (tree.size > MAX_OBJECTS) {
      const message = `there are more than ${MAX_OBJECTS} objects below ${bucket.nameOf(prefix)}`;
      throw new LimitError('export.FILES_EXCEEDED', message);
    }
  }
  return tree;
}

/** Lists the objects of a tree as the files of an export, sorted. */
export const listObjects = (tree: ReadonlyMap<string, ObjectFacts>): SourceFile[] =>
  [...tree]
    .map(([path, { bytes, etag }]) => ({ path, bytes, regular: true, identity: `${bytes}:${etag}` }))
    .toSorted((a, b) => compareUtf8(a.path, b.path));

/**
 * Reads the tree below a prefix. An object that is replaced after it was listed is not read (`io.CHANGED`). A key that is
 * not a valid path, such as one with an empty step, is listed unchanged; no manifest lists it.
 */
export function s3Source(bucket: Bucket, prefix: string): EvidenceSource {
  let listing: Promise<Map<string, ListedObject>> | undefined;
  const tree = (): Promise<Map<string, ListedObject>> => (listing ??= listTree(bucket, prefix));
  return {
    kind: 's3',
    files: async () => listObjects(await tree()),
    async open(path) {
      const object = (await tree()).get(path);
      if (object !== undefined) return objectAccess(bucket, object);
      throw missingObject(bucket, prefix + path, path);
    },
  };
}

export const missingObject = (bucket: Bucket, key: string, path: string): DrillproofError =>
  new DrillproofError('io.NOT_FOUND', `no such object: ${bucket.nameOf(key)}`, { path });
