import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { etagOf, type ExportSource, type Fault, type TestExport } from '../faults/export-source.ts';
import { filesOf } from '../mirror/make.ts';

/** Between two pieces of a body. */
const PAUSE_MS = 4;

/** Sends parts and reports in pieces with pauses, so that there is a middle in which to die, and counts every byte. */
export function slowSender(pieceBytes = 6_000) {
  let bytesSent = 0;
  const slowly: Fault = ({ path, bytes, seen, response }) => {
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
  return { slowly, sent: () => bytesSent };
}

/** Starts a script of these tests with Node.js, from sources. */
export const startNode = (
  script: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess =>
  spawn(
    process.execPath,
    ['--conditions=drillproof:source', fileURLToPath(new URL(script, import.meta.url)), ...words],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } },
  );

/** What a process said on both streams until it ended, and how it ended. */
export async function ended(child: ChildProcess) {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += String(chunk)));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { said, code, signal };
}

/** When to kill: at a random time after the first request, or once so many bytes more were sent, however long it takes. */
export type Moment = { readonly withinMs: number } | { readonly sent: () => number; readonly bytes: number };

/** Kills a process at a moment after it first asked something of the server; whether it had not ended before. */
export async function killAtRandom(
  child: ChildProcess,
  server: ExportSource,
  moment: Moment,
  signal: NodeJS.Signals = 'SIGKILL',
) {
  const before = server.seen.length;
  const end = ended(child);
  const done = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const until = (condition: () => boolean) =>
    expect.poll(() => condition() || done(), { interval: 1, timeout: 30_000 }).toBe(true);
  const sentBefore = 'sent' in moment ? moment.sent() : 0;
  await until(() => server.seen.length > before);
  if ('sent' in moment) await until(() => moment.sent() - sentBefore >= moment.bytes);
  else {
    const delayMs = Math.random() * moment.withinMs;
    await Promise.race([end, new Promise((resolve) => void setTimeout(resolve, delayMs))]);
  }
  child.kill(signal);
  const how = await end;
  return { ...how, killed: how.signal === signal };
}

const OWN = new Set(['manifest.json', 'export.json', 'export-attestation.json', 'SHA256SUMS']);
const TAGS = /^(bagit\.txt|bag-info\.txt|(tag)?manifest-sha256\.txt)$/;

/**
 * Whatever has a final name must be right, a manifest may be there only when everything is, and nothing else may lie
 * about. Gives the paths of the listed files that are here.
 */
export async function expectProven(made: TestExport, folder: string, inside = ''): Promise<string[]> {
  const files = await filesOf(folder);
  for (const [path, bytes] of made.files) {
    const here = files.get(inside + path);
    if (here === undefined) expect(files.has(`${inside}manifest.json`), path).toBe(false);
    else if (digestOf(here) !== digestOf(bytes)) expect.fail(`${path} is not what was listed`);
  }
  const ours = (path: string): boolean =>
    path.startsWith('.drillproof-mirror/') ||
    (inside !== '' && TAGS.test(path)) ||
    (path.startsWith(inside) && isOfMirror(made, path.slice(inside.length)));
  expect([...files.keys()].filter((path) => !ours(path))).toEqual([]);
  return [...made.files.keys()].filter((path) => files.has(inside + path));
}

const isOfMirror = ({ files }: TestExport, path: string): boolean =>
  files.has(path) || OWN.has(path) || path.startsWith('receipts/');

/** Notes how often each proven file had been asked for when it was first seen here; afterwards it must not be again. */
export function refetchGuard(server: Pick<ExportSource, 'requests'>) {
  const asked = new Map<string, number>();
  return {
    note: (paths: readonly string[]): void => {
      for (const path of paths) if (!asked.has(path)) asked.set(path, server.requests(path).length);
    },
    /** How many proven files were seen. */
    seen: (): number => asked.size,
    /** Files that were asked for again after they were proven. */
    again: (): string[] =>
      [...asked].filter(([path, times]) => server.requests(path).length > times).map(([path]) => path),
  };
}
