import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { call, ROLES, useEvidenceFolder, writeRun } from '../cli/make.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist/cli/main.js');

const folder = useEvidenceFolder();
let root: string;
beforeAll(async () => {
  root = realpathSync(folder.root);
  await must(['export', 'part-1.zip', 'part-2.zip', '--out', 'one.zip']);
  await writeBigExport();
  writeToolSource();
  await must(['verify', 'export', ...TRUST, '--format', 'json=report.json']);
  mkdirSync('tmp');
  cpSync('export', 'copy', { recursive: true });
}, 60_000);
async function must(args: readonly string[]): Promise<void> {
  expect(await call(args)).toMatchObject({ code: 0 });
}

const SIGNER = ['--key', 'key.pem', '--issuer', 'acme-ci'];

/** An export so large that two threads verify it, one part each. */
async function writeBigExport(): Promise<void> {
  const parts = ['big-3.zip', 'big-4.zip'];
  for (const [i, part] of parts.entries()) {
    await writeRun(root, i + 3);
    writeFileSync(`run-${i + 3}/noise.bin`, randomBytes(10 * 2 ** 20));
    const run = [`run-${i + 3}`, '--run', `run-${i + 3}.json`, ...SIGNER, ...ROLES.split(' ')];
    await must(['pack', ...run, '--compression', 'store', '--out', part]);
  }
  await must(['export', ...parts, ...SIGNER, '--out', 'big']);
}

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

function writeToolSource(): void {
  const source = 'export const ping = 1;\n';
  const resource = {
    schemaVersion: 1,
    organizationId: 'org_000000000001',
    projectId: 'prj_000000000001',
    buildHash: `sha256:${sha256('build')}`,
    packageId: 'ping-tool',
    version: '1.2.3',
    manifestHash: `sha256:${sha256('manifest')}`,
    artifactHash: `sha256:${sha256(source)}`,
    implementation: { kind: 'javascript', source, bytes: source.length },
  };
  writeFileSync('tool.json', JSON.stringify(resource));
}

/** Every file below the folder with its mode and digest, so that every write shows. */
function listFiles(): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => {
      const stats = statSync(path);
      const digest = stats.isFile() ? sha256(readFileSync(path)) : '';
      return `${relative(root, path)} ${stats.mode} ${digest}`;
    });
}

/** Runs the built command through a program that confines it. */
function runUnder(command: string, before: readonly string[], args: readonly string[]) {
  const { status, stdout, stderr, error } = spawnSync(command, [...before, MAIN, ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: 50_000,
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: join(root, 'tmp') },
  });
  // Without the program this test proves nothing, so it fails.
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

const TRUST = ['--trust', 'trust.json', '--as-of', '2026-11-21'];
const LINES: readonly (readonly string[])[] = [
  ['verify', 'export', ...TRUST],
  ['verify', 'export', ...TRUST, '--second-opinion'],
  ['verify', 'one.zip', ...TRUST, '--second-opinion'],
  ['verify', 'part-1.zip', ...TRUST],
  ['verify', 'export', 'copy', 'part-2.zip', ...TRUST, '--jobs', '2'],
  ['diff', 'report.json', 'report.json'],
  ['tool-source', '--file', 'tool.json'],
  ['inspect', 'export'],
  ['explain', 'part.DIGEST_MISMATCH'],
  ['keys', 'list', 'trust.json'],
];
/** Commands that start threads if they may. */
const THREADED: typeof LINES = [
  ['verify', 'big', ...TRUST, '--jobs', '2'],
  ['verify', 'big', ...TRUST, '--jobs', '2', '--second-opinion'],
];
const ALL = [...LINES, ...THREADED];
const withTitles = (lines: typeof LINES) => lines.map((args) => [args.join(' '), args] as const);

const NO_NETWORK = process.getuid?.() === 0 ? ['-n', process.execPath] : ['-r', '-n', process.execPath];
const READ_ONLY = () => ['--permission', `--allow-fs-read=${ROOT}/`, `--allow-fs-read=${root}/`];

it.each(withTitles(ALL))('the built program needs no network: %s', (_, args) => {
  expect(runUnder('unshare', NO_NETWORK, args)).toMatchObject({ status: 0, stderr: '' });
});

it.each(withTitles(ALL))('the built program needs only permission to read its inputs: %s', (_, args) => {
  expect(runUnder(process.execPath, READ_ONLY(), args)).toMatchObject({ status: 0, stderr: '' });
});

it.each(withTitles(THREADED))(
  'the built program starts threads where it may, with one result: %s',
  (_, args) => {
    const { stderr, ...permitted } = runUnder(process.execPath, [...READ_ONLY(), '--allow-worker'], args);
    expect(stderr).toContain('PERM0006'); // Node.js warns of every thread
    expect(runUnder(process.execPath, READ_ONLY(), args)).toEqual({ stderr: '', ...permitted });
  },
);

it('the built program writes nothing, not even a temporary file', () => {
  const before = listFiles();
  for (const args of ALL) expect(runUnder(process.execPath, [], args).status).toBe(0);
  expect(listFiles()).toEqual(before);
});

it('the built program cannot write without permission, so the tests above can fail', () => {
  const args = [...LINES[3]!, '--format', 'json=written.json'];
  expect(runUnder(process.execPath, READ_ONLY(), args).status).not.toBe(0);
});

it('a confined program has no network, so the test above can fail', () => {
  const code = "fetch('http://127.0.0.1:4999').catch((e) => console.log(e.cause.code))";
  const { stdout, error } = spawnSync('unshare', [...NO_NETWORK, '-e', code], { encoding: 'utf8' });
  expect([error, stdout]).toEqual([undefined, 'ENETUNREACH\n']);
});

const ENVIRONMENTS = ['UTC', 'Asia/Kolkata', 'America/St_Johns'].flatMap((TZ) =>
  ['C', 'tr_TR.UTF-8'].map((LANG) => ({ TZ, LANG, LC_ALL: LANG })),
);

it.each([
  ['text', 'export'],
  ['json', 'export'],
  ['json', 'big'],
])('the %s report on %s has the same bytes with every time zone, locale and --jobs', (format, name) => {
  const [first = '', ...others] = ENVIRONMENTS.map((env, i) => {
    const args = [MAIN, 'verify', name, ...TRUST, '--jobs', ['1', '2', '8'][i % 3]!, '--format', format];
    const options = {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', ...env },
    } as const;
    return spawnSync(process.execPath, args, options).stdout;
  });
  expect(first.length).toBeGreaterThan(500);
  expect(new Set(others)).toEqual(new Set([first]));
});
