import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, test } from 'vitest';
import { memorySource } from '../../../src/evidence/source.ts';
import { replicaClient } from '../../../src/mirror/replica.ts';
import { repairMirror } from '../../../src/scrub/repair.ts';
import { scrubMirror } from '../../../src/scrub/mirror.ts';
import { openScrubArchive } from '../../../src/node/scrub-archive.ts';
import { NOW } from '../../support/evidence.ts';
import {
  cleanUp,
  DAY,
  exportId,
  makeExportWithId,
  mirrorInto,
  scrubArchive,
  SOURCE,
  listFaults,
} from '../scrub/make.ts';
import { startS3 } from '../../support/s3.ts';
import { objectsIn, sinkTo, store } from './make.ts';

const s3 = await startS3();
afterEach(cleanUp);

const PART = 'parts/evidence_000000000001.zip';
const env = s3.env;

/** A bucket with the mirrors of two exports below `archive/`. */
async function makeS3Archive() {
  const bucket = await s3.bucket();
  const exports = [await makeExportWithId(1), await makeExportWithId(2)];
  for (const [i, sample] of exports.entries())
    await mirrorInto(sinkTo(s3, s3.url(bucket, `archive/${exportId(i + 1)}`)), sample);
  return { bucket, exports, url: s3.url(bucket, 'archive') };
}

async function rotObject(bucket: string, key: string, at = 100): Promise<void> {
  const bytes = Buffer.from((await objectsIn(s3, bucket)).get(key)!);
  bytes[at]! ^= 4;
  await store(s3, bucket, key, bytes);
}

describe('an archive in S3', () => {
  test('is read once within the requested age, with one journal next to its mirrors', async () => {
    const { bucket, url } = await makeS3Archive();
    const first = await scrubArchive(url, { env });
    expect(first.map(({ name, outcome }) => [name, outcome])).toEqual([
      [exportId(1), 'good'],
      [exportId(2), 'good'],
    ]);
    const keys = [...(await objectsIn(s3, bucket)).keys()].filter((key) => key.includes('.drillproof/'));
    expect(keys).toEqual(['archive/.drillproof/scrub/archive.jsonl']);
    expect((await scrubArchive(url, { env, olderThanMs: DAY })).map(({ read }) => read)).toEqual([0, 0]);
    // A scrub of one mirror uses the same journal.
    const alone = await scrubArchive(s3.url(bucket, `archive/${exportId(1)}`), { env, olderThanMs: DAY });
    expect(alone.map(({ name, read }) => [name, read])).toEqual([[exportId(1), 0]]);
  });

  test('reports damaged and missing objects as soon as they change', async () => {
    const { bucket, url } = await makeS3Archive();
    await scrubArchive(url, { env });
    await rotObject(bucket, `archive/${exportId(1)}/${PART}`);
    await s3.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: `archive/${exportId(2)}/${PART}` }));
    expect(listFaults(await scrubArchive(url, { env, olderThanMs: DAY }))).toEqual([
      `damaged ${PART} part.DIGEST_MISMATCH`,
      `missing ${PART} part.MISSING`,
    ]);
  });

  test('reports a prefix that the journal names and that is gone, and a copy under another name', async () => {
    const { bucket, url } = await makeS3Archive();
    await scrubArchive(url, { env });
    for (const [key, bytes] of await objectsIn(s3, bucket)) {
      if (!key.startsWith(`archive/${exportId(1)}/`)) continue;
      await store(s3, bucket, key.replace(exportId(1), exportId(3)), Buffer.from(bytes));
      await s3.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    }
    const results = await scrubArchive(url, { env });
    expect(results.map(({ name, outcome }) => `${name} ${outcome}`).toSorted()).toEqual([
      `${exportId(1)} damaged`,
      `${exportId(2)} good`,
      `${exportId(3)} damaged`,
    ]);
    expect(listFaults(results)).toEqual([
      'damaged manifest.json scrub.NAME_MISMATCH',
      'missing  scrub.MIRROR_MISSING',
    ]);
  });

  test('is repaired from another mirror', async () => {
    const { bucket, url, exports } = await makeS3Archive();
    await rotObject(bucket, `archive/${exportId(1)}/${PART}`);
    await rotObject(bucket, `archive/${exportId(1)}/manifest.json`, 60);
    const opened = await openScrubArchive(url, { env });
    try {
      const place = opened.open(exportId(1));
      const { manifestDigest } = exports[0]!.packed;
      const how = { tool: 'drillproof/test', now: () => NOW, expectManifest: manifestDigest };
      const scrub = await scrubMirror(place, how);
      const from = replicaClient(memorySource(exports[0]!.files), SOURCE);
      const result = await repairMirror(place, scrub, () => Promise.resolve(from), how);
      expect(result.outcome).toBe('good');
      expect(result.faults.every(({ repair }) => repair === 'repaired')).toBe(true);
    } finally {
      await opened.close();
    }
    expect(listFaults(await scrubArchive(url, { env }))).toEqual([]);
    const stored = (await objectsIn(s3, bucket)).get(`archive/${exportId(1)}/${PART}`)!;
    expect(Buffer.from(stored).equals(exports[0]!.files[PART]!)).toBe(true);
  });
});
