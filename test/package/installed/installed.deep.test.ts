import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { makeFolder, writeFiles } from '../../support/folder.ts';
import { type Installed, inFolder, listCommands, tryEveryCommand, writeInputs } from './every-command.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** Root runs the installed package as an unprivileged user. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
/** The oldest supported version of Node.js and the newest one. The other tests run on the version between them. */
const VERSIONS = ['22.13.0', '26.10.0'];

const project = await makeFolder();
const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', project];
const tarball = execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }).trim();
await writeFiles(project, { 'package.json': '{"type":"module"}' });
const install = ['install', '--omit=dev', '--no-audit', '--no-fund', '--silent'];
execFileSync('npm', [...install, join(project, tarball)], { cwd: project });

/** What no package in `project` belongs to: other versions of Node.js, and the single file. */
const tools = await makeFolder();
const versions = VERSIONS.map((version) => `v${version}@npm:node-linux-${process.arch}@${version}`);
execFileSync('npm', [...install, '--no-save', '--prefix', tools, ...versions], { cwd: tools });
execFileSync(process.execPath, ['scripts/build.ts', 'single', join(tools, 'single')], { cwd: ROOT });
for (const folder of [project, tools]) execFileSync('chmod', ['-R', 'a+rX', folder]);
chmodSync(project, 0o755);
chmodSync(tools, 0o755);

const MAIN = join(project, 'node_modules/drillproof', manifest.bin.drillproof);
const nodeOf = (version: string): string => join(tools, `node_modules/v${version}/bin/node`);

/** Gives a program a folder of its own below the installed package, which its user may write to. */
function makeUser(name: string, ...program: readonly string[]): Installed {
  const cwd = join(project, name);
  mkdirSync(cwd);
  if (USER.uid !== undefined) chownSync(cwd, USER.uid, USER.gid);
  return { program, cwd, user: USER };
}

describe.each([
  ['the installed command', [process.execPath, MAIN]],
  ['the single file', [process.execPath, join(tools, 'single/drillproof.mjs')]],
  ...VERSIONS.map((version): [string, string[]] => [
    `the installed command on Node.js ${version}`,
    [nodeOf(version), MAIN],
  ]),
])('%s', (name, program) => {
  it(`${name} does what every command of --help promises, with real input and a worker`, async () => {
    const user = makeUser(name.replaceAll(' ', '-'), ...program);
    const trials = await tryEveryCommand(user, await writeInputs(user.cwd));
    expect(trials.filter(({ code, expected }) => code !== expected)).toEqual([]);
    const commands = listCommands(user);
    expect(commands.length).toBeGreaterThan(40);
    const isTried = (command: string) => trials.some(({ line }) => `${line} `.startsWith(`${command} `));
    expect(commands.filter((command) => !isTried(command))).toEqual([]);
  }, 240_000);
});

const installed = makeUser('user', process.execPath);
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, args, { ...inFolder(installed), encoding: 'utf8' });

it('the installed selftest passes on native and portable primitives without development dependencies', () => {
  const { status, stdout } = run(MAIN, 'selftest');
  expect([status, stdout]).toEqual([0, expect.stringContaining(' 0 failed')]);
}, 240_000);

const entries = Object.keys(manifest.exports).filter((name) => !/page|json/.test(name));
it.each(entries.map((name) => name.replace('.', 'drillproof')))(
  'the entry %s of the installed package loads by import and by require',
  (name) => {
    const program = `import { createRequire } from 'node:module';
      const names = Object.keys(await import('${name}'));
      const required = Object.keys(createRequire(import.meta.url)('${name}'));
      process.exitCode = names.length > 1 && names.every((member) => required.includes(member)) ? 0 : 1;`;
    const { status, stderr } = run('--input-type=module', '-e', program);
    expect([status, stderr]).toEqual([0, '']);
  },
);

it('the package contains no compiled code that its digests do not cover', () => {
  const names = readdirSync(join(project, 'node_modules/drillproof'), { recursive: true, encoding: 'utf8' });
  expect(names).toContain('dist/cli/NOTICES.txt');
  expect(names.filter((name) => /\.(cache|code|node)$/.test(name))).toEqual([]);
});

it('an installation for a user who only verifies has no driver of a database', () => {
  const packages = readdirSync(join(project, 'node_modules'));
  expect(packages).toContain('zod');
  expect(packages.filter((name) => /^(?:pg|echarts|@aws-sdk)/.test(name))).toEqual([]);
});
