import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createSilentServer } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { writeFiles } from '../../support/folder.ts';
import { privateAuthority } from '../../support/tls.ts';
import { call, callJson, drillproof, expectExit, expectPass, scratch } from '../make.ts';

const HEAD = 'schemaVersion: 1\nkind: policy\n';
const pin = (text: string): string => `#sha256:${createHash('sha256').update(text).digest('hex')}`;
const base = `${HEAD}name: base\n`;
const top = `${HEAD}name: top\nextends: [{ path: base.yaml, digest: '${pin(base).slice(1)}' }]\n`;
const ZEROS = `#sha256:${'0'.repeat(64)}`;

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example', ...args], { stdio: 'pipe' });

async function inRepository<T>(work: () => Promise<T>): Promise<T> {
  const home = process.cwd();
  await using dir = await scratch();
  process.chdir(dir.root);
  try {
    git('init', '-q');
    await writeFiles('.', { 'rules/base.yaml': base, 'rules/top.yaml': top });
    git('add', '.');
    git('commit', '-qm', 'rules');
    git('tag', 'v1');
    await writeFile('rules/top.yaml', 'changed');
    return await work();
  } finally {
    process.chdir(home);
  }
}

it('a policy in a git revision is read with its parents as of the revision, not as the files are now', async () => {
  await inRepository(async () => {
    const sources = ['base', 'top'].map((name) => ({ path: `git:v1:rules/${name}.yaml` }));
    const policy = await callJson(`policy check git:v1:rules/top.yaml${pin(top)}`);
    expect(policy).toMatchObject({ kind: 'policy-check', name: 'top', sources });
  });
});

it.each([
  ['with --ca-file', `git:v1:rules/top.yaml${pin(top)} --ca-file rules/top.yaml`, 'usage.INVALID: --ca-file'],
  ['without a digest', 'git:v1:rules/top.yaml', 'policy.SOURCE_UNPINNED'],
  ['with another digest', `git:v1:rules/top.yaml${ZEROS}`, 'policy.SOURCE_MISMATCH'],
  ['of a revision that does not exist', `git:v2:rules/top.yaml${ZEROS}`, 'policy.SOURCE_UNREADABLE'],
  ['of an option in place of a revision', `git:--help:top.yaml${ZEROS}`, 'policy.SOURCE_UNREADABLE'],
])('a policy in a git revision %s is refused', async (_, place, expected) => {
  await inRepository(async () => {
    await expectExit(`gate any --policy ${place}`, 2, `drillproof: ${expected}`);
  });
});

const authority = privateAuthority();
const serverKeys = authority.serverFor('IP:127.0.0.1');
const TRUSTED = `--ca-file ${authority.file}`;
afterAll(() => authority.remove());

/** Serves the policies under /rules, and statuses such as /503. */
async function withServer(work: (origin: string) => Promise<void>): Promise<void> {
  const files: Readonly<Record<string, string>> = { '/rules/top.yaml': top, '/rules/base.yaml': base };
  const server = createServer(serverKeys, (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const text = files[path];
    const [, status = '302'] = /^\/(\d{3})/.exec(path) ?? [];
    if (text === undefined) response.writeHead(Number(status), { location: '/rules/top.yaml' });
    response.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await work(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}

it('a policy at an https address is read with its parents, pinned by its digest, and without redirects', async () => {
  await withServer(async (origin) => {
    const at = (place: string) => `${origin}/rules/${place}`;
    const place = at(`top.yaml${pin(top)}`);
    await expectExit(`policy check ${place} ${TRUSTED}`, 0, 'top is valid');
    await expectExit(`policy check ${place}`, 3, 'transport.UNREACHABLE');
    await expectExit(`policy check ${at(`top.yaml${ZEROS}`)} ${TRUSTED}`, 2, 'policy.SOURCE_MISMATCH');
    const moved = at(`moved.yaml${pin(top)}`);
    await expectExit(`policy check ${moved} ${TRUSTED}`, 2, 'policy.SOURCE_UNREADABLE');
    const decision = await callJson(`gate absent --policy ${place} ${TRUSTED}`);
    expect(decision).toMatchObject({ answer: 'could_not_tell', policy: { name: 'top' } });
    const env = { NODE_EXTRA_CA_CERTS: authority.file };
    expect(await drillproof(`policy check ${place}`, { env })).toMatchObject({ code: 0 });
  });
});

it.each([
  ['404', 2, 'policy.SOURCE_UNREADABLE'],
  ['429', 3, 'transport.UNREACHABLE'],
  ['503', 3, 'transport.UNREACHABLE'],
])('the status %s of the server of a policy ends with %i and %s', async (status, exit, code) => {
  await withServer((origin) =>
    expectExit(
      `gate any --policy ${origin}/${status}${ZEROS} ${TRUSTED}`,
      exit,
      `drillproof: ${code}`,
    ).then(),
  );
});

it('a server of policies that is down ends with 3', async () => {
  await expectExit(`gate any --policy https://127.0.0.1:9/p.yaml${ZEROS}`, 3, 'transport.UNREACHABLE');
});

it('gate --timeout limits the time of a server of policies that accepts and never answers', async () => {
  const silent = createSilentServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/p.yaml`;
  await expectExit(`gate any --policy ${address}${ZEROS} --timeout 1s`, 3, 'drillproof: transport.TIMEOUT');
  silent.close();
  await expectExit('gate any --timeout 1s', 2, 'drillproof: usage.INVALID');
});

it('the query of an address of a policy, which may have a token, is in no output', async () => {
  await using dir = await scratch();
  await withServer(async (origin) => {
    const place = `${origin}/rules/top.yaml?token=S3CRET`;
    const formats = ['json', 'html', 'markdown', 'sarif', 'junit'];
    const files = formats.map((format) => `--format ${format}=${dir.path(format)}`).join(' ');
    const key = dir.path('gate.pem');
    await expectPass(`keys generate --out ${key}`);
    const vsa = `--vsa ${dir.path('vsa')} --vsa-key ${key} --verifier-id urn:gate`;
    for (const options of [`${files} ${vsa}`, '--format github', '--format json', '-v', '--allow-past']) {
      const { stdout, stderr } = await call(`gate absent --policy ${place}${pin(top)} ${TRUSTED} ${options}`);
      expect(stdout + stderr).not.toContain('S3CRET');
    }
    for (const format of formats) {
      const text = await readFile(dir.path(format), 'utf8');
      expect(text).not.toContain('S3CRET');
    }
    expect(JSON.parse(await readFile(dir.path('json'), 'utf8'))).toMatchObject({
      run: { options: { policy: `${origin}/rules/top.yaml${pin(top)}` } },
    });
    for (const wrong of ['', ZEROS, '#sha256:12'])
      expect(await expectExit(`policy check ${place}${wrong} ${TRUSTED}`, 2)).not.toContain('S3CRET');
    for (const wrong of [place.replace('/rules', '/404'), 'https://127.0.0.1:9/p?token=S3CRET'])
      expect((await call(`policy check ${wrong}${ZEROS} ${TRUSTED}`)).stderr).not.toContain('S3CRET');
  });
});

it.each([
  'https://user:S3CRET@127.0.0.1:9/p.yaml',
  'https://S3CRET@127.0.0.1:9/p.yaml',
  'https://a:S3CRET@[x/p',
  'https:/user:S3CRET@127.0.0.1:9/p.yaml',
  'ftp://user:S3CRET@127.0.0.1/p.yaml',
])('the address %s of a policy is refused with 2, and not repeated', async (address) => {
  for (const hash of ['', ZEROS]) {
    const output = await expectExit(`gate any --policy ${address}${hash}`, 2, 'usage.INVALID');
    expect(output).not.toContain('S3CRET');
  }
});

it('a policy at an https address is refused over http', async () => {
  await expectExit(`policy check http://127.0.0.1:1/p.yaml${ZEROS}`, 2, 'policy.SOURCE_UNREADABLE');
});
