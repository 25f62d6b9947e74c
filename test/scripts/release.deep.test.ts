import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { makeFolder } from '../support/folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const folder = await makeFolder();
const out = join(folder, 'release');

/** Makes a release from a report of tests in a clone, because it packs and so builds. */
function release(to: string, passed: number, ...words: readonly string[]) {
  const report = join(folder, 'tests.json');
  const counts = {
    numTotalTests: 3,
    numPassedTests: passed,
    startTime: Date.now() - 1000,
    success: passed === 3,
  };
  writeFileSync(report, JSON.stringify(counts));
  const script = ['scripts/release.ts', '--tests', report, ...words, to];
  return spawnSync(process.execPath, script, { cwd: clone, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

const clone = join(folder, 'clone');
beforeAll(() => {
  const script = `mkdir ${clone} && git ls-files -z | xargs -0 cp --parents --no-dereference -t ${clone} && cp -al node_modules ${clone}/node_modules`;
  execFileSync('/bin/sh', ['-ec', script], { cwd: ROOT });
});

it('release --dry-run makes every file, with sums that hold and evidence that the new command verifies', () => {
  const { status, stderr, stdout } = release(out, 3, '--dry-run');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('VERIFIED');
  expect(stdout).toContain('YES');
  expect(readdirSync(out).toSorted()).toEqual([
    'NOTICES.txt',
    'SHA256SUMS',
    `drillproof-${manifest.version}.tgz`,
    'drillproof.html',
    'drillproof.mjs',
    'evidence.zip',
    'release.pub.pem',
    'sbom.cdx.json',
  ]);
  const inFolder = { cwd: out, encoding: 'utf8' } as const;
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], inFolder);
  const unpack = `unzip -p evidence.zip 'parts/*' > ../part.zip && unzip -p ../part.zip objects/SHA256SUMS`;
  expect(execFileSync('/bin/sh', ['-c', unpack], inFolder)).toBe(
    readFileSync(join(out, 'SHA256SUMS'), 'utf8'),
  );
  const bill = JSON.parse(readFileSync(join(out, 'sbom.cdx.json'), 'utf8')) as {
    components: readonly { name: string }[];
  };
  const names = bill.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['drillproof', 'zod', 'commander', 'undici', 'yaml']));
  expect(names.filter((name) => name === 'vitest' || name === 'typescript')).toEqual([]);
}, 240_000);

it('release stops when a test failed', () => {
  const { status, stdout } = release(join(folder, 'failed'), 2, '--dry-run');
  expect(status).toBe(1);
  expect(stdout).not.toContain('YES');
}, 240_000);

it('release without --dry-run refuses a tag of another version', () => {
  const { status, stderr } = release(join(folder, 'tagged'), 3);
  expect(status).toBe(1);
  expect(stderr).toContain(`package.json has the version ${manifest.version}`);
});

const workflows = readdirSync(join(ROOT, '.github/workflows'));
it.each(workflows)(
  'the workflow %s pins actions by commit and has only the permissions that it names',
  (name) => {
    const text = readFileSync(join(ROOT, '.github/workflows', name), 'utf8');
    const uses = Array.from(text.matchAll(/uses: (.*)$/gm), ([, action = '']) => action);
    expect(uses.length).toBeGreaterThan(0);
    for (const action of uses) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const { permissions } = parse(text) as { permissions: object };
    expect(Object.values(permissions).filter((right) => right !== 'read')).toEqual([]);
  },
);

it('only package.json has the address of the repository', () => {
  const { url } = manifest.repository;
  const address = url.replace(/^git\+https:\/\/|\.git$/g, '');
  const found = execFileSync(
    'git',
    ['grep', '-lF', address, '--', '.', ':!docs/schemas', ':!package-lock.json'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  expect(found.trim().split('\n')).toEqual(['package.json']);
});
