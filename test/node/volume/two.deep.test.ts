import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeExport, type ExportSource } from '../../faults/export-source.ts';
import { cleanUp, newFolder, source } from '../../mirror/make.ts';
import { ended, expectProven, slowSender, startNode } from '../killing.ts';
import type { ChildOptions } from '../mirror-child.ts';

afterEach(cleanUp);
const made = makeExport({ parts: 6, reports: 1, bytes: 20_000 });

const startIn = (server: ExportSource, folder: string, options: ChildOptions = {}) =>
  startNode('mirror-child.ts', [server.url, folder, JSON.stringify(options)]);

/** A source that holds every part back until it is told, so that whoever asks first holds the folder. */
async function heldSource() {
  let open = false;
  const { slowly } = slowSender();
  const server = await source(made, (request) => {
    if (open || !made.files.has(request.path)) return slowly(request);
    request.response.on('close', () => undefined);
    return true;
  });
  return { server, release: () => void (open = true) };
}

/** Starts a mirror and waits until it asks for parts: by then it holds the folder. */
async function startHolder(server: ExportSource, folder: string) {
  const child = startIn(server, folder);
  await expect
    .poll(() => server.seen.filter(({ url }) => url.includes('/parts/')).length, { timeout: 20_000 })
    .toBeGreaterThan(0);
  return child;
}

describe('two mirrors of one export into one folder, in two processes', () => {
  it('the second reports the process and host of the first, and changes nothing', async () => {
    const [{ server }, folder] = [await heldSource(), await newFolder()];
    const holder = await startHolder(server, folder);
    const lock = await readFile(join(folder, '.drillproof-mirror', 'lock'), 'utf8');
    const second = await ended(startIn(server, folder));
    expect(second.code).toBe(3);
    expect(second.said).toContain('io.LOCKED');
    expect(second.said).toContain(`process ${holder.pid} on ${hostname()}`);
    expect(await readFile(join(folder, '.drillproof-mirror', 'lock'), 'utf8')).toBe(lock);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  });

  it('the second waits if requested, and verifies the files of the first', async () => {
    const folder = await newFolder();
    const { slowly, sent } = slowSender();
    const server = await source(made, slowly);
    const both = [startIn(server, folder, { waitMs: 60_000 }), startIn(server, folder, { waitMs: 60_000 })];
    for (const { said, code } of await Promise.all(both.map(ended)))
      expect([said, code]).toEqual(['complete', 0]);
    expect(sent()).toBe(made.files.size * 20_000);
    expect((await expectProven(made, folder)).length).toBe(made.files.size);
  });

  it('the second takes over when the first is killed, waiting or started later', async () => {
    const [{ server, release }, folder] = [await heldSource(), await newFolder()];
    const first = await startHolder(server, folder);
    const waiting = ended(startIn(server, folder, { waitMs: 60_000 }));
    await expect.poll(() => server.requests('export.json').length, { timeout: 20_000 }).toBe(2);
    first.kill('SIGKILL');
    await once(first, 'exit');
    release();
    expect((await waiting).said).toBe('complete');
    expect((await ended(startIn(server, folder))).said).toBe('complete');
    expect((await expectProven(made, folder)).length).toBe(made.files.size);
  });
});
