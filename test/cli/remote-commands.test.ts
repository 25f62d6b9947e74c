import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { link, lstat, symlink, readdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { canonicalBytes, digestOf } from '../../src/bytes/index.ts';
import { writeZip } from '../../src/zip/index.ts';
import { call as callWith, scratch, start, writeEvidence } from './make.ts';

const home = process.cwd();

const call = (line: string, env: Readonly<Record<string, string>> = { DRILLPROOF_TOKEN: token }) =>
  callWith(line.split(' '), { env, now: Date.now });
const must = async (line: string): Promise<string> => {
  const { code, stdout, stderr } = await call(line, {});
  if (code !== 0) throw new Error(`${line}: ${stderr}`);
  return stdout;
};
const AT = '--project prj_000000000001';
const ORGANIZATION = '--organization org_000000000001';

/** A build archive with one package, its hash and its lock. */
async function makeBuild() {
  const source = Buffer.from('export const tool = () => 1;\n');
  const manifest = canonicalBytes({ name: 'mailer' });
  const lock = canonicalBytes({
    schemaVersion: 1,
    kind: 'build',
    packages: [
      {
        packageId: 'mailer',
        version: '1.0.0',
        manifestHash: digestOf(manifest),
        artifactHash: digestOf(source),
        manifest: 'mailer/manifest.json',
        source: 'mailer/index.js',
      },
    ],
  });
  const files = { 'build.json': lock, 'mailer/index.js': source, 'mailer/manifest.json': manifest };
  const entries = Object.entries(files).map(([name, bytes]) => ({
    name,
    open: async function* () {
      yield bytes;
    },
  }));
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeZip(entries)) chunks.push(chunk);
  return { buildHash: digestOf(lock), lock, source, archive: Buffer.concat(chunks) };
}

const HASH = `sha256:${'4f'.repeat(32)}`;
const METADATA = {
  manifestDigest: HASH,
  uploadedBy: 'jane@example.com',
  createdAtMs: Date.UTC(2024, 0, 1, 12),
  summary: {
    runId: 'run_local-1',
    drillId: 'check-package',
    targetId: 'web',
    reportedBuildHash: HASH,
    reportedPackageLockHash: HASH,
    seed: '1',
    reportedStatus: 'completed',
    artifactCount: 1,
    expandedBytes: 6,
    redacted: false,
  },
};

const dir = await scratch();
await writeEvidence(dir.root);
process.chdir(dir.root);
await writeFile('local.bin', 'opaque');
await writeFile('meta.json', JSON.stringify(METADATA));
const build = await makeBuild();
await writeFile('build.zip', build.archive);
await writeFile('build.json', build.lock);
await must('admin org create --name Acme --id org_000000000001 --data plane');
await must(`admin project create ${ORGANIZATION} --id prj_000000000001 --name web --data plane`);
await must(`admin ingest local-report local.bin ${AT} --metadata meta.json --data plane`);
await must(`admin ingest build build.zip ${AT} --data plane`);
await must(
  'export part-1.zip part-2.zip --report local.bin,meta=meta.json --out served --key key.pem --issuer acme-ci',
);
const exportId = (
  JSON.parse(await must('admin ingest export served --data plane --json')) as {
    resource: { evidenceExportId: string };
  }
).resource.evidenceExportId;
const token = (await must(`admin token create ${ORGANIZATION} --all-projects --data plane`)).trim();
await writeFile('token', `${token}\n`);
const server = start(['serve', '--data', 'plane', '--port', '0'], { cwd: dir.root });
const [first] = (await once(server.stdout, 'data')) as [Buffer];
const url = first.toString().trim();
afterAll(async () => {
  server.kill('SIGTERM');
  const [code] = (await once(server, 'exit')) as [number];
  process.chdir(home);
  await dir[Symbol.asyncDispose]();
  expect(code).toBe(0); // being told to stop is how a server ends well
});

describe('admin', () => {
  it('shows a token once, on standard output alone, and afterwards only what it may do', async () => {
    const { stdout, stderr } = await call(
      `admin token create ${ORGANIZATION} ${AT} --permission evidence.read --data plane`,
    );
    const made = stdout.trim();
    expect(made).toMatch(/^\S{40,}$/);
    expect(stderr).toContain('the token is not shown again');
    expect(stderr).not.toContain(made);
    const listed = await call(`admin token list ${ORGANIZATION} --data plane --json`);
    expect(listed.stdout).not.toContain(made);
    expect(listed.stdout).not.toContain('tokenHash');
    expect(JSON.parse(listed.stdout)).toMatchObject({ kind: 'tokens' });
  });

  it('revokes a token, whose next request could not be checked', async () => {
    const made = JSON.parse(
      (await call(`admin token create ${ORGANIZATION} --all-projects --data plane --json`)).stdout,
    ) as { token: string; tokenId: string };
    const list = `reports ${exportId} ${AT} --url ${url}`;
    expect((await call(list, { DRILLPROOF_TOKEN: made.token })).code).toBe(0);
    expect((await call(`admin token revoke ${made.tokenId} --data plane`)).code).toBe(0);
    const { code, stderr } = await call(list, { DRILLPROOF_TOKEN: made.token });
    expect([code, stderr.startsWith('drillproof: control.UNAUTHENTICATED: ')]).toEqual([3, true]);
    expect((await call(`admin token revoke ${made.tokenId} --data plane`)).code).toBe(3);
  });

  it('admin ingest reports the second ingestion of the same file as unchanged', async () => {
    expect((await call('admin ingest export served --data plane')).stdout).toContain('unchanged');
    expect((await call(`admin ingest build build.zip ${AT} --data plane`)).stdout).toContain('unchanged');
  });
});

describe('mirror', () => {
  it('mirror copies an export, which verify and sha256sum accept', async () => {
    const { code, stdout, stderr } = await call(
      `mirror ${exportId} ${AT} --url ${url} --to mirror --token-file token`,
      {},
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('4 files');
    execFileSync('sha256sum', ['--quiet', '-c', 'SHA256SUMS'], { cwd: 'mirror' });
    const verified = await call('verify mirror --trust trust.json --jobs 1 --require-coverage');
    expect([verified.code, verified.stdout.split(' ')[0]]).toEqual([0, 'VERIFIED']);
  });

  it('takes the manifest from a file, and leaves local reports out when asked', async () => {
    const mirror = `mirror ${exportId} ${AT} --url ${url} --to partial --manifest served/manifest.json --without-local-reports --json`;
    const { code, stdout } = await call(mirror);
    expect(stdout).toMatch(/"manifestFrom": "caller"/);
    expect(code).toBe(0);
  });

  it.each([
    ['an expired token', expiredToken],
    ['an unknown token', () => Promise.resolve('dp_unknown_0123456789')],
  ])('with %s could not be checked, and leaves no folder', async (_what, makeToken) => {
    const refused = await makeToken();
    const { code, stderr } = await call(`mirror ${exportId} ${AT} --url ${url} --to refused`, {
      DRILLPROOF_TOKEN: refused,
    });
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^drillproof: control\.UNAUTHENTICATED: .*\(correlation id corr_\S+\)\n {2}Set a valid token.*\n$/,
    );
    expect(stderr).not.toContain(refused);
    await expect(readdir('refused')).rejects.toThrow();
  });

  it('of an unknown export could not be checked either', async () => {
    const { code, stderr } = await call(`mirror evexp_000000000099 ${AT} --url ${url} --to unknown`);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^drillproof: control\.NOT_FOUND: /);
  });
});

/** A token that was live for a moment which is over. */
async function expiredToken(): Promise<string> {
  const soon = Date.now() + 1_000;
  const made = await must(
    `admin token create ${ORGANIZATION} --all-projects --data plane --expires-at ${soon}`,
  );
  while (Date.now() <= soon) await new Promise((resolve) => setTimeout(resolve, 50));
  return made.trim();
}

it('reports lists them from the control plane with the claims of their uploaders', async () => {
  const { code, stdout } = await call(`reports ${exportId} ${AT} --url ${url}`);
  expect(code).toBe(0);
  expect(stdout).toMatch(/lrep_\w+ +check-package +completed +jane@example\.com/);
  expect(stdout).toContain('never attested');
});

describe('tool-source', () => {
  it('reads the source, checks it against the lock, and saves both', async () => {
    const line = `tool-source ${build.buildHash} mailer ${AT} --url ${url} --lock build.json --out mailer.json --source mailer.js`;
    const { code, stdout } = await call(line);
    expect([code, stdout.split('\n')[0]]).toEqual([0, 'VERIFIED tool source of mailer']);
    expect(await readFile('mailer.js')).toEqual(build.source);
    expect((await call('tool-source --file mailer.json --lock build.json')).code).toBe(0);
  });

  it('writes the source alone to standard output for -', async () => {
    const { stdout, stderr } = await call(
      `tool-source ${build.buildHash} mailer ${AT} --url ${url} --source -`,
    );
    expect(stdout).toBe(build.source.toString());
    expect(stderr).toMatch(/^INTACT /);
  });

  it.each(['--out', '--source'])('%s writes through a link, and never over the input', async (option) => {
    await call(`tool-source ${build.buildHash} mailer ${AT} --url ${url} --out input.json --force`);
    const before = await readFile('input.json');
    await writeFile('behind', 'old');
    await symlink('behind', `link${option}`);
    await link('input.json', `hard${option}`);
    expect((await call(`tool-source --file input.json ${option} link${option} --force`)).code).toBe(0);
    expect((await lstat(`link${option}`)).isSymbolicLink()).toBe(true);
    expect(await readFile('behind', 'utf8')).not.toBe('old');
    for (const name of ['input.json', './input.json', `hard${option}`])
      expect((await call(`tool-source --file input.json ${option} ${name} --force`)).code).toBe(2);
    expect(await readFile('input.json')).toEqual(before);
  });

  it('saves nothing when the bytes were changed', async () => {
    await call(`tool-source ${build.buildHash} mailer ${AT} --url ${url} --out saved.json`);
    await writeFile('changed.json', (await readFile('saved.json', 'utf8')).replace('() => 1', '() => 2'));
    const { code, stdout } = await call('tool-source --file changed.json --source changed.js');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAILED [^]*tool-source\.DIGEST_MISMATCH/);
    await expect(readFile('changed.js')).rejects.toThrow();
  });
});
