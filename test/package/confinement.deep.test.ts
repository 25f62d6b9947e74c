import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, scratch, writeEvidence, writeRun } from '../cli/make.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist/cli/main.js');

let dir: Awaited<ReturnType<typeof scratch>>;
let root: string;
const home = process.cwd();
beforeAll(async () => {
  dir = await scratch();
  root = realpathSync(dir.root);
  await writeEvidence(root);
  process.chdir(root);
  await must(['export', 'part-1.zip', 'part-2.zip', '--out', 'one.zip']);
  await writeBigExport();
  writeToolSource();
  await must(['verify', 'export', ...TRUST, '--format', 'json=report.json']);
  mkdirSync('tmp');
  cpSync('export', 'copy', { recursive: true });
}, 60_000);
afterAll(async () => {
  process.chdir(home);
  await dir[Symbol.asyncDispose]();
});

async function must(args: readonly string[]): Promise<void> {
  expect(await call(args)).toMatchObject({ code: 0 });
}

const SIGNER = ['--key', 'key.pem', '--issuer', 'acme-ci'];

/** More bytes than one thread judges alone, in parts so large that each is a batch of its own. */
async function writeBigExport(): Promise<void> {
  const parts = ['big-3.zip', 'big-4.zip'];
  for (const [i, part] of parts.entries()) {
    const roles = await writeRun(root, i + 3);
    writeFileSync(`run-${i + 3}/noise.bin`, randomBytes(10 * 2 ** 20));
    const run = [`run-${i + 3}`, '--run', `run-${i + 3}.json`, ...SIGNER, ...roles];
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

/** Every file below the folder with its bytes and mode, so that whatever is written shows. */
function tree(): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => {
      const stats = statSync(path);
      const digest = stats.isFile() ? sha256(readFileSync(path)) : '';
      return `${relative(root, path)} ${stats.mode} ${digest}`;
    });
}

function under(command: string, before: readonly string[], args: readonly string[]) {
  const { status, stdout, stderr, error } = spawnSync(command, [...before, MAIN, ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: 50_000,
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: join(root, 'tmp') },
  });
  // Without the program nothing is proven: that is a failure and no skip.
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

const TRUST = ['--trust', 'trust.json', '--as-of', '2026-11-21'];
const LINES: readonly (readonly string[])[] = [
  ['verify', 'export', ...TRUST, '--jobs', '1'],
  ['verify', 'export', ...TRUST, '--jobs', '1', '--second-opinion'],
  ['verify', 'one.zip', ...TRUST, '--second-opinion'],
  ['verify', 'part-1.zip', ...TRUST],
  ['verify', 'export', 'copy', 'part-2.zip', ...TRUST, '--jobs', '2'],
  ['diff', 'report.json', 'report.json'],
  ['tool-source', '--file', 'tool.json'],
  ['inspect', 'export'],
  ['explain', 'part.DIGEST_MISMATCH'],
  ['keys', 'list', 'trust.json'],
];
/** What more than one thread judges. */
const THREADED: typeof LINES = [
  ['verify', 'big', ...TRUST, '--jobs', '2'],
  ['verify', 'big', ...TRUST, '--jobs', '2', '--second-opinion'],
];
const ALL = [...LINES, ...THREADED];

const NO_NETWORK = process.getuid?.() === 0 ? ['-n', process.execPath] : ['-r', '-n', process.execPath];
/** The right to threads; Node warns of it at the start of each, on stderr. */
const THREADS = ['--allow-worker', '--disable-warning=PERM0006'];
const READ_ONLY = () => ['--permission', `--allow-fs-read=${ROOT}/`, `--allow-fs-read=${root}/`];

describe('the built program', () => {
  it.each(ALL.map((args) => [args.join(' '), args] as const))('needs no network: %s', (_line, args) => {
    const { status, stderr } = under('unshare', NO_NETWORK, args);
    expect([status, stderr]).toEqual([0, '']);
  });

  it.each(LINES.map((args) => [args.join(' '), args] as const))(
    'needs no right but to read its inputs: %s',
    (_line, args) => {
      const { status, stderr } = under(process.execPath, READ_ONLY(), args);
      expect([status, stderr]).toEqual([0, '']);
    },
  );

  it.each(THREADED.map((args) => [args.join(' '), args] as const))(
    'needs the right to threads besides for many large parts: %s',
    (_line, args) => {
      const { status, stderr } = under(process.execPath, [...READ_ONLY(), ...THREADS], args);
      expect([status, stderr]).toEqual([0, '']);
      // Without that right it says so and judges nothing: threads are really at work above.
      const refused = under(process.execPath, READ_ONLY(), args);
      expect([refused.status, refused.stdout]).toEqual([3, '']);
    },
  );

  it('writes nothing, not even a temporary file', () => {
    const before = tree();
    for (const args of ALL) expect(under(process.execPath, [], args).status).toBe(0);
    expect(tree()).toEqual(before);
  });

  it('cannot write where it has no right, so that the permission above is in force', () => {
    const { status } = under(process.execPath, READ_ONLY(), [...LINES[3]!, '--format', 'json=written.json']);
    expect(status).not.toBe(0);
  });

  it('has no network where it is taken away, so that the test above can fail', () => {
    const code = "fetch('http://127.0.0.1:4999').catch((e) => console.log(e.cause.code))";
    const { stdout, error } = spawnSync('unshare', [...NO_NETWORK, '-e', code], { encoding: 'utf8' });
    expect([error, stdout]).toEqual([undefined, 'ENETUNREACH\n']);
  });
});

describe('report bytes', () => {
  const WORLDS = ['UTC', 'Asia/Kolkata', 'America/St_Johns'].flatMap((TZ) =>
    ['C', 'tr_TR.UTF-8'].map((LANG) => ({ TZ, LANG, LC_ALL: LANG })),
  );

  it.each([
    ['text', 'export'],
    ['json', 'export'],
    ['json', 'big'],
  ])('are the same whatever the zone, locale and threads: %s of %s', (format, name) => {
    const seen = new Set(
      WORLDS.flatMap((env, i) => {
        const jobs = ['1', '2', '8'][i % 3]!;
        const args = [MAIN, 'verify', name, ...TRUST, '--jobs', jobs];
        const { stdout } = spawnSync(process.execPath, [...args, '--format', format], {
          cwd: root,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { PATH: process.env['PATH'] ?? '', ...env },
        });
        return [stdout];
      }),
    );
    expect([seen.size, [...seen][0]!.length > 500]).toEqual([1, true]);
  });
});
