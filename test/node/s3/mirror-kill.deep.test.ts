import { hostname } from 'node:os';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeExport, type ExportSource } from '../../faults/export-source.ts';
import { cleanUp, filesOf, newFolder, source } from '../../mirror/make.ts';
import { killAtRandom, makeRefetchGuard, makeSlowSender, startMirror, waitForEnd } from '../killing.ts';
import type { ChildOptions } from '../mirror-child.ts';
import { startS3 } from '../../support/s3.ts';
import { objectsIn, sha256, uploadsIn } from './make.ts';
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
  [' with a store', { store: '' }],
] as const)(
  'a mirror into S3 that is killed at any moment leaves only verified objects%s, and the next run completes it',
  { timeout: 900_000 },
  async (_, { store: withStore, ...variant }: ChildOptions) => {
    const bucket = await s3.bucket();
    const store = withStore === undefined ? undefined : await newFolder();
    const options = { ...variant, ...(store !== undefined && { store }) };
    const prefix = variant.bagit === true ? 'a/data/' : 'a/';
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
    expect((await waitForEnd(startIn(server, bucket, options))).output).toBe('complete');
    expect(await checkObjects()).toBe(sample.files.size);
    expect(guard.refetched()).toEqual([]);
    const size = sample.files.size * 9 * MIB;
    expect(sent()).toBeLessThanOrEqual(size + killed * CONCURRENCY * 9 * MIB);
    expect(await uploadsIn(s3, bucket)).toEqual([]);
    const remaining = [...(await objectsIn(s3, bucket)).keys()].filter((key) => key.includes('.drillproof'));
    expect(remaining).toEqual([]);
    if (store === undefined) return;
    expect(await readdir(join(store, 'tmp'))).toEqual([]);
    for (const [path, bytes] of await filesOf(join(store, 'sha256')))
      expect(sha256(bytes).slice('sha256:'.length)).toBe(path.slice(3));
  },
);

describe('two mirrors of one export into one prefix, in two processes', () => {
  const sample = makeExport({ parts: 6, reports: 1, bytes: 20_000 });

  /** A source that sends no part until it is released, so the first mirror keeps its lease. */
  async function makeHeldSource() {
    let open = false;
    const { sendSlowly } = makeSlowSender();
    const server = await source(sample, (request) =>
      open ? sendSlowly(request) : sample.files.has(request.path),
    );
    return { server, release: () => void (open = true) };
  }
  it('the second reports the process of the first, and takes over when it is killed', async () => {
    const [{ server, release }, bucket] = [await makeHeldSource(), await s3.bucket()];
    const holder = startIn(server, bucket);
    await expect
      .poll(() => server.seen.some(({ url }) => url.includes('/parts/')), { timeout: 30_000 })
      .toBe(true);
    const second = await waitForEnd(startIn(server, bucket));
    expect([second.code, second.output.split(':')[0]]).toEqual([3, 'io.LOCKED']);
    expect(second.output).toContain(`process ${holder.pid} on ${hostname()}`);
    const waiting = waitForEnd(startIn(server, bucket, { waitMs: 60_000 }));
    await expect.poll(() => server.requests('export.json').length, { timeout: 30_000 }).toBe(3);
    const end = waitForEnd(holder);
    holder.kill('SIGKILL');
    await end;
    release();
    expect((await waiting).output).toBe('complete');
    const objects = await objectsIn(s3, bucket);
    for (const [path, bytes] of sample.files) expect(sha256(objects.get(`a/${path}`)!)).toBe(sha256(bytes));
  });

  it('the second waits if requested, and both complete', async () => {
    const bucket = await s3.bucket();
    const { sendSlowly, sent } = makeSlowSender();
    const server = await source(sample, sendSlowly);
    const both = [1, 2].map(() => waitForEnd(startIn(server, bucket, { waitMs: 60_000 })));
    for (const { output } of await Promise.all(both)) expect(output).toBe('complete');
    expect(sent()).toBe(sample.files.size * 20_000);
  });
});
