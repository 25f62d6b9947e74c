import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { makeExport, type ExportSource, type TestExport } from '../../faults/export-source.ts';
import { source } from '../../mirror/make.ts';
import { makeSlowSender, waitForEnd } from '../killing.ts';
import type { ChildOptions } from '../mirror-child.ts';

/** A new place for a mirror. */
type Place = {
  /** Starts a process that mirrors into it. */
  readonly start: (server: ExportSource, options?: ChildOptions) => ChildProcess;
  /** Reads the lock; absent if it changes while it is held. */
  readonly readLock?: () => Promise<string>;
  /** Expects a complete mirror of the export. */
  readonly expectComplete: (sample: TestExport) => Promise<void>;
};

const sample = makeExport({ parts: 6, reports: 1, bytes: 20_000 });
const WAIT = { waitMs: 60_000 };
const POLL = { timeout: 30_000 };

/** A source that sends no part until it is released, so the first mirror keeps its lock. */
async function makeHeldSource() {
  let open = false;
  const { sendSlowly } = makeSlowSender();
  const server = await source(sample, (request) =>
    open ? sendSlowly(request) : sample.files.has(request.path),
  );
  return { server, release: () => void (open = true) };
}

/** Starts a mirror and waits until it requests parts. Then it has the lock. */
async function startHolder({ start }: Place, server: ExportSource): Promise<ChildProcess> {
  const child = start(server);
  await expect.poll(() => server.seen.some(({ url }) => url.includes('/parts/')), POLL).toBe(true);
  return child;
}

/** Tests two processes that mirror one export into one place. */
export function testTwoMirrors(kind: string, makePlace: () => Promise<Place>): void {
  describe(`two mirrors of one export into one ${kind}, in two processes`, () => {
    it('the second reports the process and host of the first, and does not change the lock', async () => {
      const [{ server }, place] = [await makeHeldSource(), await makePlace()];
      const holder = await startHolder(place, server);
      const lock = await place.readLock?.();
      const second = await waitForEnd(place.start(server));
      expect(second.code).toBe(3);
      expect(second.output).toContain('io.LOCKED');
      expect(second.output).toContain(`process ${holder.pid} on ${hostname()}`);
      expect(await place.readLock?.()).toBe(lock);
      holder.kill('SIGKILL');
      await once(holder, 'exit');
    });

    it('the second waits if requested, and verifies the files of the first', async () => {
      const place = await makePlace();
      const { sendSlowly, sent } = makeSlowSender();
      const server = await source(sample, sendSlowly);
      const both = [1, 2].map(() => waitForEnd(place.start(server, WAIT)));
      for (const { output, code } of await Promise.all(both)) expect([output, code]).toEqual(['complete', 0]);
      expect(sent()).toBe(sample.files.size * 20_000);
      await place.expectComplete(sample);
    });

    it('the second takes over when the first is killed, waiting or started later', async () => {
      const [{ server, release }, place] = [await makeHeldSource(), await makePlace()];
      const first = await startHolder(place, server);
      const waiting = waitForEnd(place.start(server, WAIT));
      await expect.poll(() => server.requests('export.json').length, POLL).toBe(2);
      first.kill('SIGKILL');
      await once(first, 'exit');
      release();
      expect((await waiting).output).toBe('complete');
      expect((await waitForEnd(place.start(server))).output).toBe('complete');
      await place.expectComplete(sample);
    });
  });
}
