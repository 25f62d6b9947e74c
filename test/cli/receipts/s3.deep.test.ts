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

const listResults = (json: string): string[] =>
  (JSON.parse(json) as { mirrors: { report: { verdict: string; receipts: unknown[] } }[] }).mirrors.map(
    ({ report: { verdict, receipts } }) => `${verdict} ${receipts.length}`,
  );

it('receipts verify reports a missing receipt of a mirror below a prefix in S3', async () => {
  const bucket = await s3.bucket();
  const server = await source(makeExport());
  const { evidenceExportId, projectId } = exportRef;
  const place = `a/${evidenceExportId}`;
  for (let run = 0; run < 2; run++) {
    const options = `--project ${projectId} --url ${server.url} --to ${s3.url(bucket, place)}`;
    const parts = [...(await objectsIn(s3, bucket)).keys()].filter((key) =>
      key.startsWith(`${place}/parts/`),
    );
    for (const Key of parts.slice(0, 1))
      // a run that changes nothing writes no receipt
      await s3.client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    expect(await drillproof(`mirror ${evidenceExportId} ${options}`, { env })).toMatchObject({ code: 0 });
  }
  const verify = () => drillproof(`receipts verify ${s3.url(bucket, 'a')} --json`, { env });
  const sound = await verify();
  expect([sound.code, listResults(sound.stdout)]).toEqual([0, ['sound 2']]);
  const keys = [...(await objectsIn(s3, bucket)).keys()];
  const receipts = keys.filter((key) => key.startsWith(`${place}/receipts/`));
  await s3.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: receipts.toSorted()[0]! }));
  const broken = await verify();
  expect([broken.code, listResults(broken.stdout)]).toEqual([1, ['broken 1']]);
  const listed = await drillproof(`receipts list ${s3.url(bucket, place)}`, { env });
  expect([listed.code, listed.stdout.match(/ complete /g)]).toMatchObject([0, { length: 1 }]);
  expect((await drillproof(`receipts verify ${s3.url(bucket, 'nothing')}`, { env })).code).toBe(3);
});
