import { PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { openVolume } from '../../../src/node/open-volume.ts';
import { startS3 } from '../../support/s3.ts';
import { testVolume } from './suite.ts';

const s3 = await startS3();

testVolume('S3', async () => {
  const bucket = await s3.bucket();
  return {
    open: () => openVolume(s3.url(bucket, 'volume'), s3.env),
    async put(files) {
      for (const [path, content] of Object.entries(files))
        await s3.client.send(new PutObjectCommand({ Bucket: bucket, Key: `volume/${path}`, Body: content }));
    },
  };
});

it('an S3 volume does not see a prefix that only begins with its name', async () => {
  const bucket = await s3.bucket();
  await s3.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'volume-2/file', Body: 'x' }));
  const volume = await openVolume(s3.url(bucket, 'volume'), s3.env);
  expect(await volume.list()).toEqual({ folders: [], files: [] });
  const foreign = await openVolume(s3.url(bucket, 'volume'), s3.strangerEnv);
  await expect(foreign.list()).rejects.toMatchObject({ code: 'io.UNREADABLE' });
});
