import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { readdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drillproof, PROGRAM, scratch, start, writeEvidence } from './make.ts';

const dir = await scratch();
await writeEvidence(dir.root);
afterAll(() => dir[Symbol.asyncDispose]());

it('the process prints the verdict on stdout, nothing on stderr, and ends with the exit code', async () => {
  const { code, stdout, stderr } = await drillproof(['verify', 'export', '--trust', 'trust.json'], {
    cwd: dir.root,
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^VERIFIED /);
});

it('the process reads a key from standard input, so that it need not lie in a file', async () => {
  const made = await drillproof(['keys', 'add', '-', '--issuer', 'i', '--trust', 'piped.json'], {
    cwd: dir.root,
    input: execFileSync('cat', [dir.path('key.pub.pem')]).toString(),
  });
  expect(made.code).toBe(0);
});

it('a closed reader changes neither the exit code nor stderr', async () => {
  const child = start(['explain'], { cwd: dir.root });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, stderr]).toEqual([0, '']);
});

const withVersion = (node: string, args: readonly string[]) => {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } })`;
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(pretend)}`;
  return drillproof(args, { cwd: dir.root, env: { NODE_OPTIONS } });
};

it.each(['18.20.8', '20.20.2', '22.12.0'])(
  'the version of Node.js %s is refused with exit code 2',
  async (version) => {
    expect(await withVersion(version, ['gate', 'export'])).toEqual({
      code: 2,
      stdout: '',
      stderr: `drillproof: usage.INVALID: Node.js ${version} is too old\n  Install Node.js 22.13 or later.\n`,
    });
  },
);

it.each(['22.13.0', '23.0.0'])('the version of Node.js %s runs the program', async (version) => {
  expect(await withVersion(version, ['--version'])).toMatchObject({ code: 0, stderr: '' });
});

const into = (args: string) =>
  spawnSync('bash', ['-c', `"$@" >/dev/full`, 'bash', process.execPath, ...PROGRAM, ...args.split(' ')], {
    cwd: dir.root,
    encoding: 'utf8',
  });

it('a full standard output ends a pass with 3, and an error reports it', () => {
  const { status, stderr } = into('verify export --trust trust.json');
  expect([status, stderr]).toEqual([
    3,
    expect.stringContaining('io.DISK_FULL: cannot write standard output') as string,
  ]);
});

it('standard output that is full leaves the exit code of any other result', () => {
  expect(into('verify export').status).toBe(1);
  expect(into('gate export --trust trust.json').status).toBe(1);
});

describe('an interruption', () => {
  let server: Server;
  let url: string;
  let reached: Promise<unknown>;
  beforeAll(async () => {
    server = createServer(() => undefined); // takes the request and never answers
    reached = once(server, 'request');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    await writeFile(dir.path('token'), 'dp_any\n');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('ends with 130 and one line, and leaves nothing behind', async () => {
    const args = [
      'mirror',
      'evexp_000000000001',
      '--project',
      'prj_000000000001',
      '--url',
      url,
      '--to',
      'cut',
      '--token-file',
      'token',
    ];
    const child = start(args, { cwd: dir.root });
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    await reached;
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(130);
    expect(stderr).toMatch(/^drillproof: transport\.ABORTED: interrupted\n {2}\S.*\n$/);
    expect(await readdir(dir.root)).not.toContain('cut');
  });
});
