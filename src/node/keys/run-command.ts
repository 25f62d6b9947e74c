import { spawn, type ChildProcess } from 'node:child_process';
import { DrillproofError } from '../../errors.ts';
import { errnoOf } from '../fs-errors.ts';

export type CommandRun = {
  /** Program and arguments; no shell sees them. */
  readonly command: readonly [program: string, ...words: string[]];
  readonly input: Uint8Array;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Bytes of standard output; more end the command. */
  readonly maxBytes: number;
  /** Where its standard error goes; it is never read. */
  readonly stderr: 'inherit' | 'ignore';
  readonly signal?: AbortSignal | undefined;
};

/**
 * Runs a command and returns what it writes to standard output. Errors name the program only: its arguments
 * and what it writes to standard error could hold secrets.
 * @throws DrillproofError `trust.SIGNER_FAILED`, `trust.SIGNER_TIMEOUT`, `trust.SIGNER_OUTPUT`; the reason of `signal`
 */
export async function runCommand(run: CommandRun): Promise<Uint8Array> {
  const { command, timeoutMs, signal } = run;
  signal?.throwIfAborted();
  const [program, ...words] = command;
  const child = spawn(program, words, {
    stdio: ['pipe', 'pipe', run.stderr],
    env: { ...run.env },
    shell: false,
    windowsHide: true,
  });
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(timedOut(program, timeoutMs)), timeoutMs);
  const ended = AbortSignal.any(signal === undefined ? [deadline.signal] : [deadline.signal, signal]);
  try {
    return await answerOf(child, run, ended);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
    child.stdout?.destroy(); // what it started may still hold the pipe
    child.stdin?.destroy();
  }
}

function answerOf(
  child: ChildProcess,
  { command: [program], input, maxBytes }: CommandRun,
  ended: AbortSignal,
) {
  return new Promise<Uint8Array>((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    ended.addEventListener('abort', () => reject(ended.reason), { once: true });
    child.on('error', (cause) => reject(notStarted(program, cause)));
    child.stdin?.on('error', () => undefined); // it need not read all; its answer is what counts
    child.stdout?.on('error', reject);
    child.stdout?.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) reject(tooMuch(program, maxBytes));
    });
    child.on('close', (code, killedBy) => {
      if (code === 0) resolve(Buffer.concat(chunks));
      else reject(failed(program, code, killedBy));
    });
    child.stdin?.end(input);
  });
}

const failed = (program: string, code: number | null, killedBy: string | null): DrillproofError =>
  new DrillproofError(
    'trust.SIGNER_FAILED',
    `${program} ended with ${code === null ? `signal ${killedBy ?? 'unknown'}` : `exit code ${code}`}`,
  );
const notStarted = (program: string, cause: unknown): DrillproofError =>
  new DrillproofError(
    'trust.SIGNER_FAILED',
    `${program} cannot be started: ${errnoOf(cause) === 'ENOENT' ? 'the program does not exist' : (errnoOf(cause) ?? 'unknown')}`,
    { cause },
  );
const timedOut = (program: string, timeoutMs: number): DrillproofError =>
  new DrillproofError('trust.SIGNER_TIMEOUT', `${program} did not answer within ${timeoutMs / 1000} s`);
const tooMuch = (program: string, maxBytes: number): DrillproofError =>
  new DrillproofError('trust.SIGNER_OUTPUT', `${program} wrote more than ${maxBytes} bytes`);
