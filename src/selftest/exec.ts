import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defined } from '../bytes/index.ts';
import { writeCaseFolder } from './case-folder.ts';
import { type CaseResult, differences, type Facts } from './result.ts';
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

export async function execCase(kind: string, one: SelftestCase, options: ExecOptions): Promise<CaseResult> {
  const folder = join(options.scratch, `${kind}.${one.id}`);
  try {
    await writeCaseFolder(folder, kind, one);
    return { kind, id: one.id, way: 'exec', ...compareAnswer(one, await ended(folder, options)) };
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
      resolve({ exitCode: code ?? undefined, stdout, ...defined({ fault }) });
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

/** What the exit code of a verifier says (docs/formats/selftest.md); any other is a crash. */
export const ANSWERS = { valid: 0, invalid: 1, unsupported: 77 } as const;

/** What a shell answers when it cannot start a command. */
const NOT_STARTED: ReadonlySet<number> = new Set([126, 127]);

/** How a process ended: by itself with a code, or because of `fault`. */
type Ended = {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly fault?: string;
};

type Compared = Omit<CaseResult, 'kind' | 'id' | 'way'>;

/** What the answer of a verifier is worth. */
export function compareAnswer(one: SelftestCase, { exitCode, stdout, fault }: Ended): Compared {
  const failed = (reason: string, actual?: Facts): Compared => ({
    state: 'failed',
    reason,
    flags: one.flags,
    expected: one.expected,
    ...defined({ actual }),
  });
  if (fault !== undefined) return failed(fault);
  if (exitCode === ANSWERS.unsupported) return { state: 'unsupported' };
  if (exitCode !== undefined && NOT_STARTED.has(exitCode))
    return { state: 'not_run', reason: `the command could not be started (exit code ${exitCode})` };
  if (exitCode !== ANSWERS.valid && exitCode !== ANSWERS.invalid)
    return failed(`it ended with ${exitCode === undefined ? 'a signal' : `exit code ${exitCode}`}`);
  const verdict = exitCode === ANSWERS.valid ? 'valid' : 'invalid';
  const said = factsOf(stdout);
  if (said === undefined) return failed('the first line of its output is not a JSON object', { verdict });
  return compared(one, { ...said, verdict }, failed);
}

/** The JSON object in the first line; nothing at all counts as an empty one. */
function factsOf(stdout: string): Facts | undefined {
  const [line = ''] = stdout.split('\n', 1);
  if (line.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Omitted members are not compared. Additional members are wrong, because they could be misspelt names. */
function compared(
  { expected }: SelftestCase,
  said: Facts,
  failed: (reason: string, actual: Facts) => Compared,
): Compared {
  const names = Object.keys(said);
  const known = Object.fromEntries(Object.entries(expected).filter(([name]) => names.includes(name)));
  const wrong = differences(known, said);
  if (wrong.length > 0) return failed(`wrong ${wrong.join(', ')}`, said);
  const verdictOnly = names.length === 1 && Object.keys(expected).length > 1;
  return { state: 'passed', ...(verdictOnly && { verdictOnly }) };
}
