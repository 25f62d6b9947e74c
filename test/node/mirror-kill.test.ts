import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { etagOf, makeExport, type Fault } from '../faults/export-source.ts';
import { cleanUp, filesOf, newFolder, source } from '../mirror/make.ts';

afterEach(cleanUp);
const CHILD = fileURLToPath(new URL('mirror-child.ts', import.meta.url));
/** A longer run sets the variable. */
const KILLS = Number(process.env['DRILLPROOF_TEST_KILLS'] ?? 10);
const made = makeExport({ parts: 12, reports: 2, bytes: 60_000 });

/** Sends a file in pieces with pauses, so that there is a middle in which to die. */
const slowly: Fault = ({ path, bytes, seen, response }) => {
  if (!made.files.has(path)) return false;
  const from = Number(/=(\d+)-/.exec(seen.headers.range ?? '=0-')?.[1]);
  response.writeHead(from === 0 ? 200 : 206, {
    etag: etagOf(bytes),
    'content-length': bytes.length - from,
    ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
  });
  let at = from;
  const pieces = setInterval(() => {
    response.write(bytes.subarray(at, at + 6000));
    at += 6000;
    if (at < bytes.length && !response.destroyed) return;
    clearInterval(pieces);
    response.end();
  }, 4);
  return true;
};

const start = (url: string, folder: string) =>
  spawn(process.execPath, ['--conditions=drillproof:source', CHILD, url, folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Whatever has a final name must be right, and a manifest may be there only when everything is. */
async function expectProven(folder: string): Promise<void> {
  const files = await filesOf(folder);
  for (const [path, bytes] of made.files) {
    const here = files.get(path);
    if (here !== undefined) expect(digestOf(here), path).toBe(digestOf(bytes));
    else expect(files.has('manifest.json')).toBe(false);
  }
  const known = [
    ...made.files.keys(),
    'manifest.json',
    'export.json',
    'export-attestation.json',
    'SHA256SUMS',
  ];
  for (const path of files.keys()) {
    expect(known.includes(path) || /^(receipts|\.drillproof-mirror)\//.test(path), path).toBe(true);
  }
}

it('a mirror that is killed at any moment leaves only proven files, and the next run completes it', async () => {
  const folder = await newFolder();
  const server = await source(made, slowly);
  let killed = 0;
  for (let i = 0; i < KILLS; i++) {
    const before = server.seen.length;
    const child = start(server.url, folder);
    const exited = once(child, 'exit');
    await expect
      .poll(() => server.seen.length > before || child.exitCode !== null, { interval: 1, timeout: 20_000 })
      .toBe(true);
    const delayMs = Math.random() * 120;
    await Promise.race([exited, new Promise((resolve) => void setTimeout(resolve, delayMs))]);
    child.kill('SIGKILL');
    const [, signal] = await exited;
    if (signal === 'SIGKILL') killed++;
    await expectProven(folder);
  }
  expect(killed).toBeGreaterThan(0);
  const last = start(server.url, folder);
  let said = '';
  for (const stream of [last.stdout, last.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  await once(last, 'close');
  expect(said).toBe('complete');
  await expectProven(folder);
  execFileSync('sha256sum', ['--quiet', '--strict', '-c', 'SHA256SUMS'], { cwd: folder });
  const files = await filesOf(folder);
  expect([...files.keys()].filter((path) => path.startsWith('.'))).toEqual([]);
});
