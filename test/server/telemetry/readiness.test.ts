import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { createServer } from '../../../src/server/index.ts';
import { createReadiness } from '../../../src/server/telemetry/readiness.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, EXPORT, ingestedExport, ORG } from '../make.ts';
import { codeOf } from '../thrown.ts';
import { eachTest } from '../each-test.ts';

const plane = eachTest();

const failing = (error: Error) => (): Promise<never> => Promise.reject(error);

/** Long enough for the next look to be a new one. */
const later = () => (plane.clock.nowMs += 2_000);
const checksOf = async () => {
  const { details } = await expectEnvelope(await ask(plane, '/readyz'), 'control.UNAVAILABLE');
  return details?.['checks'];
};

const setSchema = (version: string): void => {
  const database = new DatabaseSync(join(plane.folder, 'store.sqlite'));
  database.prepare("UPDATE meta SET value = ? WHERE name = 'schema_version'").run(version);
  database.close();
};

describe('/readyz', () => {
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

  it('answers 503 with the envelope when the blobs cannot be reached, and 200 when they can again', async () => {
    await rm(join(plane.folder, 'tmp'), { recursive: true });
    expect(await checksOf()).toEqual({ store: 'ok', schema: 'ok', blobs: 'unreachable', process: 'ok' });
    expect((await ask(plane, '/healthz')).status).toBe(200);
    expect(plane.log).toMatchObject([
      { level: 'warn', event: 'readiness.failed', facts: { check: 'blobs' } },
    ]);
    await mkdir(join(plane.folder, 'tmp'));
    later();
    expect((await ask(plane, '/readyz')).status).toBe(200);
  });

  it('answers 503 when the schema is that of an older program', async () => {
    setSchema('0');
    expect(await checksOf()).toMatchObject({ store: 'ok', schema: 'older' });
  });

  it('stays ready when another process moved the schema on, so that an update can roll', async () => {
    setSchema('99');
    const response = await ask(plane, '/readyz');
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({ checks: expect.objectContaining({ schema: 'newer' }) }),
    ]);
  });

  it('readiness answers 503 without the reason when the store does not answer', async () => {
    const schema = failing(new Error('host db.internal password hunter2'));
    const server = createServer({ blobs: plane.blobs, store: { ...plane.store, schema } });
    const response = await ask({ server }, '/readyz');
    const text = await response.clone().text();
    expect((await expectEnvelope(response)).details).toMatchObject({ checks: { store: 'unreachable' } });
    expect(text).not.toMatch(/hunter2|db\.internal/);
  });

  it('readiness reports whether a worker for queued work was seen', async () => {
    await ingestedExport(plane);
    await plane.admin.deleteExport({ organizationId: ORG, evidenceExportId: EXPORT });
    const queue = async () => {
      later();
      return ((await (await ask(plane, '/readyz')).json()) as { queue: unknown }).queue;
    };
    const kind = 'evidence.export.delete';
    expect(await queue()).toEqual([{ kind, waiting: 1, running: 0, worker: 'not_seen' }]);
    const claim = { worker: 'w', leaseMs: 10_000 };
    await plane.store.claimJob({ ...claim, kinds: ['run.rerun'], nowMs: plane.clock.nowMs });
    expect(await queue()).toEqual([{ kind, waiting: 1, running: 0, worker: 'not_seen' }]);
    await plane.store.claimJob({ ...claim, kinds: [kind, 'run.rerun'], nowMs: plane.clock.nowMs });
    expect(await queue()).toEqual([{ kind, waiting: 0, running: 1, worker: 'seen' }]);
    plane.clock.nowMs += 60_000; // the lease is over, and nobody has come since
    expect(await queue()).toEqual([{ kind, waiting: 1, running: 0, worker: 'not_seen' }]);
  });

  it('readiness answers 503 while the process stops, and other requests are still answered', async () => {
    plane.server.stopping();
    expect(await checksOf()).toMatchObject({ store: 'ok', process: 'stopping' });
    expect((await ask(plane, '/healthz')).status).toBe(200);
    expect((await ask(plane, '/openapi.json')).status).toBe(200);
  });
});

it('readiness is shared by all requests within a second, so that they cannot load the storage', async () => {
  let looks = 0;
  const blobs = { ...plane.blobs, ping: async () => void looks++ };
  const probe = createReadiness({ ...plane, blobs, now: () => plane.clock.nowMs, log: () => undefined });
  await Promise.all(Array.from({ length: 100 }, () => probe.assertReady()));
  plane.clock.nowMs += 999;
  await probe.look();
  expect(looks).toBe(1);
  plane.clock.nowMs += 1;
  await probe.look();
  expect(looks).toBe(2);
});

it('readiness reports a timeout when the storage hangs', async () => {
  const blobs = { ...plane.blobs, ping: () => new Promise<void>(() => undefined) };
  const options = { ...plane, blobs, now: () => plane.clock.nowMs, log: () => undefined, timeoutMs: 20 };
  const probe = createReadiness(options);
  expect((await probe.look()).checks.blobs).toBe('timeout');
  expect(await codeOf(probe.assertReady())).toBe('control.UNAVAILABLE');
});

it('the queue is unknown, not empty, when the store is unavailable', async () => {
  const count = failing(new DrillproofError('control.UNAVAILABLE', 'away'));
  const options = {
    ...plane,
    store: { ...plane.store, jobs: { ...plane.store.jobs, count } },
    now: () => plane.clock.nowMs,
    log: () => undefined,
  };
  expect(await createReadiness(options).queueDepths()).toBeUndefined();
});
