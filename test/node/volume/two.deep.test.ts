import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeExport, type ExportSource } from '../../faults/export-source.ts';
import { cleanUp, newFolder, source } from '../../mirror/make.ts';
import { expectProven, makeSlowSender, startMirror, waitForEnd } from '../killing.ts';

afterEach(cleanUp);
const sample = makeExport({ parts: 6, reports: 1, bytes: 20_000 });

/** A source that sends no part until it is released, so the first mirror keeps its lock. */
async function makeHeldSource() {
  let open = false;
  const { sendSlowly } = makeSlowSender();
  const server = await source(sample, (request) => {
    if (open || !sample.files.has(request.path)) return sendSlowly(request);
    request.response.on('close', () => undefined);
    return true;
  });
  return { server, release: () => void (open = true) };
}

/** Starts a mirror and waits until it requests parts. Then it has the lock. */
async function startHolder(server: ExportSource, folder: string) {
  const child = startMirror(server, folder);
  await expect
    .poll(() => server.seen.filter(({ url }) => url.includes('/parts/')).length, { timeout: 20_000 })
    .toBeGreaterThan(0);
  return child;
}

describe('two mirrors of one export into one folder, in two processes', () => {
  it('the second reports the process and host of the first, and changes nothing', async () => {
    const [{ server }, folder] = [await makeHeldSource(), await newFolder()];
    const holder = await startHolder(server, folder);
    const lock = await readFile(join(folder, '.drillproof-mirror', 'lock'), 'utf8');
    const second = await waitForEnd(startMirror(server, folder));
    expect(second.code).toBe(3);
    expect(second.output).toContain('io.LOCKED');
    expect(second.output).toContain(`process ${holder.pid} on ${hostname()}`);
    expect(await readFile(join(folder, '.drillproof-mirror', 'lock'), 'utf8')).toBe(lock);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  });

  it('the second waits if requested, and verifies the files of the first', async () => {
    const folder = await newFolder();
    const { sendSlowly, sent } = makeSlowSender();
    const server = await source(sample, sendSlowly);
    const both = [
      startMirror(server, folder, { waitMs: 60_000 }),
      startMirror(server, folder, { waitMs: 60_000 }),
    ];
    for (const { output, code } of await Promise.all(both.map(waitForEnd)))
      expect([output, code]).toEqual(['complete', 0]);
    expect(sent()).toBe(sample.files.size * 20_000);
    expect((await expectProven(sample, folder)).length).toBe(sample.files.size);
  });

  it('the second takes over when the first is killed, waiting or started later', async () => {
    const [{ server, release }, folder] = [await makeHeldSource(), await newFolder()];
    const first = await startHolder(server, folder);
    const waiting = waitForEnd(startMirror(server, folder, { waitMs: 60_000 }));
    await expect.poll(() => server.requests('export.json').length, { timeout: 20_000 }).toBe(2);
    first.kill('SIGKILL');
    await once(first, 'exit');
    release();
    expect((await waiting).output).toBe('complete');
    expect((await waitForEnd(startMirror(server, folder))).output).toBe('complete');
    expect((await expectProven(sample, folder)).length).toBe(sample.files.size);
  });
});
