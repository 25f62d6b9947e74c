import { once } from 'node:events';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Decision } from '../../../src/policy/decision.ts';
import { drillproof, expectPass, SIGNER, start } from '../make.ts';
import { startS3 } from '../../support/s3.ts';
import { store } from '../../node/s3/make.ts';
import { servedExports } from '../mirror/served-exports.ts';
import { listViolations, readDecision, writePolicy } from './make.ts';

const s3 = await startS3();
let served: Awaited<ReturnType<typeof servedExports>>;

beforeAll(async () => {
  served = await servedExports();
  for (const out of ['good', 'one.zip']) await expectPass(`export part-1.zip ${SIGNER} --out ${out}`);
  await writePolicy('', 'any.yaml');
}, 60_000);
afterAll(() => served[Symbol.asyncDispose]());

type Answer = { readonly code: number; readonly decision: Decision };

/** Runs the program in a separate process, with the credentials of the bucket. */
async function gate(words: string): Promise<Answer> {
  const result = await drillproof(`gate ${words} --trust trust.json --json`, { env: s3.env });
  return { code: result.code, decision: readDecision(result) };
}

async function upload(folder: string, bucket: string, prefix: string): Promise<void> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    await store(s3, bucket, path.replace(folder, prefix), await readFile(path));
  }
}

it('gate gives a prefix in S3 the decision of the same folder, and notices a change', async () => {
  const bucket = await s3.bucket();
  await upload('good', bucket, 'a/good');
  const inBucket = await gate(s3.url(bucket, 'a/good'));
  expect([inBucket.code, inBucket.decision.answer]).toEqual([0, 'yes']);
  const inFolder = await gate('good');
  expect(inBucket.decision.inputs[0]?.manifestDigest).toBe(inFolder.decision.inputs[0]?.manifestDigest);

  await store(s3, bucket, 'a/good/parts/evidence_000000000001.zip', await readFile('part-2.zip'));
  expect(await gate(s3.url(bucket, 'a/good'))).toMatchObject({ code: 1, decision: { answer: 'no' } });
});

it.each([
  ['an empty prefix', 'nothing'],
  ['a bucket that does not exist', undefined],
])('gate answers could_not_tell about %s', async (_, prefix) => {
  const place = prefix === undefined ? s3.url('no-such-bucket', 'a') : s3.url(await s3.bucket(), prefix);
  expect(await gate(place)).toMatchObject({ code: 3, decision: { answer: 'could_not_tell' } });
});

it('gate passes a bag that mirror wrote, and refuses one whose payload was changed', async () => {
  const [id] = served.ids;
  expect(await served.call(`mirror ${id} --to bag --bagit --quiet`)).toMatchObject({ code: 0 });
  const whole = await gate('bag --policy any.yaml');
  expect(whole).toMatchObject({ code: 0, decision: { inputs: [{ id, verdict: 'verified', bundles: 2 }] } });
  await cp('bag', 'changed', { recursive: true });
  await writeFile('changed/data/parts/evidence_000000000001.zip', await readFile('part-2.zip'));
  expect(await gate('changed --policy any.yaml')).toMatchObject({ code: 1, decision: { answer: 'no' } });
});

it('gate passes an export in one ZIP, and refuses one that was cut off', async () => {
  expect(await gate('one.zip')).toMatchObject({ code: 0, decision: { inputs: [{ kind: 'export' }] } });
  const bytes = await readFile('one.zip');
  await writeFile('cut.zip', bytes.subarray(0, bytes.length - 100));
  const cut = await gate('cut.zip');
  expect([cut.code, cut.decision.answer]).toEqual([1, 'no']);
});

it('gate --wait waits for an export, and answers could_not_tell if the time is too short', async () => {
  const id = 'evexp_000000000077';
  const scope = '--organization org_000000000001 --scope project --project prj_000000000001';
  await expectPass(`admin export create ${scope} --from 2020-01-01 --id ${id} --data plane`, {
    now: Date.now,
  });
  const line = `gate ${id} --policy any.yaml --trust trust.json --json`;
  const early = await served.call(`${line} --wait 1s`);
  expect([early.code, readDecision(early).answer]).toEqual([3, 'could_not_tell']);

  const waiting = served.call(`${line} --wait 1m`);
  const worker = start('worker --data plane');
  try {
    const late = await waiting;
    const decision = readDecision(late);
    expect([late.code, listViolations(decision)]).toEqual([0, []]);
    expect(decision.inputs).toMatchObject([{ id, kind: 'export', verdict: 'verified' }]);
  } finally {
    worker.kill('SIGTERM');
    await once(worker, 'exit');
  }
}, 90_000);
