import { afterAll, beforeAll, expect, it } from 'vitest';
import { operationNames } from '../../../src/contract/operations/operations.ts';
import { listen, type Listening } from '../../../src/server/listen.ts';
import { ask, EXPORT, id, ingestExport, ORG, part, PROJECT, token } from '../make.ts';
import { parseExposition, type Sample } from './parse-exposition.ts';
import { wholeFile } from '../each-test.ts';
import { sendRaw } from '../socket.ts';

const plane = wholeFile({ requestBurst: 1000, requestsPerSecond: 0.001 });
let listening: Listening;
const PATH = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT}`;
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

it('metric labels contain only fixed words, never an id, token, address or path', async () => {
  for (const path of ['/v1/projects/prj_secret000000/x', `/${'x'.repeat(50)}`, PART])
    await ask(plane, `${path}?q=dp_${'s'.repeat(43)}`, { token: plane.token });
  const text = await (await ask(plane, '/metrics')).text();
  const others = ['openapi', 'healthz', 'readyz', 'metrics', 'unrouted', 'malformed'];
  const patterns: Readonly<Record<string, RegExp>> = {
    operation: new RegExp(`^(${[...operationNames, ...others].join('|')})$`),
    status: /^[1-5]xx$/,
    kind: /^[a-z.]+$/,
    state: /^(waiting|running)$/,
    le: /^(\+Inf|[0-9.]+)$/,
    version: /^unknown$/,
    node: /^v\d+\.\d+\.\d+$/,
  };
  const samples = [...parseExposition(text).values()].flatMap((family) => family.samples);
  for (const [label, value] of samples.flatMap(({ labels }) => Object.entries(labels)))
    expect(value, label).toMatch(patterns[label]!);
  expect(text).not.toMatch(/prj_|evexp_|dp_|127\.0\.0\.1/);
});
