import type { Bucket } from '../bucket.ts';
import { s3Error, statusOf } from '../errors.ts';

/**
 * Ends the uploads below a prefix that were begun and not finished: killed runs left them, and they cost money until
 * somebody does. A run that was only held up finds its upload gone and cannot finish it.
 */
export async function sweepUploads(bucket: Bucket, prefix: string): Promise<void> {
  const { client, sdk, name } = bucket;
  for await (const { Key, UploadId } of unfinished(bucket, prefix)) {
    const abort = new sdk.AbortMultipartUploadCommand({ Bucket: name, Key, UploadId });
    await client.send(abort).catch((cause: unknown) => {
      if (statusOf(cause) !== 404) throw s3Error(cause, bucket.nameOf(Key), 'write');
    });
  }
}

type Unfinished = { readonly Key: string; readonly UploadId: string };

async function* unfinished(bucket: Bucket, prefix: string): AsyncGenerator<Unfinished> {
  const { client, sdk, name } = bucket;
  let after: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  for (;;) {
    const command = new sdk.ListMultipartUploadsCommand({ Bucket: name, Prefix: prefix, ...after });
    const page = await client.send(command).catch((cause: unknown) => {
      if (statusOf(cause) === 501) return undefined; // a server that cannot list them: its lifecycle rules remain
      throw s3Error(cause, bucket.nameOf(prefix), 'read');
    });
    for (const { Key, UploadId } of page?.Uploads ?? []) {
      // Asked for again, because some servers take the prefix for something else.
      if (Key?.startsWith(prefix) === true && UploadId !== undefined) yield { Key, UploadId };
    }
    if (page?.IsTruncated !== true) return;
    after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}
