import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { makeExport, type ExportSource } from '../../faults/export-source.ts';
import { cleanUp, source } from '../../mirror/make.ts';
import { killAtRandom, makeRefetchGuard, makeSlowSender, startMirror, waitForEnd } from '../killing.ts';
import type { ChildOptions } from '../mirror-child.ts';
import { startS3 } from '../../support/s3.ts';
import { testTwoMirrors } from '../volume/two-suite.ts';
import { expectWhole, objectsIn, sha256 } from './make.ts';
import { tries } from '../../support/deep.ts';

const s3 = await startS3();
afterEach(cleanUp);

const KILLS = tries(2);
const MIB = 1024 * 1024;
/** The concurrency. A killed run loses the bytes of the files in progress, which are in memory and in uploads. */
const CONCURRENCY = 4;

const startIn = (server: ExportSource, bucket: string, options: ChildOptions = {}) =>
  startMirror(server, s3.url(bucket, 'a'), options, s3.env);

// Each run takes over the lease of the killed process, because all run on this machine.
it.each([
  ['', {}],
  [' as a bag', { bagit: true }],
] as const)(
  'a mirror into S3 that is killed at any moment leaves only verified objects%s, and the next run completes it',
  { timeout: 900_000 },
  async (_, options: ChildOptions) => {
    const bucket = await s3.bucket();
    const prefix = options.bagit === true ? 'a/data/' : 'a/';
    const sample = makeExport({ parts: KILLS > 20 ? 12 : 3, reports: 1, bytes: 9 * MIB });
    const { sendSlowly, sent } = makeSlowSender(MIB / 4);
    const server = await source(sample, sendSlowly);
    const guard = makeRefetchGuard(server);
    const checkObjects = async (): Promise<number> => {
      const objects = await objectsIn(s3, bucket);
      const stored = [...sample.files].filter(([path]) => objects.has(prefix + path));
      for (const [path, bytes] of stored)
        expect(sha256(objects.get(prefix + path)!), path).toBe(sha256(bytes));
      if (objects.has(`${prefix}manifest.json`)) expect(stored).toHaveLength(sample.files.size);
      guard.add(stored.map(([path]) => path));
      return stored.length;
    };
    let killed = 0;
    for (let i = 0; i < KILLS; i++) {
      const run = await killAtRandom(startIn(server, bucket, options), server, { withinMs: 700 });
      if (run.killed) killed++;
      await checkObjects();
    }
    expect(killed).toBeGreaterThan(0);
    await setTimeout(1000); // S3 may still handle the last requests of the killed process, such as the start of an upload
    expect((await waitForEnd(startIn(server, bucket, options))).output).toBe('complete');
    expect(await checkObjects()).toBe(sample.files.size);
    expect(guard.refetched()).toEqual([]);
    const size = sample.files.size * 9 * MIB;
    expect(sent()).toBeLessThanOrEqual(size + killed * CONCURRENCY * 9 * MIB);
    await expectWhole(s3, bucket, sample, prefix);
  },
);

testTwoMirrors('prefix', async () => {
  const bucket = await s3.bucket();
  return {
    start: (server, options) => startIn(server, bucket, options),
    expectComplete: (sample) => expectWhole(s3, bucket, sample, 'a/'),
  };
});
