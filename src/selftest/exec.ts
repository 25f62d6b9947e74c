import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defined } from '../bytes/arguments.ts';
import { type SelftestCase, writeCaseFolder } from './case-folder.ts';
import { type CaseResult, listDifferences, type PlainFacts } from './result.ts';

export type ExecOptions = {
  /** A shell command; the case folder is added as its last argument. */
  readonly command: string;
  /** A case fails after this many ms. */
  readonly timeoutMs: number;
  /** An empty folder for the cases; each is removed after its run. */
  readonly scratch: string;
  readonly signal: AbortSignal;
};

/** The limit of a verifier's output. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

export async function execCase(
  kind: string,
  testCase: SelftestCase,
  options: ExecOptions,
): Promise<CaseResult> {
  const folder = join(options.scratch, `${kind}.${testCase.id}`);
  try {
    await writeCaseFolder(folder, kind, testCase);
    const result = await runProcess(folder, options);
    return { kind, id: testCase.id, way: 'exec', ...compareAnswer(testCase, result) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runProcess(folder: string, { command, timeoutMs, signal }: ExecOptions): Promise<ProcessResult> {
  // In a process group, so that children of the command end with it.
  const child = spawn('/bin/sh', ['-c', `${command} "$1"`, 'sh', folder], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let fault: string | undefined;
    const stop = (reason: string): void => {
      fault ??= reason;
      killGroup(child);
    };
    const timer = setTimeout(() => stop(`no answer within ${timeoutMs / 1000} s`), timeoutMs);
    const abort = (): void => stop('interrupted');
    signal.addEventListener('abort', abort, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) stop(`it wrote more than ${MAX_OUTPUT_BYTES} bytes`);
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
    // It has already ended.
  }
}

/** The exit codes of a verifier (docs/formats/selftest.md). Any other is a crash. */
export const EXIT_CODES = { valid: 0, invalid: 1, unsupported: 77 } as const;

/** The exit codes of a shell that cannot start a command. */
const NOT_STARTED: ReadonlySet<number> = new Set([126, 127]);

/** The result of a process. `fault` is the reason why it was stopped. */
type ProcessResult = {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly fault?: string;
};

type Compared = Omit<CaseResult, 'kind' | 'id' | 'way'>;

export function compareAnswer(testCase: SelftestCase, { exitCode, stdout, fault }: ProcessResult): Compared {
  const fail = (reason: string, actual?: PlainFacts): Compared => ({
    state: 'failed',
    reason,
    flags: testCase.flags,
    expected: testCase.expected,
    ...defined({ actual }),
  });
  if (fault !== undefined) return fail(fault);
  if (exitCode === EXIT_CODES.unsupported) return { state: 'unsupported' };
  if (exitCode !== undefined && NOT_STARTED.has(exitCode))
    return { state: 'not_run', reason: `the command could not be started (exit code ${exitCode})` };
  if (exitCode !== EXIT_CODES.valid && exitCode !== EXIT_CODES.invalid)
    return fail(`it ended with ${exitCode === undefined ? 'a signal' : `exit code ${exitCode}`}`);
  const verdict = exitCode === EXIT_CODES.valid ? 'valid' : 'invalid';
  const facts = parseAnswer(stdout);
  if (facts === undefined) return fail('the first line of its output is not a JSON object', { verdict });
  return compareFacts(testCase, { ...facts, verdict }, fail);
}

/** Parses the JSON object in the first line. Empty output counts as an empty object. */
function parseAnswer(stdout: string): PlainFacts | undefined {
  const [line = ''] = stdout.split('\n', 1);
  if (line.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Omitted members are not compared. Additional members are wrong, because their names could be misspelt. */
function compareFacts(
  { expected }: SelftestCase,
  actual: PlainFacts,
  fail: (reason: string, actual: PlainFacts) => Compared,
): Compared {
  const names = Object.keys(actual);
  const compared = Object.fromEntries(Object.entries(expected).filter(([name]) => names.includes(name)));
  const wrong = listDifferences(compared, actual);
  if (wrong.length > 0) return fail(`wrong ${wrong.join(', ')}`, actual);
  const verdictOnly = names.length === 1 && Object.keys(expected).length > 1;
  return { state: 'passed', ...(verdictOnly && { verdictOnly }) };
}
