import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { start } from '../cli/make.ts';
import { filesOf } from '../mirror/make.ts';
import { makeFolder } from '../support/folder.ts';
import { privateAuthority } from '../support/tls.ts';
import { startOrigin } from './origin.ts';
import { faultProxy, type FaultResponder } from './proxy.ts';
import { repeatToken } from './rows/overload.ts';

const origin = await startOrigin();
const { other } = origin;
const folder = await makeFolder();
const authority = privateAuthority();
afterAll(() => authority.remove());
const tls = authority.serverFor('IP:127.0.0.1');

/** Runs `drillproof mirror` behind a proxy with TLS, with all debug output. */
async function runMirror(name: string, respond: FaultResponder | undefined) {
  const proxy = await faultProxy({ to: origin.url, otherOrigin: other.url, tls, fault: () => respond });
  const { projectId, evidenceExportId } = origin.exportRef;
  const to = join(folder, name);
  const child = start(
    ['mirror', evidenceExportId, '--project', projectId, '--url', proxy.url, '--to', to, '--json'],
    {
      env: {
        DRILLPROOF_TOKEN: origin.token,
        DRILLPROOF_DEBUG: '1',
        NODE_DEBUG: 'http,https,net,tls,fetch,undici',
        NODE_EXTRA_CA_CERTS: authority.file,
      },
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const title = execFileSync('ps', ['-o', 'args=', '-p', String(child.pid)], { encoding: 'utf8' });
  const [code] = await once(child, 'close');
  await proxy.close();
  return { code, output, title, to, seen: proxy.seen };
}

it('a redirect from https to http is refused, and nothing is sent over http', async () => {
  const { code, output, seen, to } = await runMirror('refused', ({ response, url }) => {
    response.writeHead(302, { location: `${other.url}${url}` }).end();
  });
  expect(code).toBe(3);
  expect(output).toContain('transport.REDIRECT_REFUSED');
  expect(seen).toHaveLength(1);
  expect(other.seen).toEqual([]);
  expect(await filesOf(to).catch(() => new Map())).toEqual(new Map());
});

it.each<[string, FaultResponder | undefined, number]>([
  ['a complete mirror', undefined, 0],
  ['an answer that repeats the token everywhere', repeatToken(400, 'control.REQUEST_INVALID'), 2],
  [
    'an answer that is not HTTP and repeats the token',
    ({ response, headers }) => void response.socket?.end(`${headers.authorization}\r\n\r\n`),
    3,
  ],
])('the token is not in the debug output of the command: %s', async (name, respond, exit) => {
  const { code, output, title, to, seen } = await runMirror(name, respond);
  expect(code).toBe(exit);
  expect(seen[0]?.headers.authorization).toBe(`Bearer ${origin.token}`);
  expect(output).not.toContain(origin.token);
  expect(title).toContain('mirror');
  expect(title).not.toContain(origin.token);
  for (const bytes of (await filesOf(to).catch(() => new Map<string, Uint8Array>())).values())
    expect(Buffer.from(bytes).includes(origin.token)).toBe(false);
});
