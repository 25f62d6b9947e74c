import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { buildUploadSchema, toolSourceSchema } from '../../src/contract/resources/build.ts';
import { evidenceExportSchema } from '../../src/contract/resources/evidence.ts';
import { createLog } from '../../src/server/model/log.ts';
import { createServer } from '../../src/server/server.ts';
import { defaultLimits } from '../../src/server/model/limits.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import { defaultOf, settings, variableOf } from '../../src/cli/shared/input/settings.ts';
import { createMetrics } from '../../src/server/telemetry/metrics.ts';
import {
  buildArchive,
  EXPORT,
  id,
  ingestExport,
  part,
  PROJECT,
  createTenants,
  token,
  makePlane,
  type Plane,
} from '../server/make.ts';
import { drillproof, expectResult } from '../cli/make.ts';
import { isDeep } from '../support/deep.ts';
import { DrillproofError } from '../../src/errors.ts';
import { createTransferSlots } from '../../src/server/http/rate-limit.ts';
import { readAlerts } from './deployment.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { pasteIntoShell } from './start/programs.ts';

const page = readFileSync('docs/server/server.md', 'utf8');
const config = /^```nginx drillproof\.conf\n([\s\S]*?)\n```$/m.exec(page)?.[1] ?? '';

const failWrite = () => Promise.reject(new DrillproofError('io.DISK_FULL', 'full'));

it('docs/server/metrics.md has every metric with its labels, each with an alert, and no other', async () => {
  const metrics = createMetrics({ version: '1', node: '2' });
  metrics.began();
  metrics.ended({ operation: 'a', status: 200, seconds: 1, bytes: 1 });
  metrics.jobEnded('a.b', 'succeeded');
  const { store: working, blobs, close } = await makePlane();
  const { store } = metrics.measure({ store: { ...working, transaction: failWrite }, blobs });
  await expect(store.transaction()).rejects.toThrow('full');
  await close();
  const slots = createTransferSlots(1);
  const text = metrics.text({
    queue: [{ kind: 'a.b', waiting: 1, running: 0, oldestMs: 5 }],
    stored: [{ name: 'bundles', value: 1 }],
    backupAtMs: 0,
    pool: { open: 2, idle: 1, waiting: 0 },
    transfers: { downloads: slots },
  });
  const names = Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name);
  const alerts = new Map(readAlerts().map(({ alert, expr }) => [alert, expr]));
  const rows = Array.from(
    readFileSync('docs/server/metrics.md', 'utf8').matchAll(
      /^\| `((?:drillproof|process|nodejs)_\w+)` +\| ([^|]*)\|[^|]*\| (?:`(\w+)`|–) +\|$/gm,
    ),
    ([, name = '', labels = '', alert]) => ({
      name,
      labels: Array.from(labels.matchAll(/`(\w+)`/g), ([, label]) => label),
      alert,
    }),
  );
  expect(rows.map(({ name }) => name)).toEqual(names);
  for (const { name, labels, alert } of rows) {
    const sample = new RegExp(`^${name}(?:_sum)?(?:\\{(.*)\\})? `, 'm').exec(text)?.[1];
    const isHere = sample !== undefined || labels.length === 0;
    if (isHere || name !== 'nodejs_gc_duration_seconds')
      expect([name, Array.from((sample ?? '').matchAll(/(\w+)="/g), ([, label]) => label)]).toEqual([
        name,
        labels,
      ]);
    if (alert !== undefined) expect(alerts.get(alert), `${alert} of ${name}`).toContain(name);
  }
  expect(rows.filter(({ alert }) => alert === undefined).map(({ name }) => name)).toEqual([
    'drillproof_http_response_bytes_total',
  ]);
  const watching = new Set(rows.map(({ alert }) => alert));
  expect([...alerts.keys()].filter((alert) => !watching.has(alert))).toEqual(['Down']);
});

it('docs/server/server.md lists every setting of serve with its variable and default, and no other', () => {
  const rows = Array.from(
    page.matchAll(/^\| `--([a-z-]+)` +\| `([A-Z_]+)` +\| (\d+) +\|/gm),
    ([, name, variable, value]) => [name, variable, Number(value)],
  );
  const expected = settings.map((setting) => [setting.name, variableOf(setting), defaultOf(setting)]);
  expect(rows).toEqual(expected);
});

it('the first hour of docs/server/server.md serves and mirrors evidence that was packed elsewhere', async () => {
  const [, hour = ''] = /^```sh\n(drillproof pack [\s\S]*?)^```$/m.exec(page) ?? [];
  const { cwd, stdout } = await pasteIntoShell(
    hour.replace('serve', '$& --port 8080').replaceAll('8080', String(await freePort())),
  );
  expect(stdout).toMatch(/^VERIFIED evexp_0123456789ab: 1 of 1 part verified; list attested$/m);
  const [, metadata = ''] = /^```json report\.json\n([\s\S]*?)^```$/m.exec(page) ?? [];
  await writeFiles(cwd, { 'report.json': metadata, 'report.zip': 'opaque' });
  const ingest = 'admin ingest local-report report.zip --project prj_0123456789ab --metadata report.json';
  await expectResult(drillproof(ingest, { cwd }), 0, 'lrep_0123456789ab');
  const key = '--key key.pem --issuer acme-ci';
  await expectResult(
    drillproof(`export part.zip ${key} --report report.zip,meta=report.json --out second`, { cwd }),
    0,
  );
  for (const line of hour.match(/admin (?:org|project) .*/g)!)
    await expectResult(drillproof(`${line} --data other`, { cwd }), 0);
  for (const line of [ingest, 'admin ingest export second'])
    await expectResult(drillproof(`${line} --data other`, { cwd }), 0);
});

it('the nginx example of docs/server/server.md has timeouts that fit those of the server', () => {
  const { keepAliveTimeoutMs, stallTimeoutMs } = defaultLimits;
  expect(Number(/proxy_read_timeout (\d+)s/.exec(config)?.[1]) * 1000).toBeGreaterThan(stallTimeoutMs);
  expect(Number(/keepalive_timeout (\d+)s/.exec(config)?.[1]) * 1000).toBeLessThan(keepAliveTimeoutMs);
});

if (isDeep) {
  describe('the example of nginx (needs nginx)', async () => {
    const folder = await makeFolder();
    const port = await freePort();
    let plane: Plane;
    let bearer: string;
    let listening: Listening;
    let nginx: ChildProcess;
    let bytes: Uint8Array;
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    let errors = '';

    beforeAll(async () => {
      plane = await makePlane();
      await createTenants(plane);
      bearer = await token(plane);
      bytes = await part(1, { padding: 8 * 1024 * 1024 });
      await ingestExport(plane, { parts: [bytes] });
      const log = createLog({ level: 'debug', format: 'json', write, now: Date.now });
      const { store, blobs, clock } = plane;
      const publicUrl = `https://control.example:${port}`;
      const options = { store, blobs, now: () => clock.nowMs, log, publicUrl, trustProxy: true };
      listening = await listen(createServer(options));
      await startNginx();
      await vi.waitFor(async () => expect((await get('/healthz')).status).toBe(200), 5_000);
    });
    afterAll(async () => {
      nginx?.kill('SIGTERM');
      if (nginx?.exitCode === null) await once(nginx, 'exit');
      await listening?.close();
      await plane?.close();
    });

    /** Starts nginx with the example, changed only in its port, the address behind it and its paths. */
    async function startNginx(): Promise<void> {
      const [pem, key] = [join(folder, 'control.example.pem'), join(folder, 'control.example.key')];
      const name = '-subj /CN=control.example -addext subjectAltName=DNS:control.example';
      const line = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 ${name}`;
      execFileSync('openssl', [...line.split(' '), '-keyout', key, '-out', pem], { stdio: 'ignore' });
      const changes: [string, string][] = [
        ['127.0.0.1:8080', `127.0.0.1:${listening.port}`],
        ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
        ['/etc/ssl/control.example.pem', pem],
        ['/etc/ssl/control.example.key', key],
        ['/var/log/nginx/drillproof.log', join(folder, 'access.log')],
      ];
      let text = config;
      for (const [shown, replacement] of changes) {
        expect(text.split(shown)).toHaveLength(2);
        text = text.replace(shown, replacement);
      }
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${join(folder, kind)};`,
      );
      const main = `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} pid ${join(folder, 'pid')};
      error_log stderr; events {} http { ${temporary.join(' ')} include ${join(folder, 'drillproof.conf')}; }`;
      await writeFiles(folder, { 'drillproof.conf': text, 'nginx.conf': main });
      const args = ['-p', folder, '-c', join(folder, 'nginx.conf')];
      nginx = spawn('nginx', args, { stdio: ['ignore', 'ignore', 'pipe'] });
      nginx.stderr?.on('data', (chunk) => (errors += String(chunk)));
    }

    type Call = {
      readonly method?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: Uint8Array | string;
    };
    type Answer = { status: number; headers: Record<string, unknown>; body: Buffer };

    async function get(path: string, { body, headers, method }: Call = {}): Promise<Answer> {
      const ca = readFileSync(join(folder, 'control.example.pem'));
      const address = { host: '127.0.0.1', port, servername: 'control.example', ca, path };
      const sent = { host: 'control.example', authorization: `Bearer ${bearer}`, ...headers };
      const outgoing = request({ ...address, headers: sent, method }).end(body);
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      const chunks = (await response.toArray()) as Buffer[];
      return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
    }
    const json = ({ body }: Answer): unknown => JSON.parse(String(body));

    it('the nginx example serves reads, whole downloads and ranges over TLS', async () => {
      const path = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT}`;
      evidenceExportSchema.parse(json(await get(path)));
      const whole = await get(`${path}/parts/${id('evidence', 1)}`);
      expect(digestOf(whole.body)).toBe(digestOf(bytes));
      const range = await get(`${path}/parts/${id('evidence', 1)}`, { headers: { range: 'bytes=5-9' } });
      expect([range.status, range.body]).toEqual([206, Buffer.from(bytes.subarray(5, 10))]);
    });

    it('the nginx example passes an upload to the address that the server signed', async () => {
      const build = await buildArchive();
      const artifactDigest = digestOf(build.bytes);
      const begun = await get(`/v1/projects/${PROJECT}/build-uploads`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'key-00000001' },
        body: JSON.stringify({ buildHash: build.buildHash, artifactDigest, bytes: build.bytes.length }),
      });
      const { uploadUrl, headers } = buildUploadSchema.parse(json(begun));
      const address = new URL(uploadUrl);
      expect(address.origin).toBe(`https://control.example:${port}`);
      const target = address.pathname + address.search;
      const sent = { ...headers, 'content-length': String(build.bytes.length) };
      expect((await get(target, { method: 'PUT', headers: sent, body: build.bytes })).status).toBe(200);
      const source = `/v1/projects/${PROJECT}/builds/${build.buildHash}/tools/source?packageId=greeter`;
      toolSourceSchema.parse(json(await get(source)));
      const signature = address.searchParams.get('signature') ?? 'none';
      await expect.poll(() => readFileSync(join(folder, 'access.log'), 'utf8')).toContain('PUT');
      expect(readFileSync(join(folder, 'access.log'), 'utf8')).not.toContain(signature);
      expect(lines.join('')).not.toContain(signature);
      const tooLong = { method: 'PUT', headers: { ...headers, 'content-length': '70000000' } };
      expect((await get(target, tooLong)).status).toBe(413);
      expect((await get('/healthz', tooLong)).status).toBe(413);
      await expect.poll(() => errors).toContain('PUT /healthz');
      expect(errors).not.toContain(signature);
    });

    it('the nginx example logs the real client, whatever X-Forwarded-For the client sends', async () => {
      const answer = await get('/healthz', { headers: { 'x-forwarded-for': '203.0.113.9' } });
      const correlationId = answer.headers['x-correlation-id'];
      const entry = () =>
        lines
          .map((line) => JSON.parse(line) as Record<string, unknown>)
          .find((line) => line['correlationId'] === correlationId);
      await expect.poll(entry).toMatchObject({ client: '127.0.0.1' });
    });

    it('the nginx example hides /metrics and /readyz', async () => {
      for (const path of ['/metrics', '/readyz']) expect((await get(path)).status).toBe(404);
      expect((await fetch(`${listening.url}/metrics`)).status).toBe(200);
    });
  });
}
