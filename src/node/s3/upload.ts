import type { Bytes } from '../../bytes/platform.ts';
import { createDigester } from '../../bytes/hash.ts';
import type { PartialFile } from '../../mirror/sink.ts';
import { type Bucket, PART_BYTES, type Written } from './bucket.ts';
import { s3StatusOf, s3Error } from './errors.ts';
import { assertWritten, keyIn, type Place, writeOptions, writeSmall } from './place.ts';

/**
 * Opens a file for upload. A small one stays in memory until `commit`, and a larger one is uploaded in parts. No object
 * appears before `commit`. The parts of an earlier run cannot be read, so a file never starts with bytes.
 */
export function openUpload(place: Place, path: string): PartialFile {
  const key = keyIn(place.prefix, path);
  let sum = createDigester();
  let pieces: Uint8Array[] = [];
  let upload: Upload | undefined;

  const discard = async (): Promise<void> => {
    const discarded = upload;
    upload = undefined;
    pieces = [];
    sum = createDigester();
    await discarded?.abort();
  };
  const start = (): Upload => {
    const etag = place.tree.get(path)?.etag;
    const when = etag === undefined ? ({ ifAbsent: true } as const) : { ifMatch: etag };
    return startUpload((body) => place.bucket.write(key, body, { ...writeOptions(place, path), when }));
  };
  return {
    bytes: 0,
    etag: undefined,
    async *read() {},
    restart: discard,
    async append(chunk) {
      sum.update(chunk);
      pieces.push(chunk);
      if (upload === undefined && sum.bytes <= PART_BYTES) return;
      upload ??= start();
      for (const piece of pieces.splice(0)) await upload.push(piece);
    },
    async commit() {
      if (upload === undefined) return writeSmall(place, path, Buffer.concat(pieces.splice(0)));
      await place.lease.assertHeld();
      const written = await endUpload(place, path, upload);
      upload = undefined;
      await assertWritten(place, path, { digest: sum.digest(), bytes: sum.bytes }, written);
    },
    close: discard,
  };
}

// Some servers ignore the condition at the end of an upload in parts, so the object is compared just before.
async function endUpload({ bucket, prefix, tree }: Place, path: string, upload: Upload): Promise<Written> {
  if ((await bucket.facts(prefix + path))?.etag === tree.get(path)?.etag) return upload.end();
  await upload.abort();
  return { outcome: 'conflict' };
}

/** An upload whose bytes are pushed. It is not visible before `end`. */
type Upload = {
  /** Resolves when there is room for more. Throws the error that ended the upload. */
  push(chunk: Uint8Array): Promise<void>;
  end(): Promise<Written>;
  abort(): Promise<void>;
};

/** Turns an upload that reads a stream into one whose bytes are pushed. */
function startUpload(begin: (body: Bytes) => Promise<Written>): Upload {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const done = begin(readable);
  done.catch(() => undefined); // the next call reports the failure
  const reportReason = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (cause) {
      await done;
      throw cause;
    }
  };
  return {
    push: (chunk) => reportReason(writer.write(chunk)),
    async end() {
      await reportReason(writer.close());
      return done;
    },
    async abort() {
      await writer.abort(new Error('the upload was aborted')).catch(() => undefined);
      await done.catch(() => undefined); // the next run removes its parts
    },
  };
}

/**
 * Aborts the unfinished uploads of matching paths below a prefix. Killed runs leave them, and they cost money until they are removed. A run
 * that was only suspended can no longer finish its upload.
 */
export async function abortUploads(bucket: Bucket, prefix: string, paths: RegExp): Promise<void> {
  const { client, sdk, name } = bucket;
  for await (const { Key, UploadId } of listUploads(bucket, prefix)) {
    if (!paths.test(Key.slice(prefix.length))) continue;
    const abort = new sdk.AbortMultipartUploadCommand({ Bucket: name, Key, UploadId });
    await client.send(abort).catch((cause: unknown) => {
      if (s3StatusOf(cause) !== 404) throw s3Error(cause, bucket.nameOf(Key), 'write');
    });
  }
}

type Unfinished = { readonly Key: string; readonly UploadId: string };

async function* listUploads(bucket: Bucket, prefix: string): AsyncGenerator<Unfinished> {
  const { client, sdk, name } = bucket;
  let after: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  for (;;) {
    const command = new sdk.ListMultipartUploadsCommand({ Bucket: name, Prefix: prefix, ...after });
    const page = await client.send(command).catch((cause: unknown) => {
      if (s3StatusOf(cause) === 501) return undefined; // a server that cannot list them has lifecycle rules
      throw s3Error(cause, bucket.nameOf(prefix), 'read');
    });
    for (const { Key, UploadId } of page?.Uploads ?? []) {
      // Some servers interpret the prefix differently.
      if (Key?.startsWith(prefix) === true && UploadId !== undefined) yield { Key, UploadId };
    }
    if (page?.IsTruncated !== true) return;
    after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}
