import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, vi } from 'vitest';
import { createReadiness } from '../../../src/server/telemetry/readiness.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, EXPORT, ingestExport, ORG, serverOn } from '../make.ts';
import { codeOf } from '../thrown.ts';
import { eachTest } from '../each-test.ts';

const plane = eachTest();

const failWith = (error: Error) => (): Promise<never> => Promise.reject(error);

/** Lets so much time pass that the next request checks again. */
const passTime = () => (plane.clock.nowMs += 2_000);
const readChecks = async () => {
  const { details } = await expectEnvelope(ask(plane, '/readyz'), 'control.UNAVAILABLE');
  return details?.['checks'];
};

const setSchema = (version: string): void => {
  const database = new DatabaseSync(join(plane.folder, 'store.sqlite'));
  database.prepare("UPDATE meta SET value = ? WHERE name = 'schema_version'").run(version);
  database.close();
};

it('readiness answers 200 without a token while store, schema and blobs answer', async () => {
  const response = await ask(plane, '/readyz');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    status: 'ready',
    checks: { store: 'ok', schema: 'ok', blobs: 'ok', process: 'ok' },
    queue: [],
  });
  expect((await ask(plane, '/healthz')).status).toBe(200);
});

it('readiness answers 503 while the blobs cannot be reached, and then 200 again', async () => {
  await rm(join(plane.folder, 'tmp'), { recursive: true });
  expect(await readChecks()).toEqual({ store: 'ok', schema: 'ok', blobs: 'unreachable', process: 'ok' });
  expect((await ask(plane, '/healthz')).status).toBe(200);
  expect(plane.log).toMatchObject([{ level: 'warn', event: 'readiness.failed', facts: { check: 'blobs' } }]);
  await mkdir(join(plane.folder, 'tmp'));
  passTime();
  expect((await ask(plane, '/readyz')).status).toBe(200);
});

it('readiness answers 503 for a schema older than the program, and 200 for a newer one during updates', async () => {
  setSchema('0');
  expect(await readChecks()).toMatchObject({ store: 'ok', schema: 'older' });
  setSchema('99');
  passTime();
  const response = await ask(plane, '/readyz');
  expect([response.status, await response.json()]).toMatchObject([200, { checks: { schema: 'newer' } }]);
});

it('readiness answers 503 without the reason when the store does not answer', async () => {
  const schema = failWith(new Error('host db.internal password hunter2'));
  const server = serverOn(plane, { store: { ...plane.store, schema } });
  const response = await ask({ server }, '/readyz');
  const text = await response.clone().text();
  expect((await expectEnvelope(response)).details).toMatchObject({ checks: { store: 'unreachable' } });
  expect(text).not.toMatch(/hunter2|db\.internal/);
});

it('readiness reports whether a worker for queued work was seen', async () => {
  await ingestExport(plane);
  await plane.admin.deleteExport({ organizationId: ORG, evidenceExportId: EXPORT });
  const queue = async () => {
    passTime();
    return ((await (await ask(plane, '/readyz')).json()) as { queue: unknown }).queue;
  };
  const kind = 'evidence.export.delete';
  const oldestMs = expect.any(Number);
  const waiting = [{ kind, waiting: 1, running: 0, oldestMs, worker: 'not_seen' }];
  const claim = (...kinds: string[]) =>
    plane.store.claimJob({ kinds, worker: 'w', leaseMs: 10_000, nowMs: plane.clock.nowMs });
  expect(await queue()).toEqual(waiting);
  await claim('run.rerun');
  expect(await queue()).toEqual(waiting);
  await claim(kind, 'run.rerun');
  expect(await queue()).toEqual([{ kind, waiting: 0, running: 1, oldestMs: 0, worker: 'seen' }]);
  plane.clock.nowMs += 60_000; // the lease has expired, and no worker polled since
  expect(await queue()).toEqual(waiting);
});

it('readiness answers 503 while the process stops, and other requests are still answered', async () => {
  plane.server.stopping();
  expect(await readChecks()).toMatchObject({ store: 'ok', process: 'stopping' });
  expect((await ask(plane, '/healthz')).status).toBe(200);
  expect((await ask(plane, '/openapi.json')).status).toBe(200);
});

const options = () => ({ ...plane, now: () => plane.clock.nowMs, log: () => undefined });

it('readiness is shared by all requests within a second, so that they cannot load the storage', async () => {
  const ping = vi.fn<() => Promise<void>>(async () => undefined);
  const probe = createReadiness({ ...options(), blobs: { ...plane.blobs, ping } });
  await Promise.all(Array.from({ length: 100 }, () => probe.assertReady()));
  plane.clock.nowMs += 999;
  await probe.look();
  expect(ping).toHaveBeenCalledTimes(1);
  plane.clock.nowMs += 1;
  await probe.look();
  expect(ping).toHaveBeenCalledTimes(2);
});

it('readiness reports a timeout when the storage hangs', async () => {
  const blobs = { ...plane.blobs, ping: () => new Promise<void>(() => undefined) };
  const probe = createReadiness({ ...options(), blobs, timeoutMs: 20 });
  expect((await probe.look()).checks.blobs).toBe('timeout');
  expect(await codeOf(probe.assertReady())).toBe('control.UNAVAILABLE');
});

it('the queue is unknown, not empty, when the store is unavailable', async () => {
  const count = failWith(new DrillproofError('control.UNAVAILABLE', 'away'));
  const store = { ...plane.store, jobs: { ...plane.store.jobs, count } };
  expect((await createReadiness({ ...options(), store }).snapshot()).queue).toBeUndefined();
});
