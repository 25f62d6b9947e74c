import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { collectResult, drillproof, PROGRAM, start, useEvidenceFolder } from './make.ts';

useEvidenceFolder();

it('the process prints the verdict on stdout, nothing on stderr, and ends with the exit code', async () => {
  const result = { code: 0, stderr: '', stdout: expect.stringMatching(/^VERIFIED /) as string };
  expect(await drillproof('verify export --trust trust.json')).toEqual(result);
});

it('the process reads a key from standard input', async () => {
  const input = await readFile('key.pub.pem', 'utf8');
  expect(await drillproof('keys add - --issuer i --trust piped.json', { input })).toMatchObject({ code: 0 });
});

it('a closed reader changes neither the exit code nor stderr', async () => {
  const child = start('explain');
  child.stdout.destroy();
  expect(await collectResult(child)).toMatchObject({ code: 0, stderr: '' });
});

const startWithVersion = (node: string, line: string) => {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } })`;
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(pretend)}`;
  return drillproof(line, { env: { NODE_OPTIONS } });
};

it.each(['18.20.8', '20.20.2', '22.12.0'])(
  'the version of Node.js %s is refused with exit code 2',
  async (version) => {
    expect(await startWithVersion(version, 'gate export')).toEqual({
      code: 2,
      stdout: '',
      stderr: `drillproof: usage.INVALID: Node.js ${version} is too old\n  Install Node.js 22.13 or later.\n`,
    });
  },
);

it.each(['22.13.0', '23.0.0'])('the version of Node.js %s runs the program', async (version) => {
  expect(await startWithVersion(version, '--version')).toMatchObject({ code: 0, stderr: '' });
});

const writeToFull = (line: string) =>
  spawnSync('bash', ['-c', `"$@" >/dev/full`, 'bash', process.execPath, ...PROGRAM, ...line.split(' ')], {
    encoding: 'utf8',
  });

it('a full standard output ends a pass with 3, and an error reports it', () => {
  const stderr = expect.stringContaining('io.DISK_FULL: cannot write standard output') as string;
  expect(writeToFull('verify export --trust trust.json')).toMatchObject({ status: 3, stderr });
});

it.each(['verify export', 'gate export --trust trust.json'])(
  'a full standard output does not change the exit code 1 of %s',
  (line) => {
    expect(writeToFull(line).status).toBe(1);
  },
);

it('an interruption ends with 130 and one line, and leaves nothing behind', async () => {
  const server = createServer(() => undefined); // accepts the request and never answers
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await writeFile('token', 'dp_any\n');
  const { port } = server.address() as AddressInfo;
  const remote = `--project prj_000000000001 --url http://127.0.0.1:${port} --token-file token`;
  const child = start(`mirror evexp_000000000001 ${remote} --to cut`);
  const result = collectResult(child);
  await once(server, 'request');
  child.kill('SIGINT');
  const stderr = expect.stringMatching(/^drillproof: transport\.ABORTED: interrupted\n {2}\S.*\n$/) as string;
  expect(await result).toMatchObject({ code: 130, stderr });
  expect(await readdir('.')).not.toContain('cut');
  server.closeAllConnections();
  server.close();
});

describe('a FIFO', () => {
  beforeAll(() => void execFileSync('mkfifo', ['fifo']));

  it('as an input without a writer ends with 130 after a signal', async () => {
    const child = start('policy check fifo');
    const result = collectResult(child);
    const kill = setTimeout(() => child.kill('SIGTERM'), 1000); // more than it needs to open the FIFO
    expect(await result).toMatchObject({
      code: 130,
      stderr: expect.stringContaining('interrupted') as string,
    });
    clearTimeout(kill);
  });

  it('as evidence is refused, and does not wait', async () => {
    for (const line of [
      'gate fifo --trust trust.json',
      'verify fifo',
      'dsse create fifo --key key.pem --issuer i --out o',
    ])
      expect((await collectResult(start(line))).code).toBe(line.startsWith('gate') ? 3 : 2);
  });

  it('as an input is read when a writer comes later', async () => {
    const child = start('policy check fifo');
    const result = collectResult(child);
    execFileSync('bash', ['-c', '"$@" > fifo', 'bash', process.execPath, ...PROGRAM, 'policy', 'init', '-']);
    expect(await result).toMatchObject({ code: 0 });
  });

  it('as an output without a reader is refused, and does not wait', async () => {
    const result = await collectResult(start('verify export --trust trust.json --format json=fifo --force'));
    expect(result.stderr).toContain('io.WRITE_FAILED');
  });
});
