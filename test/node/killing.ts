import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { etagOf, type ExportSource, type Fault, type TestExport } from '../faults/export-source.ts';
import { filesOf } from '../mirror/make.ts';
import type { ChildOptions } from './mirror-child.ts';

/** The pause between two pieces of a body. */
const PAUSE_MS = 4;

/** Sends parts and reports in pieces with pauses, so that a kill can interrupt them, and counts the bytes. */
export function makeSlowSender(pieceBytes = 6_000) {
  let bytesSent = 0;
  const sendSlowly: Fault = ({ path, bytes, seen, response }) => {
    if (!/^(parts|local-reports)\//.test(path)) return false;
    const from = Number(/=(\d+)-/.exec(seen.headers.range ?? '=0-')?.[1]);
    response.writeHead(from === 0 ? 200 : 206, {
      etag: etagOf(bytes),
      'content-length': bytes.length - from,
      ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    let at = from;
    const pieces = setInterval(() => {
      const piece = bytes.subarray(at, at + pieceBytes);
      response.write(piece);
      bytesSent += piece.length;
      at += pieceBytes;
      if (at < bytes.length && !response.destroyed) return;
      clearInterval(pieces);
      response.end();
    }, PAUSE_MS);
    return true;
  };
  return { sendSlowly, sent: () => bytesSent };
}

/** Starts a script of these tests with Node.js, from sources. */
export const startNode = (script: string, words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawn(
    process.execPath,
    ['--conditions=drillproof:source', fileURLToPath(new URL(script, import.meta.url)), ...words],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } },
  );

/** Starts a process that mirrors into a folder or S3. */
export const startMirror = (
  { url }: ExportSource,
  to: string,
  options: ChildOptions = {},
  env: NodeJS.ProcessEnv = {},
): ChildProcess => startNode('mirror-child.ts', [url, to, JSON.stringify(options)], env);

/** Waits until a process ends, and returns its output on both streams and how it ended. */
export async function waitForEnd(child: ChildProcess) {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { output, code, signal };
}

/** The time to kill: a random time after the first request, or when the source has sent this many more bytes. */
export type Moment = { readonly withinMs: number } | { readonly sent: () => number; readonly bytes: number };

/** Kills a process after its first request. `killed` is false if it ended earlier. */
export async function killAtRandom(
  child: ChildProcess,
  server: ExportSource,
  moment: Moment,
  signal: NodeJS.Signals = 'SIGKILL',
) {
  const before = server.seen.length;
  const end = waitForEnd(child);
  const done = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const until = (condition: () => boolean) =>
    expect.poll(() => condition() || done(), { interval: 1 }).toBe(true);
  const sentBefore = 'sent' in moment ? moment.sent() : 0;
  await until(() => server.seen.length > before);
  if ('sent' in moment) await until(() => moment.sent() - sentBefore >= moment.bytes);
  else {
    const delayMs = Math.random() * moment.withinMs;
    await Promise.race([end, new Promise((resolve) => void setTimeout(resolve, delayMs))]);
  }
  child.kill(signal);
  const result = await end;
  return { ...result, killed: result.signal === signal };
}

const DOCUMENTS = new Set(['manifest.json', 'export.json', 'export-attestation.json', 'SHA256SUMS']);
const TAGS = /^(bagit\.txt|bag-info\.txt|(tag)?manifest-sha256\.txt)$/;

/**
 * Expects that every file with a final name is right, that a manifest exists only in a complete mirror, and that there
 * are no other files. Returns the paths of the listed files that exist.
 */
export async function expectProven(sample: TestExport, folder: string, inside = ''): Promise<string[]> {
  const files = await filesOf(folder);
  for (const [path, bytes] of sample.files) {
    const file = files.get(inside + path);
    if (file === undefined) expect(files.has(`${inside}manifest.json`), path).toBe(false);
    else if (digestOf(file) !== digestOf(bytes)) expect.fail(`${path} does not match its digest`);
  }
  const isOfMirror = (path: string): boolean =>
    sample.files.has(path) || DOCUMENTS.has(path) || path.startsWith('receipts/');
  const isExpected = (path: string): boolean =>
    path.startsWith('.drillproof-mirror/') ||
    (inside !== '' && TAGS.test(path)) ||
    (path.startsWith(inside) && isOfMirror(path.slice(inside.length)));
  expect([...files.keys()].filter((path) => !isExpected(path))).toEqual([]);
  return [...sample.files.keys()].filter((path) => files.has(inside + path));
}

/** Expects a complete mirror with right checksums and without private files. */
export async function expectComplete(sample: TestExport, folder: string, inside = ''): Promise<void> {
  expect(await expectProven(sample, folder, inside)).toHaveLength(sample.files.size);
  execFileSync('sha256sum', ['--quiet', '--strict', '-c', 'SHA256SUMS'], { cwd: join(folder, inside) });
  expect([...(await filesOf(folder)).keys()].filter((path) => path.startsWith('.'))).toEqual([]);
}

/** Remembers the number of requests for each proven file, after which no more may follow. */
export function makeRefetchGuard(server: Pick<ExportSource, 'requests'>) {
  const requests = new Map<string, number>();
  return {
    add: (paths: readonly string[]): void => {
      for (const path of paths) if (!requests.has(path)) requests.set(path, server.requests(path).length);
    },
    /** Counts the proven files. */
    size: (): number => requests.size,
    /** Lists the files that were requested again after they were proven. */
    refetched: (): string[] =>
      [...requests].filter(([path, count]) => server.requests(path).length > count).map(([path]) => path),
  };
}

/** Mounts a file system of this size until the end of the test. Mounting needs root. */
export async function mountDisk(kib: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', folder]);
  onTestFinished(async () => {
    execFileSync('umount', [folder]);
    await rmdir(folder);
  });
  return folder;
}
