import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { writeFiles } from '../../support/folder.ts';
import { privateAuthority } from '../../support/tls.ts';
import { callJson, drillproof, expectExit, scratch } from '../make.ts';

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
    const place = at(`top.yaml${pin(top)}`);
    const trusted = `--ca-file ${authority.file}`;
    await expectExit(`policy check ${place} ${trusted}`, 0, 'top is valid');
    await expectExit(`policy check ${place}`, 2, 'policy.SOURCE_UNREADABLE');
    await expectExit(`policy check ${at(`top.yaml${ZEROS}`)} ${trusted}`, 2, 'policy.SOURCE_MISMATCH');
    const moved = at(`moved.yaml${pin(top)}`);
    await expectExit(`policy check ${moved} ${trusted}`, 2, 'policy.SOURCE_UNREADABLE');
    const decision = await callJson(`gate absent --policy ${place} ${trusted}`);
    expect(decision).toMatchObject({ answer: 'could_not_tell', policy: { name: 'top' } });
    const env = { NODE_EXTRA_CA_CERTS: authority.file };
    expect(await drillproof(`policy check ${place}`, { env })).toMatchObject({ code: 0 });
  } finally {
    server.close();
    authority.remove();
  }
});

it('a policy at an https address is refused over http', async () => {
  await expectExit(`policy check http://127.0.0.1:1/p.yaml${ZEROS}`, 2, 'policy.SOURCE_UNREADABLE');
});
