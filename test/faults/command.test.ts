import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { start } from '../cli/make.ts';
import { filesOf } from '../mirror/make.ts';
import { startOrigin, type Origin } from './origin.ts';
import { faultProxy, type ProxyOptions, type Strike } from './proxy.ts';
import { faultServer, type FaultServer } from './server.ts';

let origin: Origin;
let stranger: FaultServer;
let folder: string;
let tls: NonNullable<ProxyOptions['tls']>;
beforeAll(async () => {
  origin = await startOrigin();
  stranger = await faultServer((_, response) => void response.end('a stranger'));
  folder = await mkdtemp(join(tmpdir(), 'faults-command-'));
  tls = await certificate();
});
afterAll(async () => {
  await stranger.close();
  await origin.close();
  await rm(folder, { recursive: true, force: true });
});

const CERTIFICATE = () => join(folder, 'cert.pem');

/** A certificate for this machine that vouches for itself. */
async function certificate(): Promise<NonNullable<ProxyOptions['tls']>> {
  const key = join(folder, 'key.pem');
  const words = '-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -days 2 -nodes -x509'.split(' ');
  const kind = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1'.split(' ');
  execFileSync('openssl', ['req', ...words, ...kind, '-keyout', key, '-out', CERTIFICATE()], {
    stdio: 'pipe',
  });
  return { key: await readFile(key, 'utf8'), cert: await readFile(CERTIFICATE(), 'utf8') };
}

/** Runs `drillproof mirror` in a process of its own, behind a proxy that speaks TLS, with everything told that can be. */
async function mirrorByCommand(name: string, strike: Strike | undefined) {
  const proxy = await faultProxy({ to: origin.url, stranger: stranger.url, tls, fault: () => strike });
  const { projectId, evidenceExportId } = origin.exportRef;
  const to = join(folder, name);
  const child = start(
    ['mirror', evidenceExportId, '--project', projectId, '--url', proxy.url, '--to', to, '--json'],
    {
      env: {
        DRILLPROOF_TOKEN: origin.token,
        DRILLPROOF_DEBUG: '1',
        NODE_DEBUG: 'http,https,net,tls,fetch,undici',
        NODE_EXTRA_CA_CERTS: CERTIFICATE(),
      },
    },
  );
  let said = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => (said += String(chunk)));
  const title = execFileSync('ps', ['-o', 'args=', '-p', String(child.pid)], { encoding: 'utf8' });
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  await proxy.close();
  return { code, said, title, to, seen: proxy.seen };
}

it('a redirect from https to http is refused, and http hears of nothing', async () => {
  const { code, said, seen, to } = await mirrorByCommand('refused', ({ response, url }) => {
    response.writeHead(302, { location: `${stranger.url}${url}` });
    response.end();
  });
  expect(code).toBe(3);
  expect(said).toContain('transport.REDIRECT_REFUSED');
  expect(seen).toHaveLength(1);
  expect(stranger.seen).toEqual([]);
  expect(await filesOf(to).catch(() => new Map())).toEqual(new Map());
});

it.each<[string, Strike | undefined, number]>([
  ['a mirror that is whole', undefined, 0],
  [
    'an answer that repeats the token everywhere',
    ({ response, headers }) => {
      const text = `you said ${headers.authorization}`;
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          code: 'control.REQUEST_INVALID',
          message: text,
          correlationId: text,
          retryable: false,
          source: 'platform',
          issues: [{ path: text, code: text, message: text }],
        }),
      );
    },
    2,
  ],
  [
    'an answer that is no HTTP and repeats the token',
    ({ response, headers }) => void response.socket?.end(`${headers.authorization}\r\n\r\n`),
    3,
  ],
])('the token is not in what the command says, with debugging on: %s', async (name, strike, exit) => {
  const { code, said, title, to, seen } = await mirrorByCommand(name, strike);
  expect(code).toBe(exit);
  expect(seen[0]?.headers.authorization).toBe(`Bearer ${origin.token}`);
  expect(said).not.toContain(origin.token);
  expect(title).toContain('mirror');
  expect(title).not.toContain(origin.token);
  for (const bytes of (await filesOf(to).catch(() => new Map<string, Uint8Array>())).values())
    expect(Buffer.from(bytes).includes(origin.token)).toBe(false);
});
