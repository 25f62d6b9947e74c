import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { trustStoreJwks } from '../../src/trust/store.ts';
import { flipBit, makeLargeExport, makeTrust } from '../support/evidence.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Root runs the installed package as an unprivileged user. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const project = await makeFolder();
const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', project];
const tarball = execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }).trim();
await writeFiles(project, { 'package.json': '{"type":"module"}' });
const install = ['install', '--omit=dev', '--no-audit', '--no-fund', '--silent', join(project, tarball)];
execFileSync('npm', install, { cwd: project });

const { files, signer } = await makeLargeExport();
await writeFiles(join(project, 'export'), files);
const [path, bytes] = Object.entries(files).find(([name]) => name.startsWith('parts/'))!;
await writeFiles(join(project, 'damaged'), { ...files, [path]: flipBit(bytes, bytes.length >> 1) });
await writeFiles(project, { 'trust.json': JSON.stringify(trustStoreJwks(makeTrust(signer))) });
execFileSync('chmod', ['-R', 'a+rX', project]);
chmodSync(project, 0o755);

const run = (program: string, ...args: readonly string[]) =>
  spawnSync(program, args, {
    cwd: project,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    env: { PATH: process.env['PATH'] },
    ...USER,
  });
const MAIN = join(project, 'node_modules/drillproof', manifest.bin.drillproof);
const drillproof = (...args: readonly string[]) => run(process.execPath, MAIN, ...args);

it('the installed command verifies an export and refuses a damaged one', () => {
  const options = ['--trust', 'trust.json', '--as-of', '2027-01-01T00:00:00Z', '--jobs', '2'];
  const verified = drillproof('verify', 'export', ...options);
  expect([verified.status, verified.stderr]).toEqual([0, '']);
  expect(drillproof('verify', 'damaged', ...options).status).toBe(1);
});

it('the installed selftest passes on native and portable primitives without development dependencies', () => {
  const { status, stdout } = drillproof('selftest', '--kind', 'attestations', '--kind', 'archives');
  expect([status, stdout]).toEqual([0, expect.stringContaining(' 0 failed')]);
}, 120_000);

it('every command of the installed package loads and prints its help', () => {
  const names = Array.from(
    drillproof('--help').stdout.matchAll(/^ {2}([a-z-]+)(?= .*\S)/gm),
    ([, name = '']) => name,
  );
  expect(names.length).toBeGreaterThanOrEqual(21);
  const failed = names.filter((name) => drillproof(name, '--help').status !== 0);
  expect(failed).toEqual([]);
}, 120_000);

const entries = Object.keys(manifest.exports).filter((name) => !/page|json/.test(name));
it.each(entries.map((name) => name.replace('.', 'drillproof')))(
  'the entry %s of the installed package loads by import and by require',
  (name) => {
    const program = `import { createRequire } from 'node:module';
      const names = Object.keys(await import('${name}'));
      const required = Object.keys(createRequire(import.meta.url)('${name}'));
      process.exitCode = names.length > 1 && names.every((member) => required.includes(member)) ? 0 : 1;`;
    const { status, stderr } = run(process.execPath, '--input-type=module', '-e', program);
    expect([status, stderr]).toEqual([0, '']);
  },
);

it('the package contains no compiled code that its digests do not cover', () => {
  const names = readdirSync(join(project, 'node_modules/drillproof'), { recursive: true, encoding: 'utf8' });
  expect(names).toContain('dist/cli/NOTICES.txt');
  expect(names.filter((name) => /\.(cache|code|node)$/.test(name))).toEqual([]);
});
