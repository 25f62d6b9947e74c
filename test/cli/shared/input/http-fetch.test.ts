import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { exportRef, makeExport, serveExport, type ExportSource } from '../../../faults/export-source.ts';
import { httpProxy, type HttpProxy } from '../../../support/http-proxy.ts';
import { privateAuthority, type Authority } from '../../../support/tls.ts';
import { call, drillproof, expectExit, expectResult, type ProcessOptions, scratch } from '../../make.ts';

const TOKEN = 'token-that-must-never-appear';
const { evidenceExportId, projectId } = exportRef;

const proxies: HttpProxy[] = [];

const dir = await scratch();
const authority = privateAuthority();
/** The same exports without TLS, with TLS, and with the certificate of another name. */
const plain = await serveExport(makeExport());
const secure = await startTls(plain, authority.serverFor('IP:127.0.0.1', 'DNS:localhost'));
const misnamed = await startTls(plain, authority.serverFor('DNS:elsewhere.example'));
afterEach(() => Promise.all(proxies.splice(0).map((proxy) => proxy.close())));
afterAll(async () => {
  for (const server of [secure, misnamed]) {
    server.closeAllConnections();
    server.close();
  }
  await plain.close();
  authority.remove();
  await dir[Symbol.asyncDispose]();
});

/** Starts a server that ends TLS, and forwards every request. */
async function startTls(
  { port }: ExportSource,
  certificate: ReturnType<Authority['serverFor']>,
): Promise<Server> {
  const server = createServer(certificate, ({ method, url, headers }, response) => {
    request({ port, host: '127.0.0.1', method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

const addressOf = (server: Server): string => `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function startProxy(rule: Parameters<typeof httpProxy>[0] = {}): Promise<HttpProxy> {
  const proxy = await httpProxy(rule);
  proxies.push(proxy);
  return proxy;
}

let mirrors = 0;
const formatLine = (url: string, options = ''): string =>
  `mirror ${evidenceExportId} --project ${projectId} --url ${url} --to ${dir.path(`m${mirrors++}`)} --quiet ${options}`;
const mirror = (url: string, env: Record<string, string> = {}, options = '') =>
  call(formatLine(url, options), { env: { DRILLPROOF_TOKEN: TOKEN, ...env }, now: Date.now });
const CA = `--ca-file ${authority.file}`;

describe('a private certificate authority', () => {
  it('is trusted when --ca-file names it, and not otherwise', async () => {
    const url = addressOf(secure);
    await expectResult(mirror(url), 3, 'transport.UNREACHABLE');
    expect((await mirror(url, {}, CA)).code).toBe(0);
  });

  it.each([`reports ${evidenceExportId}`, `tool-source sha256:${'0'.repeat(64)} package`])(
    'is trusted by %s too',
    async (line) => {
      const args = `${line} --project ${projectId} --url ${addressOf(secure)}`;
      const options = { env: { DRILLPROOF_TOKEN: TOKEN }, now: Date.now };
      await expectExit(args, 3, 'transport.UNREACHABLE', options);
      await expectExit(`${args} ${CA}`, 3, 'control.NOT_FOUND', options);
    },
  );

  it('does not make a certificate valid for another name, with and without a proxy', async () => {
    const { port } = await startProxy();
    for (const env of [{}, { HTTPS_PROXY: `http://127.0.0.1:${port}` }]) {
      const result = mirror(addressOf(misnamed), env, CA);
      await expectResult(result, 3, 'transport.UNREACHABLE');
    }
  });

  it('in NODE_EXTRA_CA_CERTS is trusted alone, with a proxy, and next to --ca-file', async () => {
    const { port } = await startProxy();
    const other = privateAuthority();
    const options: ProcessOptions = { env: { DRILLPROOF_TOKEN: TOKEN, NODE_EXTRA_CA_CERTS: authority.file } };
    const url = addressOf(secure);
    try {
      expect((await drillproof(formatLine(url), options)).code).toBe(0);
      const env = { ...options.env, HTTPS_PROXY: `http://127.0.0.1:${port}` };
      expect((await drillproof(formatLine(url), { env })).code).toBe(0);
      expect((await drillproof(formatLine(url, `--ca-file ${other.file}`), options)).code).toBe(0);
    } finally {
      other.remove();
    }
  });

  it.each([
    ['a file without certificates', 'nothing to trust'],
    ['a broken certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('in %s is refused', async (_what, text) => {
    await writeFile(dir.path('ca.pem'), text);
    const result = mirror(plain.url, {}, `--ca-file ${dir.path('ca.pem')}`);
    await expectResult(result, 2, 'usage.INVALID');
  });
});

describe('a proxy', () => {
  it('tunnels to an https address, and sees neither token nor evidence', async () => {
    const proxy = await startProxy({
      authorization: `Basic ${Buffer.from('me:s3cret').toString('base64')}`,
    });
    const env = { https_proxy: `http://me:s3cret@127.0.0.1:${proxy.port}` };
    const { code, stdout } = await mirror(
      addressOf(secure).replace('127.0.0.1', 'localhost'),
      env,
      `${CA} --json`,
    );
    expect(code).toBe(0);
    expect(stdout).not.toContain('s3cret');
    expect(proxy.seen.length).toBeGreaterThan(0);
    for (const line of proxy.seen) {
      expect(line).toMatch(/^CONNECT localhost:\d+ /);
      expect(line).not.toContain(TOKEN);
    }
    expect(proxy.passed().length).toBeGreaterThan(20_000);
    expect(proxy.passed().includes(TOKEN)).toBe(false);
    expect(proxy.passed().includes('evidence_000000000000')).toBe(false);
  });

  it('forwards requests to an http address', async () => {
    const proxy = await startProxy();
    expect((await mirror(plain.url, { HTTP_PROXY: `127.0.0.1:${proxy.port}` })).code).toBe(0);
    expect(proxy.seen[0]).toMatch(new RegExp(`^GET ${plain.url}/v1/`));
  });

  it.each([
    ['127.0.0.1', 0],
    ['*', 0],
    ['example.com', 5],
  ])('is not used for the hosts of NO_PROXY: %s', async (none, least) => {
    const proxy = await startProxy();
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: none };
    expect((await mirror(plain.url, env)).code).toBe(0);
    expect(Math.min(proxy.seen.length, 5)).toBe(least);
  });

  it.each([
    [403, 'status 403'],
    [407, 'status 407'],
  ])('that refuses with %i is reported, without its password', async (status, text) => {
    const proxy = await startProxy({ status });
    const env = { HTTPS_PROXY: `http://me:s3cret@127.0.0.1:${proxy.port}` };
    const printed = await expectResult(mirror(addressOf(secure), env, CA), 3, 'transport.UNREACHABLE');
    expect(printed).toContain(text);
    expect(printed).not.toContain('s3cret');
    expect(proxy.seen).toHaveLength(1);
  });

  it.each(['socks5://127.0.0.1:1', 'http://me:s3cret@:x', 'ftp://me:s3cret@h'])(
    'of another kind ends with 2: %s',
    async (address) => {
      const result = mirror(plain.url, { HTTP_PROXY: address });
      expect(await expectResult(result, 2, 'usage.INVALID')).not.toContain('s3cret');
    },
  );
});
