import { ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, describe } from 'vitest';
import type { Digest } from '../../../src/bytes/hash.ts';
import { openS3Blobs } from '../../../src/server/blobs/open-s3.ts';
import { parseS3Location } from '../../../src/server/blobs/s3-location.ts';
import { testS3 } from '../../support/s3.ts';
import { blobSuite, type BlobPlace } from './suite.ts';

const s3 = await testS3();
afterAll(() => s3?.stop());

const PREFIX = 'some/prefix/';
const keyOf = (digest: Digest): string => `${PREFIX}blobs/${digest.slice(7, 9)}/${digest.slice(9)}`;

describe.skipIf(s3 === undefined)('S3', () => {
  if (s3 === undefined) return;
  const { client, env } = s3;

  async function place(): Promise<BlobPlace & { readonly Bucket: string }> {
    const Bucket = await s3!.bucket();
    const blobs = await openS3Blobs(parseS3Location(s3!.url(Bucket, PREFIX)), { env });
    return {
      Bucket,
      blobs,
      async stored() {
        const objects = await client.send(new ListObjectsV2Command({ Bucket }));
        const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket }));
        const keys = [...(objects.Contents ?? []), ...(uploads.Uploads ?? [])].map(({ Key }) => String(Key));
        return keys.filter((key) => key !== `${PREFIX}drillproof-data.json`);
      },
      async overwrite(digest, Body) {
        await client.send(new PutObjectCommand({ Bucket, Key: keyOf(digest), Body }));
      },
      close: async () => {},
    };
  }

  blobSuite('blobs in S3', place);
});
