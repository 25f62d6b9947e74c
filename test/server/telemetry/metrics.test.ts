import { afterAll, beforeAll, expect, it } from 'vitest';
import { operationNames } from '../../../src/contract/operations/operations.ts';
import { listen, type Listening } from '../../../src/server/listen.ts';
import { ask, EXPORT, id, ingestExport, ORG, part, PROJECT, token } from '../make.ts';
import { parseExposition, type Sample } from './parse-exposition.ts';
import { wholeFile } from '../each-test.ts';
import { sendRaw } from '../socket.ts';
import { setTimeout } from 'node:timers/promises';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { notFound } from '../../../src/server/http/envelope.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { createMetrics } from '../../../src/server/telemetry/metrics.ts';

const plane = wholeFile({ requestBurst: 1000, requestsPerSecond: 0.001 });
let listening: Listening;
const PATH = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT}`;
const SECOND = id('evexp', 2);
const PART = `${PATH}/parts/${id('evidence', 1)}`;
let partBytes: number;

beforeAll(async () => {
  const archive = await part(1, { padding: 32 * 1024 * 1024 });
  partBytes = archive.length;
  await ingestExport(plane, { parts: [archive] });
  listening = await listen(plane.server);
});
afterAll(() => listening.close());

async function readSamples(name: string, labels: Record<string, string> = {}): Promise<Sample[]> {
  const response = await ask(plane, '/metrics');
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const families = [...parseExposition(await response.text()).values()];
  const samples = families.flatMap((family) => family.samples).filter((sample) => sample.name === name);
  return samples.filter((sample) =>
    Object.keys(labels).every((label) => sample.labels[label] === labels[label]),
  );
}
const sum = async (name: string, labels: Record<string, string> = {}): Promise<number> =>
  (await readSamples(name, labels)).reduce((total, { value }) => total + value, 0);

it('metrics need no token, use the text format, and report the version', async () => {
  expect(await readSamples('drillproof_build_info')).toEqual([
    { name: 'drillproof_build_info', labels: { version: 'unknown', node: process.version }, value: 1 },
  ]);
  expect((await ask(plane, '/metrics', { method: 'POST' })).status).toBe(405);
});

it('metrics count requests by operation and class of status, with their time', async () => {
  const operation = 'evidence.exports.read';
  const before = await sum('drillproof_http_requests_total', { operation });
  await ask(plane, PATH, { token: plane.token });
  await ask(plane, PATH.replace(EXPORT, id('evexp', 9)), { token: plane.token });
  await ask(plane, PATH);
  expect(await sum('drillproof_http_requests_total', { operation })).toBe(before + 3);
  expect(await sum('drillproof_http_requests_total', { operation, status: '4xx' })).toBe(2);
  const name = 'drillproof_http_request_duration_seconds';
  expect(await sum(`${name}_count`, { operation })).toBe(before + 3);
  const buckets = await readSamples(`${name}_bucket`, { operation });
  const bounds = buckets.map(({ labels }) => Number(labels['le']?.replace('+Inf', 'Infinity')));
  expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
});

it('metrics count the bytes of a download but none of HEAD, and its request until it has ended', async () => {
  const operation = 'evidence.exports.parts.download';
  const before = await sum('drillproof_http_response_bytes_total', { operation });
  const headers = { authorization: `Bearer ${plane.token}` };
  const response = await fetch(listening.url + PART, { headers });
  const reader = response.body!.getReader();
  await reader.read();
  expect(await sum('drillproof_http_requests_in_flight')).toBe(2); // the download and the request for metrics
  while (!(await reader.read()).done);
  await expect.poll(() => sum('drillproof_http_requests_in_flight')).toBe(1);
  await ask(plane, PART, { token: plane.token, method: 'HEAD' });
  expect(await sum('drillproof_http_response_bytes_total', { operation })).toBe(before + partBytes);
});

it('metrics count requests that were refused early, and paths without an operation', async () => {
  await sendRaw(listening.port, 'nonsense\r\n\r\n');
  expect(await sum('drillproof_http_requests_total', { operation: 'malformed', status: '4xx' })).toBe(1);
  await ask(plane, '/nothing');
  expect(await sum('drillproof_http_requests_total', { operation: 'unrouted' })).toBeGreaterThan(0);
});

it('metrics count requests refused by the rate limit', async () => {
  const slow = await token(plane);
  for (let i = 0; i < 1000; i++) await ask(plane, PATH, { token: slow });
  expect(await sum('drillproof_http_rate_limited_total')).toBe(0);
  expect((await ask(plane, PATH, { token: slow })).status).toBe(429);
  expect(await sum('drillproof_http_rate_limited_total')).toBe(1);
});

it('metrics report queued work by kind', async () => {
  await plane.admin.deleteExport({ organizationId: ORG, evidenceExportId: EXPORT });
  plane.clock.nowMs += 5_000;
  const kind = 'evidence.export.delete';
  expect(await sum('drillproof_queue_operations', { kind, state: 'waiting' })).toBe(1);
  expect(await sum('drillproof_queue_operations', { kind, state: 'running' })).toBe(0);
  expect(await sum('drillproof_queue_readable')).toBe(1);
});

it('metrics report how long the oldest work waits, also that of which a lease expired', async () => {
  const kind = 'evidence.export.delete';
  const readOldest = async (afterMs: number): Promise<number> => {
    plane.clock.nowMs += afterMs;
    return sum('drillproof_queue_oldest_seconds', { kind });
  };
  const before = await readOldest(2_000);
  expect(await readOldest(3_000)).toBe(before + 3);
  const claim = { kinds: [kind], worker: 'w', leaseMs: 5_000 };
  await plane.store.claimJob({ ...claim, nowMs: plane.clock.nowMs });
  expect(await readOldest(4_999)).toBe(0);
  expect(await readOldest(2_001)).toBe(before + 10);
});

it('metrics report running transfers, and how many there may be', async () => {
  const kind = 'downloads';
  const path = PART.replace(EXPORT, SECOND);
  await ingestExport(plane, {
    parts: [await part(2, { padding: 32 * 1024 * 1024 })],
    evidenceExportId: SECOND,
  });
  const headers = { authorization: `Bearer ${plane.token}` };
  const response = await fetch(listening.url + path.replace(id('evidence', 1), id('evidence', 2)), {
    headers,
  });
  const reader = response.body!.getReader();
  await reader.read();
  expect(await sum('drillproof_transfers', { kind })).toBe(1);
  expect(await sum('drillproof_transfers', { kind: 'uploads' })).toBe(0);
  expect(await sum('drillproof_transfers_limit', { kind })).toBe(256);
  while (!(await reader.read()).done);
  await expect.poll(() => sum('drillproof_transfers', { kind })).toBe(0);
});

it('metrics report the bytes that rows name every five minutes, and the last backup', async () => {
  const readNow = async (afterMs: number): Promise<readonly number[]> => {
    plane.clock.nowMs += afterMs;
    const kind = 'bundles';
    return [
      await sum('drillproof_stored_bytes', { kind }),
      await sum('drillproof_last_backup_timestamp_seconds'),
    ];
  };
  const [before, none] = await readNow(300_000);
  expect(none).toBe(0);
  await plane.admin.ingestBundle(PROJECT, memoryAccess(await part(3)));
  await plane.store.transaction(({ meta }) => meta.noteBackup(5_000));
  expect(await readNow(299_999)).toEqual([before, 0]);
  const [after, backup] = await readNow(1);
  expect(after).toBeGreaterThan(before!);
  expect(backup).toBe(5);
});

it('metrics count the calls of the storage, and only its own failures', async () => {
  const called = (labels: Record<string, string>) =>
    sum('drillproof_storage_call_duration_seconds_count', labels);
  const [reads, opens] = [await called({ call: 'read' }), await called({ call: 'open' })];
  await ask(plane, `${PATH.replace(EXPORT, SECOND)}/manifest`, { token: plane.token });
  expect(await called({ storage: 'database', call: 'read' })).toBeGreaterThan(reads);
  expect(await called({ storage: 'blobs', call: 'open' })).toBe(opens + 1);
  await ask(plane, PATH, { token: `dp_${'x'.repeat(43)}` });
  expect(await sum('drillproof_storage_errors_total')).toBe(0);
  const failing = [new DrillproofError('io.DISK_FULL', 'full'), new Error('a fault'), notFound()];
  const metrics = createMetrics({ version: '1', node: '2' });
  for (const error of failing) {
    const broken: Store = { ...plane.store, transaction: () => Promise.reject(error) };
    const { store } = metrics.measure({ store: broken, blobs: plane.blobs });
    await expect(store.transaction(async () => undefined)).rejects.toBe(error);
  }
  const lines = metrics.text({}).match(/^drillproof_storage_errors_total.*$/gm);
  expect(lines).toEqual([
    'drillproof_storage_errors_total{storage="database",code="io.DISK_FULL"} 1',
    'drillproof_storage_errors_total{storage="database",code="other"} 1',
  ]);
});

it('metrics report the process, a late event loop, and pauses for garbage collection', async () => {
  const [cpu, rss] = [await sum('process_cpu_seconds_total'), await sum('process_resident_memory_bytes')];
  expect([cpu > 0, rss > 1e6, (await sum('nodejs_heap_size_used_bytes')) > 1e6]).toEqual([true, true, true]);
  expect(await sum('process_start_time_seconds')).toBeLessThanOrEqual(Date.now() / 1000);
  await setTimeout(30); // the monitor has measured at least once since the last look
  const startedMs = performance.now();
  while (performance.now() - startedMs < 200);
  await setTimeout(30);
  expect(await sum('nodejs_eventloop_lag_seconds', { percentile: '100' })).toBeGreaterThan(0.1);
  const pauses = async (): Promise<number> => {
    for (let n = 0; n < 100; n++) structuredClone(Array.from({ length: 10_000 }, () => ({})));
    return sum('nodejs_gc_duration_seconds_count');
  };
  await expect.poll(pauses).toBeGreaterThan(0);
});

it('metric labels contain only fixed words, never an id, token, address or path', async () => {
  for (const path of ['/v1/projects/prj_secret000000/x', `/${'x'.repeat(50)}`, PART])
    await ask(plane, `${path}?q=dp_${'s'.repeat(43)}`, { token: plane.token });
  const text = await (await ask(plane, '/metrics')).text();
  const others = ['openapi', 'healthz', 'readyz', 'metrics', 'unrouted', 'malformed'];
  const patterns: Readonly<Record<string, RegExp>> = {
    operation: new RegExp(`^(${[...operationNames, ...others].join('|')})$`),
    status: /^[1-5]xx$/,
    kind: /^[a-z._]+$/,
    state: /^(waiting|running)$/,
    storage: /^(database|blobs)$/,
    call: /^[a-zA-Z]+$/,
    percentile: /^(50|99|100)$/,
    le: /^(\+Inf|[0-9.]+)$/,
    version: /^unknown$/,
    node: /^v\d+\.\d+\.\d+$/,
  };
  const samples = [...parseExposition(text).values()].flatMap((family) => family.samples);
  for (const [label, value] of samples.flatMap(({ labels }) => Object.entries(labels)))
    expect(value, label).toMatch(patterns[label]!);
  expect(text).not.toMatch(/prj_|evexp_|dp_|127\.0\.0\.1/);
});
