import { spawn, type ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeCaseFolder } from './case-folder.ts';
import { judgeAnswer, type Ended } from './protocol.ts';
import type { CaseResult } from './result.ts';
import type { SelftestCase } from './vector-file.ts';

export type ExecOptions = {
  /** A command of the shell; the folder of the case is added as its last argument. */
  readonly command: string;
  /** After this many ms a case has failed. */
  readonly timeoutMs: number;
  /** An empty folder for the cases; each is removed after it ran. */
  readonly scratch: string;
  readonly signal: AbortSignal;
};

/** Bytes of its output that a verifier may write. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Puts a case to another verifier, by the protocol of docs/selftest.md. */
export async function execCase(kind: string, one: SelftestCase, options: ExecOptions): Promise<CaseResult> {
  const folder = join(options.scratch, `${kind}.${one.id}`);
  try {
    await writeCaseFolder(folder, kind, one);
    return { kind, id: one.id, way: 'exec', ...judgeAnswer(one, await ended(folder, options)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function ended(folder: string, { command, timeoutMs, signal }: ExecOptions): Promise<Ended> {
  // A group of its own, so that what the command started ends with it.
  const child = spawn('/bin/sh', ['-c', `${command} "$1"`, 'sh', folder], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let fault: string | undefined;
    const stop = (why: string): void => {
      fault ??= why;
      killGroup(child);
    };
    const timer = setTimeout(() => stop(`no answer within ${timeoutMs / 1000} s`), timeoutMs);
    const abort = (): void => stop('interrupted');
    signal.addEventListener('abort', abort, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) stop('it writes without end');
      else chunks.push(chunk);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      const stdout = Buffer.concat(chunks).toString('utf8');
      resolve({ exitCode: code ?? undefined, stdout, ...(fault !== undefined && { fault }) });
    });
    if (signal.aborted) abort();
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended a moment ago.
  }
}
