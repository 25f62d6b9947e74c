import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { exportRef, makeExport, serveExport, type ExportSource } from '../../../faults/export-source.ts';
import { httpProxy, type HttpProxy } from '../../../support/http-proxy.ts';
import { privateAuthority, type Authority } from '../../../support/tls.ts';
import { call, drillproof, scratch, type ProcessOptions } from '../../make.ts';

const TOKEN = 'token-that-must-never-appear';
const { evidenceExportId, projectId } = exportRef;

/** The same over TLS: under a name that is right, and under one that is wrong. */
const proxies: HttpProxy[] = [];

const dir = await scratch();
const authority = privateAuthority();
const plain = await serveExport(makeExport());
const secure = await tlsBefore(plain, authority.serverFor('IP:127.0.0.1', 'DNS:localhost'));
const misnamed = await tlsBefore(plain, authority.serverFor('DNS:elsewhere.example'));
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

/** A server that ends TLS and hands every request on. */
async function tlsBefore(
  { port }: ExportSource,
  certificate: ReturnType<Authority['serverFor']>,
): Promise<Server> {
  const server = createServer(certificate, ({ method, url, headers }, response) => {
    request({ port, host: '127.0.0.1', method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    }).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function startProxy(rule: Parameters<typeof httpProxy>[0] = {}): Promise<HttpProxy> {
  const started = await httpProxy(rule);
  proxies.push(started);
  return started;
}

let mirrors = 0;
const words = (url: string, more = ''): string[] =>
  `mirror ${evidenceExportId} --project ${projectId} --url ${url} --to ${dir.path(`m${mirrors++}`)} --quiet ${more}`
    .trim()
    .split(' ');
const mirror = (url: string, env: Record<string, string> = {}, more = '') =>
  call(words(url, more), { env: { DRILLPROOF_TOKEN: TOKEN, ...env }, now: Date.now });
const codeOf = (stderr: string): string | undefined => stderr.split(': ')[1];

describe('a certificate authority of one’s own', () => {
  it('is trusted when --ca-file names it, and not otherwise', async () => {
    const url = `https://127.0.0.1:${portOf(secure)}`;
    const refused = await mirror(url);
    expect([refused.code, codeOf(refused.stderr)]).toEqual([3, 'transport.UNREACHABLE']);
    expect((await mirror(url, {}, `--ca-file ${authority.file}`)).code).toBe(0);
  });

  it.each([`reports ${evidenceExportId}`, `tool-source sha256:${'0'.repeat(64)} package`])(
    'is trusted by %s too, which then is answered',
    async (line) => {
      const args = `${line} --project ${projectId} --url https://127.0.0.1:${portOf(secure)}`.split(' ');
      const how = { env: { DRILLPROOF_TOKEN: TOKEN }, now: Date.now };
      expect(codeOf((await call(args, how)).stderr)).toBe('transport.UNREACHABLE');
      expect(codeOf((await call([...args, '--ca-file', authority.file], how)).stderr)).toBe(
        'control.NOT_FOUND',
      );
    },
  );

  it('does not make a certificate of another name right, through a proxy neither', async () => {
    const { port } = await startProxy();
    for (const env of [{}, { HTTPS_PROXY: `http://127.0.0.1:${port}` }]) {
      const { code, stderr } = await mirror(
        `https://127.0.0.1:${portOf(misnamed)}`,
        env,
        `--ca-file ${authority.file}`,
      );
      expect([code, codeOf(stderr)]).toEqual([3, 'transport.UNREACHABLE']);
    }
  });

  it('a certificate authority of NODE_EXTRA_CA_CERTS counts alone, with a proxy, and with --ca-file', async () => {
    const { port } = await startProxy();
    const other = privateAuthority();
    const how: ProcessOptions = { env: { DRILLPROOF_TOKEN: TOKEN, NODE_EXTRA_CA_CERTS: authority.file } };
    const url = `https://127.0.0.1:${portOf(secure)}`;
    try {
      expect((await drillproof(words(url), how)).code).toBe(0);
      const env = { ...how.env, HTTPS_PROXY: `http://127.0.0.1:${port}` };
      expect((await drillproof(words(url), { env })).code).toBe(0);
      expect((await drillproof(words(url, `--ca-file ${other.file}`), how)).code).toBe(0);
    } finally {
      other.remove();
    }
  });

  it.each([
    ['a file that is none', 'nothing to trust'],
    ['a broken certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('in %s is refused', async (_what, text) => {
    await writeFile(dir.path('ca.pem'), text);
    const { code, stderr } = await mirror(plain.url, {}, `--ca-file ${dir.path('ca.pem')}`);
    expect([code, codeOf(stderr)]).toEqual([2, 'usage.INVALID']);
  });
});

describe('a proxy', () => {
  it('is a tunnel to an https address, so that it sees neither token nor evidence', async () => {
    const through = await startProxy({
      authorization: `Basic ${Buffer.from('me:s3cret').toString('base64')}`,
    });
    const env = { https_proxy: `http://me:s3cret@127.0.0.1:${through.port}` };
    const { code, stdout } = await mirror(
      `https://localhost:${portOf(secure)}`,
      env,
      `--ca-file ${authority.file} --json`,
    );
    expect(code).toBe(0);
    expect(stdout).not.toContain('s3cret');
    expect(through.seen.length).toBeGreaterThan(0);
    for (const line of through.seen) {
      expect(line).toMatch(/^CONNECT localhost:\d+ /);
      expect(line).not.toContain(TOKEN);
    }
    expect(through.passed().length).toBeGreaterThan(20_000);
    expect(through.passed().includes(TOKEN)).toBe(false);
    expect(through.passed().includes('evidence_000000000000')).toBe(false);
  });

  it('takes requests to an http address whole', async () => {
    const through = await startProxy();
    expect((await mirror(plain.url, { HTTP_PROXY: `127.0.0.1:${through.port}` })).code).toBe(0);
    expect(through.seen[0]).toMatch(new RegExp(`^GET ${plain.url}/v1/`));
  });

  it.each([
    ['127.0.0.1', 0],
    ['*', 0],
    ['example.com', 5],
  ])('is passed by for what NO_PROXY names: %s', async (none, least) => {
    const through = await startProxy();
    const env = { HTTP_PROXY: `http://127.0.0.1:${through.port}`, NO_PROXY: none };
    expect((await mirror(plain.url, env)).code).toBe(0);
    expect(Math.min(through.seen.length, 5)).toBe(least);
  });

  it.each([
    [403, 'status 403'],
    [407, 'status 407'],
  ])('that refuses with %i is told as such, and its password is not', async (status, said) => {
    const through = await startProxy({ status });
    const env = { HTTPS_PROXY: `http://me:s3cret@127.0.0.1:${through.port}` };
    const { code, stderr } = await mirror(
      `https://127.0.0.1:${portOf(secure)}`,
      env,
      `--ca-file ${authority.file}`,
    );
    expect([code, codeOf(stderr)]).toEqual([3, 'transport.UNREACHABLE']);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('s3cret');
    expect(through.seen).toHaveLength(1);
  });

  it.each(['socks5://127.0.0.1:1', 'http://me:s3cret@:x', 'ftp://me:s3cret@h'])(
    'of another kind is a wrong call: %s',
    async (address) => {
      const { code, stderr } = await mirror(plain.url, { HTTP_PROXY: address });
      expect([code, codeOf(stderr)]).toEqual([2, 'usage.INVALID']);
      expect(stderr).not.toContain('s3cret');
    },
  );
});
