import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, it } from 'vitest';
import { makeExport } from '../../faults/export-source.ts';
import { cleanUp, source } from '../../mirror/make.ts';
import { needS3, objectsIn, sha256, uploadsIn } from './make.ts';

const s3 = await needS3();
afterAll(() => s3.stop());
afterEach(cleanUp);

const CHILD = fileURLToPath(new URL('mirror-child.ts', import.meta.url));
/** A longer run sets the variable. */
const KILLS = Number(process.env['DRILLPROOF_TEST_KILLS'] ?? 6);
const MIB = 1024 * 1024;

// Each kill must find its process holding the lease of the one before, and take it over: all are of this machine.
it.runIf(process.platform === 'linux')(
  'a mirror into S3 that is killed at any moment leaves only proven objects, and the next run completes it',
  { timeout: 600_000 },
  async () => {
    const bucket = await s3.bucket();
    const made = makeExport({ parts: 6, reports: 1, bytes: 9 * MIB });
    const server = await source(made);
    const start = () =>
      spawn(process.execPath, ['--conditions=drillproof:source', CHILD, server.url, s3.url(bucket, 'a')], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...s3.env },
      });
    const proven = new Map<string, number>();
    const look = async (): Promise<void> => {
      const objects = await objectsIn(s3, bucket);
      for (const [path, bytes] of made.files) {
        const here = objects.get(`a/${path}`);
        if (here === undefined) expect(objects.has('a/manifest.json')).toBe(false);
        else {
          expect(sha256(here), path).toBe(sha256(bytes));
          proven.set(path, proven.get(path) ?? server.requests(path).length);
        }
      }
    };
    let killed = 0;
    for (let i = 0; i < KILLS; i++) {
      const before = server.seen.length;
      const child = start();
      const exited = once(child, 'exit');
      await expect
        .poll(() => server.seen.length > before || child.exitCode !== null, { interval: 1, timeout: 20_000 })
        .toBe(true);
      const delayMs = Math.random() * 700;
      await Promise.race([exited, new Promise((resolve) => void setTimeout(resolve, delayMs))]);
      child.kill('SIGKILL');
      const [, signal] = await exited;
      if (signal === 'SIGKILL') killed++;
      await look();
    }
    expect(killed).toBeGreaterThan(0);
    const last = start();
    let said = '';
    for (const stream of [last.stdout, last.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
    await once(last, 'close');
    expect(said).toBe('complete');
    for (const [path, times] of proven) expect(server.requests(path).length, path).toBe(times);
    await look();
    expect(proven.size).toBe(made.files.size);
    expect(await uploadsIn(s3, bucket)).toEqual([]);
    expect([...(await objectsIn(s3, bucket)).keys()].filter((key) => key.includes('.drillproof'))).toEqual(
      [],
    );
  },
);
