import { once } from 'node:events';
import { request as httpRequest, Agent, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import { openEmbedded } from '../../../src/server/open-stores.ts';
import { digestOf } from '../../../src/bytes/hash.ts';
import { parseExposition } from '../../server/telemetry/parse-exposition.ts';
import {
  EXPORT,
  HASH,
  id,
  ingestExport,
  ORG,
  part,
  PROJECT,
  createTenants,
  token,
} from '../../server/make.ts';
import { drillproof, expectExit, parseLines, type ProcessOptions, start, useScratch } from '../make.ts';

type Serving = {
  readonly child: ReturnType<typeof start>;
  readonly url: string;
  readonly port: number;
  readonly stderr: () => string;
  readonly ended: Promise<number | null>;
};

const PART = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT}/parts/${id('evidence', 1)}`;
const PADDING = 32 * 1024 * 1024; // more than any socket buffers

const dir = useScratch();
const formatData = () => `--data ${dir.path('data')}`;
const servers: Serving[] = [];

afterEach(() => {
  for (const { child } of servers.splice(0)) child.kill('SIGKILL');
});

/** Starts a server in a separate process, on the data of the test. */
async function serve(options = '', processOptions: ProcessOptions = {}): Promise<Serving> {
  const child = start(`serve ${formatData()} --port 0 --json ${options}`, processOptions);
  let [stdout, stderr] = ['', ''];
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk);
      if (stdout.includes('\n}')) resolve();
    });
    void ended.then(() => resolve());
  });
  const { url } = JSON.parse(stdout) as { url: string };
  const serving = { child, url, port: Number(new URL(url).port), stderr: () => stderr, ended };
  servers.push(serving);
  return serving;
}

/** Ingests an export with one part; returns the token that reads it and the bytes of the part. */
async function ingestEvidence(padding = 0): Promise<{ bearer: string; bytes: Uint8Array }> {
  const { store, blobs } = await openEmbedded(dir.path('data'));
  const admin = createAdmin({ store, blobs });
  await createTenants({ admin });
  const bytes = await part(1, { padding });
  await ingestExport({ admin }, { parts: [bytes] });
  const bearer = await token({ admin });
  await store.close();
  return { bearer, bytes };
}

function get(url: string, options: { agent?: Agent; bearer?: string } = {}): Promise<IncomingMessage> {
  const { agent, bearer } = options;
  const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  return new Promise((resolve, reject) =>
    httpRequest(url, { ...(agent && { agent }), headers }, resolve)
      .on('error', reject)
      .end(),
  );
}
async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const events = ({ stderr }: Serving) =>
  stderr()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const hasEvent = (serving: Serving, event: string) =>
  events(serving).some((entry) => entry['event'] === event);

/** Sends requests together, and returns their statuses. */
const statusesOf = (url: string, bearer: string, times: number): Promise<(number | undefined)[]> =>
  Promise.all(
    Array.from({ length: times }, async () => {
      const response = await get(url, { bearer });
      await bodyOf(response);
      return response.statusCode;
    }),
  );

/** Starts a download of the part, and reads no more of it. */
async function stall(port: number, bearer: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(`GET ${PART} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

describe('the settings of serve', () => {
  it('come from options and variables, and the option wins', async () => {
    const { bearer } = await ingestEvidence();
    const env = {
      DRILLPROOF_REQUEST_RATE: '1',
      DRILLPROOF_REQUEST_BURST: '1000',
      DRILLPROOF_DOWNLOAD_BURST: '9',
    };
    const { url } = await serve('--request-burst 2 --download-rate 1', { env });
    const resource = `${url}/v1/projects/${PROJECT}/evidence/${id('evidence', 1)}`;
    const statuses = await statusesOf(resource, bearer, 4);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    const downloads = await statusesOf(url + PART, bearer, 11);
    expect(downloads.filter((status) => status === 200)).toHaveLength(9);
  });

  it.each<readonly [env: Record<string, string>, options: string, text: string]>([
    [{ DRILLPROOF_REQUEST_RATE: '0' }, '', 'DRILLPROOF_REQUEST_RATE'],
    [{ DRILLPROOF_REQUEST_RATE: 'many' }, '', 'DRILLPROOF_REQUEST_RATE'],
    [{ DRILLPROOF_REQUEST_RATE: '' }, '', 'DRILLPROOF_REQUEST_RATE'],
    [{ DRILLPROOF_REQUEST_RATE: '99999999999' }, '', 'DRILLPROOF_REQUEST_RATE'],
    [{ DRILLPROOF_MODEL_TIERS: 'small,,large' }, '', 'model tiers'],
    [{ DRILLPROOF_MODEL_TIERS: 'small,large' }, '--model-tiers small,small', 'model tiers'],
    [{}, '--public-url ftp://x', '--public-url'],
    [{}, '--public-url https://user:pass@x', 'https://…@…'],
    [{}, '--public-url https://x?q=1', '--public-url'],
    [{}, '--public-url nonsense', '--public-url'],
  ])('from %j and "%s" are refused', async (env, options, text) => {
    await expectExit(`serve ${formatData()} ${options}`, 2, text, { env });
  });

  it('limit the parallel downloads of a token and of its organization', async () => {
    const { bearer } = await ingestEvidence(PADDING);
    const { url, port } = await serve('--downloads 4');
    const stalled = await stall(port, bearer);
    const refused = await get(url + PART, { bearer });
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1']);
    stalled.destroy();
    await expect.poll(() => statusesOf(url + PART, bearer, 1)).toEqual([200]);
  });
});

const readEntries = async (path: string) => parseLines(await readFile(path, 'utf8'));

it('the audit log records downloads, refusals and, with --audit-reads, reads, and is read by its owner only', async () => {
  const { bearer } = await ingestEvidence();
  const { url } = await serve();
  const bundle = `/v1/projects/${PROJECT}/evidence/${id('evidence', 1)}`;
  expect(await statusesOf(url + bundle, bearer, 1)).toEqual([200]);
  expect(await statusesOf(url + PART, bearer, 1)).toEqual([200]);
  expect(await statusesOf(`${url}${PART}0`, bearer, 1)).toEqual([404]);
  const other = await serve('--audit-reads');
  expect(await statusesOf(other.url + bundle, bearer, 1)).toEqual([200]);
  const path = dir.path('data/audit.log');
  expect(await readEntries(path)).toEqual([
    expect.objectContaining({
      actor: expect.stringMatching(/^tok_/),
      action: 'evidence.exports.parts.download',
      projectId: PROJECT,
      evidenceExportId: EXPORT,
      evidenceBundleId: id('evidence', 1),
      client: '127.0.0.1',
    }),
    expect.objectContaining({ action: 'evidence.exports.parts.download', code: 'control.NOT_FOUND' }),
    expect.objectContaining({ action: 'evidence.bundles.read' }),
  ]);
  for (const name of ['audit.log', 'store.sqlite', 'store.sqlite-wal'])
    expect((await stat(dir.path(`data/${name}`))).mode & 0o077).toBe(0);
});

it('serve --oidc reads the example, and ends with 2 for a document that is not valid', async () => {
  const example = `${process.cwd()}/docs/examples/oidc.json`;
  const { url } = await serve(`--oidc ${example}`);
  const { bearer } = await ingestEvidence();
  expect(await statusesOf(url + PART, bearer, 1)).toEqual([200]);
  expect(await statusesOf(url + PART, 'e30.e30.AAAA', 1)).toEqual([401]);
  const text = await readFile(example, 'utf8');
  await writeFile(dir.path('oidc.json'), text.replace('"acme/*"', '"*/*"'));
  const line = `serve --port 0 --oidc ${dir.path('oidc.json')} ${formatData()}`;
  const { code, stderr } = await drillproof(line);
  expect([code, stderr]).toEqual([2, expect.stringContaining('server.CONFIG_INVALID')]);
});

it('the audit log sends no evidence when it cannot be written', async () => {
  const { bearer } = await ingestEvidence();
  const { url } = await serve(`--audit-log ${dir.path('absent/audit.log')}`);
  expect(await statusesOf(url + PART, bearer, 1)).toEqual([503]);
});

it('the audit log records what admin did, without the text of a token, and what failed', async () => {
  const create = `admin org create --name a --id ${ORG} ${formatData()}`;
  await drillproof(create);
  const createToken = `admin token create --organization ${ORG} --all-projects --expires-at 2099-01-01 ${formatData()}`;
  const { stdout } = await drillproof(createToken);
  await drillproof(create);
  const path = dir.path('data/audit.log');
  const actor = expect.stringMatching(/^admin:/);
  expect(await readEntries(path)).toEqual([
    expect.objectContaining({ actor, action: 'admin.createOrganization', organizationId: ORG }),
    expect.objectContaining({
      actor,
      action: 'admin.createToken',
      tokenId: expect.stringMatching(/^tok_/),
      projects: 'all',
      permissions: expect.arrayContaining(['evidence.read']),
      expiresAtMs: expect.any(Number),
    }),
    expect.objectContaining({ actor, action: 'admin.createOrganization', code: 'server.ADMIN_REFUSED' }),
  ]);
  const secret = /dp_[\w-]{43}/.exec(stdout)?.[0] ?? '';
  expect(secret).not.toBe('');
  expect(await readFile(path, 'utf8')).not.toContain(secret);
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  'a server that gets %s completes a download that has begun, is not ready meanwhile, and exits with 0',
  async (signal) => {
    const { bearer, bytes } = await ingestEvidence(PADDING);
    const serving = await serve('--drain-delay 1');
    const { url, child } = serving;
    const keptAlive = new Agent({ keepAlive: true, maxSockets: 1 });
    await bodyOf(await get(`${url}/readyz`, { agent: keptAlive }));
    const download = await get(url + PART, { bearer });
    child.kill(signal);
    await expect.poll(() => hasEvent(serving, 'serve.stopping')).toBe(true);
    const ready = await get(`${url}/readyz`, { agent: keptAlive });
    expect(ready.statusCode).toBe(503);
    expect(JSON.parse(String(await bodyOf(ready)))).toMatchObject({
      code: 'control.UNAVAILABLE',
      details: { checks: { process: 'stopping', store: 'ok' } },
    });
    keptAlive.destroy();
    // After the delay, new connections are refused.
    await expect
      .poll(
        () =>
          get(`${url}/healthz`).then(
            () => 'served',
            () => 'refused',
          ),
        { timeout: 5_000 },
      )
      .toBe('refused');
    expect(child.exitCode).toBeNull();
    expect(digestOf(await bodyOf(download))).toBe(digestOf(bytes));
    expect(await serving.ended).toBe(0);
    expect(events(serving).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['serve.started', 'request', 'serve.stopping', 'serve.stopped']),
    );
    expect(events(serving).at(-1)?.['event']).toBe('serve.stopped');
  },
);

it('serve ends a stalled download when --drain is over', async () => {
  const { bearer } = await ingestEvidence(PADDING);
  const serving = await serve('--drain 1');
  const socket = await stall(serving.port, bearer);
  serving.child.kill('SIGTERM');
  expect(await serving.ended).toBe(0);
  expect(hasEvent(serving, 'serve.stopped')).toBe(true);
  socket.destroy();
});

it.each([
  ['of another length', 'application/zip', PADDING + 1, 422],
  ['of another type', 'text/plain', PADDING, 415],
])(
  'a server that refused an upload %s before reading it exits right after SIGTERM',
  async (_, type, bytes, status) => {
    const { bearer } = await ingestEvidence();
    const serving = await serve();
    const client = createClient({ baseUrl: serving.url, token: bearer });
    const announced = { buildHash: HASH, artifactDigest: HASH, bytes: PADDING };
    const { uploadUrl } = await client.builds.uploads.create({ projectId: PROJECT, ...announced });
    const sending = httpRequest(uploadUrl, {
      method: 'PUT',
      headers: { 'Content-Type': type, 'Content-Length': bytes },
    });
    sending.on('error', () => undefined);
    sending.write(new Uint8Array(1024 * 1024));
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(status);
    sending.destroy();
    await expect.poll(() => hasEvent(serving, 'request')).toBe(true);
    const startedMs = Date.now();
    serving.child.kill('SIGTERM');
    expect(await serving.ended).toBe(0);
    expect(Date.now() - startedMs).toBeLessThan(10_000);
  },
);

it('a stopped server closes its store completely, and the next server opens it', async () => {
  await ingestEvidence();
  const first = await serve();
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  expect((await readdir(dir.path('data'))).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
  const second = await serve();
  expect((await get(`${second.url}/readyz`)).statusCode).toBe(200);
});

it('serve answers health checks, and logs each request as one line of JSON without a terminal', async () => {
  const { bearer } = await ingestEvidence();
  const serving = await serve();
  const { url } = serving;
  const { version } = (await import('../../../package.json', { with: { type: 'json' } })).default;
  const metrics = parseExposition(String(await bodyOf(await get(`${url}/metrics`))));
  expect(metrics.get('drillproof_build_info')?.samples[0]?.labels).toEqual({
    version,
    node: process.version,
  });
  await bodyOf(await get(`${url}/v1/projects/${PROJECT}/evidence-exports?limit=7`, { bearer }));
  await expect
    .poll(() =>
      events(serving)
        .filter(({ event }) => event === 'request')
        .map(({ operation }) => operation),
    )
    .toEqual(['evidence.exports.list']);
  expect(serving.stderr()).not.toContain(bearer);
});

it('serve --quiet logs errors only, and --log-format text logs lines of text', async () => {
  const quiet = await serve('--quiet');
  await bodyOf(await get(`${quiet.url}/healthz`));
  quiet.child.kill('SIGTERM');
  await quiet.ended;
  expect(quiet.stderr()).toBe('');
  const words = await serve('--log-format text');
  await bodyOf(await get(`${words.url}/openapi.json`));
  await expect
    .poll(words.stderr)
    .toMatch(/^\S+Z info request .* operation=openapi .* status=200 durationMs=[0-9.]+ /m);
  expect(words.stderr()).toContain('the control plane is up');
});
