import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { startPostgres } from '../../support/postgres.ts';
import { collectResult, drillproof, start } from '../make.ts';

const postgres = await startPostgres();
const folder = await makeFolder();
const path = (name: string): string => join(folder, name);
let url: URL;

const openssl = (line: string): void =>
  void execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' });

/** Makes an authority and, signed by it, a certificate for localhost. */
function makeCertificate(name: string): void {
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  openssl(`req -x509 ${key} -keyout ${name}-ca.key -out ${name}-ca.pem -days 2 -subj /CN=${name}`);
  openssl(
    `req ${key} -keyout ${name}.key -out ${name}.csr -subj /CN=localhost -addext subjectAltName=DNS:localhost`,
  );
  openssl(
    `x509 -req -in ${name}.csr -CA ${name}-ca.pem -CAkey ${name}-ca.key -days 2 -copy_extensions copy -out ${name}.pem`,
  );
}

beforeAll(async () => {
  const database = await postgres.database();
  url = new URL(database);
  url.hostname = 'localhost';
  makeCertificate('right');
  makeCertificate('wrong');
  const [{ data_directory: data } = {}] = await postgres.query(database, 'SHOW data_directory');
  const place = join(String(data), 'tls');
  const { uid, gid } = statSync(String(data));
  mkdirSync(place);
  for (const name of ['right.pem', 'right.key']) {
    copyFileSync(path(name), join(place, name));
    chmodSync(join(place, name), 0o600);
    chownSync(join(place, name), uid, gid);
  }
  chownSync(place, uid, gid);
  for (const setting of [
    `ssl_cert_file = '${place}/right.pem'`,
    `ssl_key_file = '${place}/right.key'`,
    'ssl = on',
  ])
    await postgres.query(database, `ALTER SYSTEM SET ${setting}`);
  await postgres.query(database, 'SELECT pg_reload_conf()');
});

const running: ReturnType<typeof start>[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

const withOptions = (options: Readonly<Record<string, string>>, at = url): string =>
  `${at.href}?${new URLSearchParams(options).toString()}`;

/** Starts a command and collects its log until it ends. */
function begin(words: string, DATABASE_URL: string, env = {}) {
  const child = start(`${words} --data ${path('data')}`, { env: { DATABASE_URL, ...env } });
  running.push(child);
  const result = collectResult(child);
  let log = '';
  child.stderr.on('data', (chunk) => (log += String(chunk)));
  return { child, result, log: () => log };
}

/** The first line of the log, which is that of the start. */
async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.includes('\n')) return text;
  }
  return text;
}

const SERVE = 'serve --port 0';
const VERIFYING = { sslmode: 'verify-full', sslrootcert: path('right-ca.pem') };

const byAddress = (): URL => Object.assign(new URL(url), { hostname: '127.0.0.1' });

describe('serve on PostgreSQL with TLS', () => {
  it.each(['verify-full', 'require'])(
    'sslmode=%s with the right authority encrypts every connection',
    async (sslmode) => {
      const { child, result, log } = begin(SERVE, withOptions({ ...VERIFYING, sslmode }));
      await expect.poll(log, { timeout: 20_000 }).toContain('serve.started');
      const used =
        'SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = $1';
      expect(await postgres.query(url.href, used, ['drillproof'])).toEqual([{ ssl: true }]);
      child.kill('SIGTERM');
      const { code, stderr } = await result;
      expect([code, stderr.includes('SECURITY WARNING')]).toEqual([0, false]);
    },
  );

  it.each([
    [
      'another authority',
      () => withOptions({ ...VERIFYING, sslrootcert: path('wrong-ca.pem') }),
      'SIGNATURE|CERT',
    ],
    [
      'another authority, with sslmode=require',
      () => withOptions({ sslmode: 'require', sslrootcert: path('wrong-ca.pem') }),
      'SIGNATURE|CERT',
    ],
    ['no authority', () => withOptions({ sslmode: 'verify-full' }), 'SIGNATURE|CERT'],
    [
      'a host that the certificate does not name',
      () => withOptions(VERIFYING, byAddress()),
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'a file that is missing',
      () => withOptions({ ...VERIFYING, sslrootcert: path('none.pem') }),
      'file of certificates',
    ],
  ])('%s ends the start at once with 2', async (_what, address, reason) => {
    const { code, stderr } = await drillproof(`${SERVE} --data ${path('data')}`, {
      env: { DATABASE_URL: address() },
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^drillproof: server\\.CONFIG_INVALID: [^\\n]*(${reason})`));
    expect(stderr).not.toContain(postgres.password);
  });

  it('a wrong password and a missing database end the start at once with 2', async () => {
    const [password, name] = [new URL(url), new URL(url)];
    password.password = 'wrong';
    name.pathname = '/nowhere';
    for (const { href: DATABASE_URL } of [password, name]) {
      const { code, stderr } = await drillproof(`${SERVE} --data ${path('data')}`, { env: { DATABASE_URL } });
      expect([code, stderr.includes('start.waiting')]).toEqual([2, false]);
    }
  });
});

it('a server whose clock differs from that of the database does not start', async () => {
  writeFileSync(
    path('clock.mjs'),
    'const now = Date.now; Date.now = () => now() + Number(process.env.TEST_CLOCK_MS);',
  );
  for (const TEST_CLOCK_MS of ['3600000', '-3600000']) {
    const env = { DATABASE_URL: url.href, NODE_OPTIONS: `--import ${path('clock.mjs')}`, TEST_CLOCK_MS };
    const { code, stderr } = await drillproof(`${SERVE} --data ${path('data')} --wait-for 1s`, { env });
    expect(code).toBe(3);
    expect(stderr).toContain('drillproof: server.CLOCK_JUMPED: ');
  }
});

it('a token does not expire by a clock that jumps while the server runs, and a restart under that clock is refused', async () => {
  const data = path('jumping');
  const admin = async (line: string) =>
    JSON.parse((await drillproof(`admin ${line} --data ${data} --json`)).stdout) as Record<string, string>;
  const { organizationId } = await admin('org create --name Acme');
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { token } = await admin(
    `token create --organization ${organizationId} --all-projects --expires-at ${expiresAt}`,
  );
  // A clock that shows what the file says, from a difference to the right time.
  writeFileSync(
    path('jump.mjs'),
    `import { readFileSync } from 'node:fs';
    const now = Date.now;
    Date.now = () => now() + Number(readFileSync(${JSON.stringify(path('jump'))}, 'utf8'));`,
  );
  const jump = (ms: number): void => writeFileSync(path('jump'), String(ms));
  jump(0);
  const env = { NODE_OPTIONS: `--import ${path('jump.mjs')}` };
  const serving = start(`serve --data ${data} --port 0 --json`, { env });
  running.push(serving);
  const result = collectResult(serving);
  const [, address] = /"url":"([^"]+)"/.exec(await firstLine(serving.stderr)) ?? [];
  const read = async (): Promise<number> =>
    (
      await fetch(`${address}/v1/projects/prj_000000000001/operations/op_000000000001`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;
  for (const ms of [0, 2 * 3_600_000, 40 * 24 * 3_600_000, -2 * 3_600_000, 0]) {
    jump(ms);
    expect(await read()).toBe(404);
  }
  jump(2 * 3_600_000);
  serving.kill('SIGTERM');
  expect((await result).code).toBe(0);
  const again = await drillproof(`serve --data ${data} --port 0 --wait-for 0s`, { env });
  expect([again.code, again.stderr]).toEqual([3, expect.stringContaining('server.CLOCK_JUMPED')]);
});

it('a server and a worker that start before their database wait for it, and then work', async () => {
  await postgres.stop('SIGINT');
  const both = [begin(SERVE, url.href), begin('worker', url.href)];
  for (const { log } of both) await expect.poll(log, { timeout: 20_000 }).toContain('ECONNREFUSED');
  await postgres.start();
  for (const { log } of both) await expect.poll(log, { timeout: 30_000 }).toMatch(/(serve|worker)\.started/);
  for (const { child, result } of both) {
    child.kill('SIGTERM');
    expect((await result).code).toBe(0);
  }
});
