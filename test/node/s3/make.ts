import { hash } from 'node:crypto';
import {
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { defined } from '../../../src/bytes/arguments.ts';
import type { MirrorSink } from '../../../src/mirror/sink.ts';
import { mirrorS3, type MirrorS3Options } from '../../../src/node/s3/mirror.ts';
import { parseS3Location } from '../../../src/node/s3/location.ts';
import type { TestExport } from '../../faults/export-source.ts';
import { mirror } from '../../mirror/make.ts';
import type { TestS3 } from '../../support/s3.ts';

export const locationOf = (url: string) => parseS3Location(url, { name: 'the place', code: 'usage.INVALID' });

export const sinkTo = (s3: TestS3, url: string, options: MirrorS3Options = {}): MirrorSink =>
  mirrorS3(locationOf(url), { env: s3.env, ...options });

/** Mirrors from a server into S3, without waits between the retries of downloads. */
export async function mirrorTo(to: MirrorSink, server: { readonly url: string }, concurrency?: number) {
  const client = { timeouts: { stallMs: 15_000 } };
  return (await mirror(server, '', { to, client, ...defined({ concurrency }) })).receipt;
}

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

/** Expects every file of a mirror below a prefix, and no private file of the sink or unfinished upload. */
export async function expectWhole(
  s3: TestS3,
  bucket: string,
  { files, manifest }: TestExport,
  prefix: string,
): Promise<void> {
  const objects = await objectsIn(s3, bucket);
  for (const [path, bytes] of [...files, ['manifest.json', manifest] as const])
    expect(sha256(objects.get(prefix + path)!), path).toBe(sha256(bytes));
  expect([...objects.keys()].filter((key) => key.includes('.drillproof'))).toEqual([]);
  expect(await uploadsIn(s3, bucket)).toEqual([]);
}

export async function store({ client }: TestS3, Bucket: string, Key: string, Body: Uint8Array | string) {
  await client.send(new PutObjectCommand({ Bucket, Key, Body }));
}
