import { hostname } from 'node:os';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeExport, type ExportSource } from '../../faults/export-source.ts';
import { cleanUp, filesOf, newFolder, source } from '../../mirror/make.ts';
import { ended, killAtRandom, refetchGuard, slowSender, startNode } from '../killing.ts';
import type { ChildOptions } from '../mirror-child.ts';
import { startS3 } from '../../support/s3.ts';
import { objectsIn, sha256, uploadsIn } from './make.ts';
import { tries } from '../../support/deep.ts';

const s3 = await startS3();
afterEach(cleanUp);

/** A longer run sets the variable. */
const KILLS = tries(2);
const MIB = 1024 * 1024;
/** Files under way at once; what a killed run had of each is lost with it, for it lay in memory and in uploads. */
const AT_ONCE = 4;

const startIn = (server: ExportSource, bucket: string, options: ChildOptions = {}) =>
  startNode('mirror-child.ts', [server.url, s3.url(bucket, 'a'), JSON.stringify(options)], s3.env);

// Each kill must find its process holding the lease of the one before, and take it over: all are of this machine.
it.each([
  ['', {}],
  [' as a bag', { bagit: true }],
  [' with a store', { store: '' }],
] as const)(
  'a mirror into S3 that is killed at any moment leaves only verified objects%s, and the next run completes it',
  { timeout: 900_000 },
  async (_, given: ChildOptions) => {
    const bucket = await s3.bucket();
    const store = given.store === undefined ? undefined : await newFolder();
    const options = { ...given, ...(store !== undefined && { store }) };
    const prefix = given.bagit === true ? 'a/data/' : 'a/';
    const made = makeExport({ parts: KILLS > 20 ? 12 : 3, reports: 1, bytes: 9 * MIB });
    const { slowly, sent } = slowSender(MIB / 4);
    const server = await source(made, slowly);
    const guard = refetchGuard(server);
    const look = async (): Promise<number> => {
      const objects = await objectsIn(s3, bucket);
      const here = [...made.files].filter(([path]) => objects.has(prefix + path));
      for (const [path, bytes] of here) expect(sha256(objects.get(prefix + path)!), path).toBe(sha256(bytes));
      if (objects.has(`${prefix}manifest.json`)) expect(here).toHaveLength(made.files.size);
      guard.note(here.map(([path]) => path));
      return here.length;
    };
    let killed = 0;
    for (let i = 0; i < KILLS; i++) {
      const one = await killAtRandom(startIn(server, bucket, options), server, { withinMs: 700 });
      if (one.killed) killed++;
      await look();
    }
    expect(killed).toBeGreaterThan(0);
    expect((await ended(startIn(server, bucket, options))).said).toBe('complete');
    expect(await look()).toBe(made.files.size);
    expect(guard.again()).toEqual([]);
    const size = made.files.size * 9 * MIB;
    expect(sent()).toBeLessThanOrEqual(size + killed * AT_ONCE * 9 * MIB);
    if (KILLS > 20)
      process.stderr.write(`S3: ${killed} kills, files of ${size} bytes, ${sent()} bytes sent\n`);
    expect(await uploadsIn(s3, bucket)).toEqual([]);
    const own = [...(await objectsIn(s3, bucket)).keys()].filter((key) => key.includes('.drillproof'));
    expect(own).toEqual([]);
    if (store === undefined) return;
    expect(await readdir(join(store, 'tmp'))).toEqual([]);
    for (const [path, bytes] of await filesOf(join(store, 'sha256')))
      expect(sha256(bytes).slice('sha256:'.length)).toBe(path.slice(3));
  },
);

describe('two mirrors of one export into one prefix, in two processes', () => {
  const made = makeExport({ parts: 6, reports: 1, bytes: 20_000 });

  /** A source that holds every part back until it is told, so that whoever asks first holds the prefix. */
  async function heldSource() {
    let open = false;
    const { slowly } = slowSender();
    const server = await source(made, (request) => (open ? slowly(request) : made.files.has(request.path)));
    return { server, release: () => void (open = true) };
  }
  it('the second reports the process of the first, and takes over when it is killed', async () => {
    const [{ server, release }, bucket] = [await heldSource(), await s3.bucket()];
    const holder = startIn(server, bucket);
    await expect
      .poll(() => server.seen.some(({ url }) => url.includes('/parts/')), { timeout: 30_000 })
      .toBe(true);
    const second = await ended(startIn(server, bucket));
    expect([second.code, second.said.split(':')[0]]).toEqual([3, 'io.LOCKED']);
    expect(second.said).toContain(`process ${holder.pid} on ${hostname()}`);
    const waiting = ended(startIn(server, bucket, { waitMs: 60_000 }));
    await expect.poll(() => server.requests('export.json').length, { timeout: 30_000 }).toBe(3);
    const end = ended(holder);
    holder.kill('SIGKILL');
    await end;
    release();
    expect((await waiting).said).toBe('complete');
    const objects = await objectsIn(s3, bucket);
    for (const [path, bytes] of made.files) expect(sha256(objects.get(`a/${path}`)!)).toBe(sha256(bytes));
  });

  it('the second waits if requested, and both complete', async () => {
    const bucket = await s3.bucket();
    const { slowly, sent } = slowSender();
    const server = await source(made, slowly);
    const both = [1, 2].map(() => ended(startIn(server, bucket, { waitMs: 60_000 })));
    for (const { said } of await Promise.all(both)) expect(said).toBe('complete');
    expect(sent()).toBe(made.files.size * 20_000);
  });
});
