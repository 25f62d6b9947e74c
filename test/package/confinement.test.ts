import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, scratch, writeEvidence } from '../cli/make.ts';

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
  await call(['export', 'part-1.zip', 'part-2.zip', '--out', 'one.zip']);
  mkdirSync('tmp');
  cpSync('export', 'copy', { recursive: true });
});
afterAll(async () => {
  process.chdir(home);
  await dir[Symbol.asyncDispose]();
});

/** Every file below the folder with its bytes and mode, so that whatever is written shows. */
function tree(): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => {
      const stats = statSync(path);
      const digest = stats.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
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
  ['inspect', 'export'],
  ['explain', 'part.DIGEST_MISMATCH'],
  ['keys', 'list', 'trust.json'],
];

const NO_NETWORK = process.getuid?.() === 0 ? ['-n', process.execPath] : ['-r', '-n', process.execPath];
const READ_ONLY = () => ['--permission', `--allow-fs-read=${ROOT}/`, `--allow-fs-read=${root}/`];

describe('the built program', () => {
  it.each(LINES.map((args) => [args.join(' '), args] as const))('needs no network: %s', (_line, args) => {
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

  it('writes nothing, not even a temporary file', () => {
    const before = tree();
    for (const args of LINES) expect(under(process.execPath, [], args).status).toBe(0);
    expect(tree()).toEqual(before);
  });

  it('cannot write where it has no right, so that the permission above is in force', () => {
    const { status } = under(process.execPath, READ_ONLY(), [...LINES[3]!, '--format', 'json=report.json']);
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

  it.each(['text', 'json'])('are the same whatever the zone, locale and threads: %s', (format) => {
    const seen = new Set(
      WORLDS.flatMap((env, i) => {
        const jobs = ['1', '2', '8'][i % 3]!;
        const args = [MAIN, 'verify', i % 2 === 0 ? 'export' : './export', ...TRUST, '--jobs', jobs];
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
