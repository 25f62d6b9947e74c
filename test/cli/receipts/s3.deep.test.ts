import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, expect, it } from 'vitest';
import { exportRef, makeExport } from '../../faults/export-source.ts';
import { cleanUp, source } from '../../mirror/make.ts';
import { startS3 } from '../../support/s3.ts';
import { objectsIn } from '../../node/s3/make.ts';
import { drillproof } from '../make.ts';

const s3 = await startS3();
afterEach(cleanUp);

const env = { ...s3.env, DRILLPROOF_TOKEN: 'a-token' };

const results = (json: string): unknown =>
  (JSON.parse(json) as { mirrors: { report: { verdict: string; receipts: unknown[] } }[] }).mirrors.map(
    ({ report: { verdict, receipts } }) => [verdict, receipts.length],
  );

it('verifies the receipts of every mirror below a prefix, and sees that one is gone', async () => {
  const bucket = await s3.bucket();
  const server = await source(makeExport());
  const { evidenceExportId, projectId } = exportRef;
  for (const place of ['a/one', 'a/two', 'a/two']) {
    const asked = ['--project', projectId, '--url', server.url, '--to', s3.url(bucket, place)];
    expect(await drillproof(['mirror', evidenceExportId, ...asked], { env })).toMatchObject({ code: 0 });
  }
  const verify = () => drillproof(['receipts', 'verify', s3.url(bucket, 'a'), '--json'], { env });
  const sound = await verify();
  expect([sound.code, results(sound.stdout)]).toEqual([
    0,
    [
      ['sound', 1],
      ['sound', 2],
    ],
  ]);
  const receipts = [...(await objectsIn(s3, bucket)).keys()].filter((key) =>
    key.startsWith('a/two/receipts/'),
  );
  await s3.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: receipts.toSorted()[0]! }));
  const broken = await verify();
  expect([broken.code, results(broken.stdout)]).toEqual([
    1,
    [
      ['sound', 1],
      ['broken', 1],
    ],
  ]);
  const listed = await drillproof(['receipts', 'list', s3.url(bucket, 'a/two')], { env });
  expect([listed.code, listed.stdout.match(/ complete /g)]).toMatchObject([0, { length: 1 }]);
  expect((await drillproof(['receipts', 'verify', s3.url(bucket, 'nothing')], { env })).code).toBe(3);
});
