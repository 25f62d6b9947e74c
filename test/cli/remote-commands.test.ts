import { execFileSync } from 'node:child_process';
import { link, lstat, symlink, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { buildArchive, localReport, SOURCE } from '../server/make.ts';
import { faultServer, json } from '../faults/server.ts';
import { call as callWith, expectPass, expectResult, SIGNER, useEvidenceFolder } from './make.ts';
import { startPlane } from './mirror/served-exports.ts';

const PROJECT = '--project prj_000000000001';
const ORGANIZATION = '--organization org_000000000001 --data plane';

let [exportId, buildHash, token, remote] = ['', '', '', ''];
let stop: () => Promise<unknown>;
const pass = (line: string) => expectPass(line, { now: Date.now });
const call = (line: string, env: Readonly<Record<string, string>> = { DRILLPROOF_TOKEN: token }) =>
  callWith(line, { env, now: Date.now });
const entitle = (limits: string) => pass(`admin org entitle ${ORGANIZATION} ${limits}`);

const dir = useEvidenceFolder(async () => {
  await writeFile('local.bin', 'opaque');
  const metadata = { ...localReport(1).metadata, createdAtMs: Date.UTC(2024, 0, 1, 12) };
  await writeFile('meta.json', JSON.stringify(metadata));
  const build = await buildArchive();
  ({ buildHash } = build);
  await writeFile('build.zip', build.bytes);
  await writeFile('build.json', execFileSync('unzip', ['-p', 'build.zip', 'build.json']));
  await pass('admin org create --name Acme --id org_000000000001 --data plane');
  await pass(`admin project create ${ORGANIZATION} --id prj_000000000001 --name web`);
  await pass(`admin ingest local-report local.bin ${PROJECT} --metadata meta.json --data plane`);
  await pass(`admin ingest build build.zip ${PROJECT} --data plane`);
  await pass(`export part-1.zip part-2.zip --report local.bin,meta=meta.json --out served ${SIGNER}`);
  const ingested = JSON.parse(await pass('admin ingest export served --data plane --json'));
  exportId = ingested.resource.evidenceExportId;
  token = (await pass(`admin token create ${ORGANIZATION} --all-projects`)).trim();
  await writeFile('token', `${token}\n`);
  const plane = await startPlane(dir.root);
  ({ stop } = plane);
  remote = `${PROJECT} --url ${plane.url}`;
});
afterAll(async () => expect(await stop()).toBe(0));

describe('admin', () => {
  it('admin token create prints a token once, on standard output alone', async () => {
    const line = `admin token create ${ORGANIZATION} ${PROJECT} --permission evidence.read`;
    const { stdout, stderr } = await call(line);
    const secret = stdout.trim();
    expect(secret).toMatch(/^\S{40,}$/);
    expect(stderr).toContain('the token is not shown again');
    expect(stderr).not.toContain(secret);
    const list = await pass(`admin token list ${ORGANIZATION} --json`);
    expect(list).not.toContain(secret);
    expect(list).not.toContain('tokenHash');
    expect(JSON.parse(list)).toMatchObject({ kind: 'tokens' });
  });

  it('admin token revoke ends the access of a token, whose next request ends with 3', async () => {
    const created = JSON.parse(await pass(`admin token create ${ORGANIZATION} --all-projects --json`));
    const list = () => call(`reports ${exportId} ${remote}`, { DRILLPROOF_TOKEN: created.token });
    expect((await list()).code).toBe(0);
    await pass(`admin token revoke ${created.tokenId} --data plane`);
    await expectResult(list(), 3, 'control.UNAUTHENTICATED');
    expect((await call(`admin token revoke ${created.tokenId} --data plane`)).code).toBe(2);
    for (const wrong of ['', '--all', `--all ${ORGANIZATION} tok_1`, ORGANIZATION])
      expect((await call(`admin token revoke ${wrong} --data plane`)).code, wrong).toBe(2);
  });

  it('admin token rotate prints the successor of a token, and the list has its name and last use', async () => {
    const create = `admin token create ${ORGANIZATION} --all-projects --name ci --json`;
    const { tokenId } = JSON.parse(await pass(create));
    const { stdout, stderr } = await call(`admin token rotate ${tokenId} --overlap 1h --data plane`);
    expect(stderr).toMatch(new RegExp(`name +ci\n[^]*replaces +${tokenId}\nwhich expires +20`));
    expect((await call(`reports ${exportId} ${remote}`, { DRILLPROOF_TOKEN: stdout.trim() })).code).toBe(0);
    const list = await pass(`admin token list ${ORGANIZATION}`);
    expect(list).toMatch(new RegExp(`${tokenId} +ci +live until \\S+ +never +all `));
    const readUses = async () => (await pass(`admin token list ${ORGANIZATION}`)).match(/ci +live +20\d\d-/g);
    await expect.poll(readUses, { timeout: 30_000 }).toHaveLength(1);
  });

  it('admin token revoke --all revokes every token of an organization', async () => {
    const other = '--organization org_000000000002 --data plane';
    await pass('admin org create --name Other --id org_000000000002 --data plane');
    for (const name of ['one', 'two'])
      await pass(`admin token create ${other} --all-projects --name ${name}`);
    expect(await pass(`admin token revoke --all ${other}`)).toBe('revoked 2 tokens of org_000000000002\n');
    expect(JSON.parse(await pass(`admin token revoke --all ${other} --json`))).toMatchObject({ revoked: 0 });
  });

  it('admin org entitle sets quotas, shows what is used, and removes a limit', async () => {
    await entitle('--max-stored-bytes 5000000 --max-operations 2');
    const shown = await entitle('--max-operations none');
    expect(shown).toMatch(/stored bytes +\d{4,} of 5000000\noperations +0, no limit\nuploads +0, no limit/);
    await entitle('--max-stored-bytes none');
  });

  it('admin ingest reports the second ingestion of the same file as unchanged', async () => {
    expect(await pass('admin ingest export served --data plane')).toContain('unchanged');
    expect(await pass(`admin ingest build build.zip ${PROJECT} --data plane`)).toContain('unchanged');
  });
});

describe('mirror', () => {
  it('mirror copies an export, which verify and sha256sum accept', async () => {
    const line = `mirror ${exportId} ${remote} --to mirror --token-file token`;
    const { code, stdout, stderr } = await call(line, {});
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('4 files');
    execFileSync('sha256sum', ['--quiet', '-c', 'SHA256SUMS'], { cwd: 'mirror' });
    const report = await pass('verify mirror --trust trust.json --jobs 1 --require-coverage');
    expect(report).toMatch(/^VERIFIED /);
  });

  it('mirror reads the manifest from a file, and omits local reports with --without-local-reports', async () => {
    const options = '--manifest served/manifest.json --without-local-reports --json';
    const { code, stdout } = await call(`mirror ${exportId} ${remote} --to partial ${options}`);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { manifestFrom: 'caller' }]);
  });

  it.each([
    ['an expired token', expiredToken],
    ['an unknown token', () => Promise.resolve('dp_unknown_0123456789')],
  ])('mirror with %s ends with 3, and leaves no folder', async (_, makeToken) => {
    const secret = await makeToken();
    const line = `mirror ${exportId} ${remote} --to refused`;
    const text = await expectResult(call(line, { DRILLPROOF_TOKEN: secret }), 3);
    expect(text).toMatch(
      /^drillproof: control\.UNAUTHENTICATED: .*\(correlation id corr_\S+\)\n {2}Set a valid token.*\n$/,
    );
    expect(text).not.toContain(secret);
    await expect(readdir('refused')).rejects.toThrow();
  });

  it('mirror of an unknown export ends with 3', async () => {
    await expectResult(call(`mirror evexp_000000000099 ${remote} --to unknown`), 3, 'control.NOT_FOUND');
  });
});

/** Creates a token, and waits until it has expired. */
async function expiredToken(): Promise<string> {
  const soon = Date.now() + 1_000;
  const secret = await pass(`admin token create ${ORGANIZATION} --all-projects --expires-at ${soon}`);
  while (Date.now() <= soon) await new Promise((resolve) => setTimeout(resolve, 50));
  return secret.trim();
}

it('reports lists the local reports at the control plane with the claims of their uploaders', async () => {
  const text = await expectResult(call(`reports ${exportId} ${remote}`), 0, 'never attested');
  expect(text).toMatch(/lrep_\w+ +restore +completed +a person/);
});

const readSource = (options: string) => call(`tool-source ${buildHash} greeter ${remote} ${options}`);

const checkSaved = (named: string) =>
  call(`tool-source ${named} --file tool.json --lock build.json --source other.js --force`);

describe('tool-source', () => {
  it('tool-source checks the source with the lock, and saves both', async () => {
    const { code, stdout } = await readSource('--lock build.json --out tool.json --source tool.js');
    expect([code, stdout.split('\n')[0]]).toEqual([0, 'VERIFIED tool source of greeter']);
    expect(await readFile('tool.js', 'utf8')).toBe(SOURCE);
    expect((await call('tool-source --file tool.json --lock build.json')).code).toBe(0);
  });

  it('tool-source --source - writes the source alone to standard output', async () => {
    const { stdout, stderr } = await readSource('--source -');
    expect(stdout).toBe(SOURCE);
    expect(stderr).toMatch(/^INTACT /);
  });

  it.each(['--out', '--source'])(
    'tool-source %s writes neither through a link nor over the input',
    async (option) => {
      await readSource('--out input.json --force');
      const before = await readFile('input.json');
      await writeFile('target', 'old');
      await symlink('target', `link${option}`);
      await link('input.json', `hard${option}`);
      const write = async (to: string) =>
        (await call(`tool-source --file input.json ${option} ${to} --force`)).code;
      for (const name of [`link${option}`, 'input.json', './input.json', `hard${option}`])
        expect(await write(name)).toBe(2);
      expect(await readFile('target', 'utf8')).toBe('old');
      expect(await readFile('input.json')).toEqual(before);
    },
  );

  it('tool-source checks that a saved source is of the build and package that are named', async () => {
    expect((await checkSaved(`${buildHash} greeter`)).code).toBe(0);
    await expectResult(checkSaved(`${buildHash} mailer`), 1, 'tool-source.SUBJECT_MISMATCH');
    await rm('other.js');
    await expectResult(checkSaved(`sha256:${'0'.repeat(64)} greeter`), 1, 'tool-source.SUBJECT_MISMATCH');
    await expect(lstat('other.js')).rejects.toThrow();
  });

  it('tool-source writes nothing, and ends with 3, when a server answers for another package', async () => {
    const answer = JSON.parse(await readFile('tool.json', 'utf8'));
    const lying = await faultServer((_, response) => json(response, 200, answer));
    const line = `tool-source ${buildHash} mailer ${PROJECT} --url ${lying.url} --lock build.json --source mailer.js`;
    await expectResult(call(line), 3, 'transport.ANSWER_MISMATCH');
    await expect(lstat('mailer.js')).rejects.toThrow();
    await lying.close();
  });

  it('tool-source saves nothing when the bytes were changed', async () => {
    await readSource('--out saved.json');
    await writeFile('changed.json', (await readFile('saved.json', 'utf8')).replace('hello', 'hullo'));
    const text = await expectResult(call('tool-source --file changed.json --source changed.js'), 1);
    expect(text).toMatch(/^FAILED [^]*tool-source\.DIGEST_MISMATCH/);
    await expect(readFile('changed.js')).rejects.toThrow();
  });
});
