import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { makeExport, type TestExport } from '../../faults/export-source.ts';
import { cleanUp, source } from '../../mirror/make.ts';
import { mirrorTo, needS3, objectsIn, sha256, sinkTo, uploadsIn } from './make.ts';

const s3 = await needS3();
afterAll(() => s3.stop());
afterEach(cleanUp);

const MIB = 1024 * 1024;
const PREFIX = 'archive/one';

/** That every listed file is there and right, and nothing of the sink's own. */
function expectWhole(
  made: TestExport,
  objects: ReadonlyMap<string, Uint8Array>,
  prefix = `${PREFIX}/`,
): void {
  for (const [path, bytes] of made.files)
    expect(sha256(objects.get(prefix + path) ?? new Uint8Array(1))).toBe(sha256(bytes));
  expect(sha256(objects.get(`${prefix}manifest.json`) ?? new Uint8Array())).toBe(made.manifestDigest);
  expect([...objects.keys()].filter((key) => key.includes('/.drillproof-mirror/'))).toEqual([]);
}

describe('a mirror in S3', () => {
  it.each([
    ['no bytes at all', 0],
    ['few bytes', 5_000],
    ['exactly one part of an upload', 8 * MIB],
    ['a byte more than one part', 8 * MIB + 1],
    ['several parts', 20 * MIB],
  ])('is whole, and kept by the next run, with files of %s', async (_, bytes) => {
    const bucket = await s3.bucket();
    const made = makeExport({ parts: 2, reports: 1, bytes });
    const server = await source(made);
    const to = sinkTo(s3, s3.url(bucket, PREFIX));
    const first = await mirrorTo(to, server);
    expect(first.files.filter(({ state }) => state === 'fetched').length).toBeGreaterThanOrEqual(3);
    expectWhole(made, await objectsIn(s3, bucket));
    const asked = server.seen.length;
    const second = await mirrorTo(to, server);
    expect(second.files.every(({ state }) => state === 'kept')).toBe(true);
    expect(server.seen.slice(asked).filter(({ path }) => /\/(parts|archive)\b/.test(path))).toEqual([]);
    expect(await uploadsIn(s3, bucket)).toEqual([]);
  });
});
