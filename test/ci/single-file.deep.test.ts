import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { makeTestFolder } from '../support/folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FILE = Buffer.from('console.log("the command");\n');
const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Answers with the files of a release. */
const paths: string[] = [];
let body = FILE;
const server = createServer((request, response) => {
  paths.push(request.url!);
  response.end(body);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => server.close());
const { port } = server.address() as AddressInfo;

let folder = '';
beforeEach(async () => {
  folder = await makeTestFolder();
  cpSync(join(ROOT, 'ci'), join(folder, 'ci'), { recursive: true });
  const repository = { type: 'git', url: `git+http://127.0.0.1:${port}/drillproof.git` };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, repository }));
  writeFileSync(join(folder, 'ci/drillproof.mjs.sha256'), `${digestOf(FILE)}  drillproof.mjs\n`);
  body = FILE;
  paths.length = 0;
});

// The server is in this process, so it must not be blocked.
async function getFile() {
  const child = spawn('bash', [join(folder, 'ci/single-file.sh')]);
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, log };
}
const single = () => join(folder, 'single/drillproof.mjs');

it('a release of the action downloads its single file once and checks its SHA-256', async () => {
  expect(await getFile()).toEqual({ code: 0, log: '' });
  expect(readFileSync(single())).toEqual(FILE);
  expect(await getFile()).toEqual({ code: 0, log: '' });
  expect(paths).toEqual([`/drillproof/releases/download/v${manifest.version}/drillproof.mjs`]);
});

it('the action ends with 2 and keeps nothing when the downloaded file has another SHA-256', async () => {
  body = Buffer.from('console.log("another command");\n');
  const { code, log } = await getFile();
  expect([code, log]).toEqual([2, expect.stringContaining(digestOf(body))]);
  expect(existsSync(single())).toBe(false);
});

it('the action replaces a single file that another step changed', async () => {
  await getFile();
  writeFileSync(single(), 'changed');
  expect(await getFile()).toEqual({ code: 0, log: '' });
  expect(readFileSync(single())).toEqual(FILE);
});
