import { hash } from 'node:crypto';
import {
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { mirrorExport, type MirrorOptions, type MirrorSink } from '../../../src/mirror/index.ts';
import { createClient } from '../../../src/client/index.ts';
import { mirrorS3, type MirrorS3Options, parseS3Location } from '../../../src/node/index.ts';
import { exportRef } from '../../faults/export-source.ts';
import type { TestS3 } from '../../support/s3.ts';

export const locationOf = (url: string) => parseS3Location(url, { name: 'the place', code: 'usage.INVALID' });

export const sinkTo = (s3: TestS3, url: string, options: MirrorS3Options = {}): MirrorSink =>
  mirrorS3(locationOf(url), { env: s3.env, ...options });

/** Mirrors from a server into S3, without waits between the retries of downloads. */
export const mirrorTo = (
  to: MirrorSink,
  server: { readonly url: string },
  options: Partial<MirrorOptions> = {},
) =>
  mirrorExport(exportRef, {
    client: createClient({
      baseUrl: server.url,
      token: 'token-that-must-never-appear',
      random: () => 0,
      sleep: () => Promise.resolve(),
    }),
    to,
    tool: 'drillproof/test',
    ...options,
  });

export const sha256 = (bytes: Uint8Array): string => `sha256:${hash('sha256', bytes)}`;

/** Reads every object of a bucket by its key. */
export async function objectsIn({ client }: TestS3, Bucket: string): Promise<Map<string, Uint8Array>> {
  const objects = new Map<string, Uint8Array>();
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  for (const { Key = '' } of Contents) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    objects.set(Key, await Body!.transformToByteArray());
  }
  return objects;
}

/** Lists the keys of unfinished uploads. */
export async function uploadsIn({ client }: TestS3, Bucket: string): Promise<string[]> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  return Uploads.map(({ Key = '' }) => Key);
}

export async function store({ client }: TestS3, Bucket: string, Key: string, Body: Uint8Array | string) {
  await client.send(new PutObjectCommand({ Bucket, Key, Body }));
}
