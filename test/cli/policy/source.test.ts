import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { writeFiles } from '../../support/folder.ts';
import { privateAuthority } from '../../support/tls.ts';
import { call, callJson, drillproof, readFailure, scratch } from '../make.ts';

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
    const { code, stdout } = await call(`policy check git:v1:rules/top.yaml${pin(top)} --json`);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'top',
      sources: [{ path: 'git:v1:rules/base.yaml' }, { path: 'git:v1:rules/top.yaml' }],
    });
  });
});

it('a policy in a git revision needs no certificate authority, so the gate refuses --ca-file for it', async () => {
  await inRepository(async () => {
    const policy = `--policy git:v1:rules/top.yaml${pin(top)}`;
    const { code, stderr } = await call(`gate any ${policy} --ca-file rules/top.yaml`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('usage.INVALID: --ca-file')]);
  });
});

it.each([
  ['without a digest', 'git:v1:rules/top.yaml', 'policy.SOURCE_UNPINNED'],
  ['with another digest', `git:v1:rules/top.yaml${ZEROS}`, 'policy.SOURCE_MISMATCH'],
  ['of a revision that does not exist', `git:v2:rules/top.yaml${ZEROS}`, 'policy.SOURCE_UNREADABLE'],
  ['of an option in place of a revision', `git:--help:top.yaml${ZEROS}`, 'policy.SOURCE_UNREADABLE'],
])('a policy in a git revision %s is refused', async (_, place, expected) => {
  await inRepository(async () => {
    expect(await readFailure(call(`gate any --policy ${place}`))).toEqual([2, expected]);
  });
});

it('a policy at an https address is read with its parents, pinned by its digest, and without redirects', async () => {
  const authority = privateAuthority();
  const files: Readonly<Record<string, string>> = { '/rules/top.yaml': top, '/rules/base.yaml': base };
  const server = createServer(authority.serverFor('IP:127.0.0.1'), (request, response) => {
    const text = files[request.url ?? ''];
    if (text === undefined) response.writeHead(302, { location: '/rules/top.yaml' });
    response.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const at = (place: string) => `https://127.0.0.1:${port}/rules/${place}`;
    const check = (place: string, options = '') =>
      drillproof(`policy check ${at(place)} --json ${options}`, {
        env: options === '' ? { NODE_EXTRA_CA_CERTS: authority.file } : {},
      });
    const trusted = `--ca-file ${authority.file}`;
    expect((await check(`top.yaml${pin(top)}`, trusted)).code).toBe(0);
    expect((await check(`top.yaml${pin(top)}`, '--quiet')).stdout).toContain('policy.SOURCE_UNREADABLE');
    const decision = await callJson(`gate absent --policy ${at(`top.yaml${pin(top)}`)} ${trusted}`);
    expect(decision).toMatchObject({ answer: 'could_not_tell', policy: { name: 'top' } });
    const [good, changed, redirected] = await Promise.all([
      check(`top.yaml${pin(top)}`),
      check(`top.yaml${ZEROS}`),
      check(`moved.yaml${pin(top)}`),
    ]);
    expect(JSON.parse(good.stdout)).toMatchObject({ name: 'top' });
    expect([good.code, changed.code, redirected.code]).toEqual([0, 2, 2]);
    expect(changed.stdout + changed.stderr).toContain('policy.SOURCE_MISMATCH');
    expect(redirected.stdout + redirected.stderr).toContain('policy.SOURCE_UNREADABLE');
  } finally {
    server.close();
    authority.remove();
  }
});

it('a policy at an https address is refused over http', async () => {
  const line = `policy check http://127.0.0.1:1/p.yaml${ZEROS}`;
  expect(await readFailure(call(line))).toEqual([2, 'policy.SOURCE_UNREADABLE']);
});
