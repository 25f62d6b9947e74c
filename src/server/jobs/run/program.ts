import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import * as z from 'zod/mini';
import { type JsonObject, type JsonValue, parseJson } from '../../../bytes/json/parse.ts';
import type { Code } from '../../../codes/catalogue.ts';
import { DrillproofError } from '../../../errors.ts';
import { errnoOf } from '../../../node/fs-errors.ts';
import { typeValue } from '../../../contract/type-value.ts';
import { waitFor } from '../handler.ts';
import {
  configError,
  isKind,
  type Runner,
  type RunnerContext,
  type RunnerJob,
  type RunnerKind,
  type RunnerOutcome,
  type RunnerProgress,
} from './runner.ts';
import { createRedactor, createTail, type Redactor } from './secrets.ts';

const VERSION = 1;
const MAX_LINE_BYTES = 1024 * 1024;
const MAX_EVENT_BYTES = 16 * MAX_LINE_BYTES;
const MAX_EVENTS = 10_000; // each progress is written to the store
const HELLO_MS = 60_000;
/** The time for what a program started to close its output, after the program has ended and after they were killed. */
const DRAIN_MS = 2_000;
const KILLED_MS = 200;
/** Shorter values would be removed from words that only contain them. */
const MIN_SECRET_LENGTH = 8;

const namesSchema = z._default(z.array(z.string().check(z.minLength(1))), []);
/** The file `runner.json` of a folder (docs/server/runners.md). */
const programSchema = z.strictObject({
  command: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
  environment: namesSchema,
  secrets: namesSchema,
});

/** A program that does work, once for each job. */
export type Program = {
  readonly folder: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** The time for the first line, in milliseconds; default 60,000. */
  readonly helloMs?: number;
};

// The settings of the worker, such as the password of its database, are not passed on.
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ'];

type Env = Readonly<Record<string, string | undefined>>;

const selectEnv = (env: Env, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));

/** Reads the program of a folder. @throws DrillproofError `server.CONFIG_INVALID` */
export async function readProgram(folder: string, env: Env): Promise<Program> {
  const path = join(folder, 'runner.json');
  const value = await readFile(path)
    .then((bytes) => parseJson(bytes))
    .catch((error: Error) => {
      throw configError(`${path} cannot be read: ${error.message}`, error);
    });
  const { data, error } = typeValue(programSchema, value);
  if (data === undefined) throw configError(`${path}: ${firstIssue(error)}`);
  const short = data.secrets.find((name) => (env[name] ?? '').length < MIN_SECRET_LENGTH);
  if (short !== undefined)
    throw configError(`the variable ${short}, a secret of ${path}, has fewer than 8 characters`);
  return {
    folder: resolve(folder),
    command: data.command,
    env: selectEnv(env, [...PASSED_ON, ...data.environment]),
    secrets: selectEnv(env, data.secrets),
  };
}

// The guard ends the process group of a program: at a request, and when the worker dies. Both close its standard input.
// It ignores the signals that a service manager sends to all processes of a worker.
const GUARD = `trap '' TERM INT HUP; read -r _; kill -s TERM -- "-$1"; n=$2
while [ "$n" -gt 0 ] && kill -s 0 -- "-$1"; do sleep 0.1; n=$((n - 1)); done
kill -s KILL -- "-$1"; rm -rf -- "$3"`;

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

type Place = { readonly folder: string; readonly graceMs: number };

type Started = Awaited<ReturnType<typeof launch>>;

async function launch({ command: [file = '', ...words], folder, env }: Program, place: Place) {
  const child = spawn(file, words, {
    cwd: folder,
    env: { ...env, ...(place.folder !== '' && { TMPDIR: place.folder }) },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  await once(child, 'spawn');
  const { pid, stdin, stdout, stderr } = child;
  const events = child.stdio[3];
  if (pid === undefined || !(events instanceof Readable))
    throw new DrillproofError('internal.BUG', 'a started program has no process or no descriptor 3');
  const [exit, closed] = [once(child, 'exit'), once(child, 'close')];
  stdin.on('error', () => undefined); // it may end without reading
  const facts = ['-c', GUARD, 'sh', String(pid), String(Math.ceil(place.graceMs / 100)), place.folder];
  const guard = spawn('/bin/sh', facts, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  await once(guard, 'spawn').catch((error: unknown) => {
    killGroup(pid);
    throw error;
  });
  guard.once('exit', () => {
    if (child.exitCode === null && child.signalCode === null) killGroup(pid);
  });
  const drain = async (ms: number): Promise<void> => {
    const drained = new AbortController();
    await Promise.race([closed, waitFor(ms, drained.signal)]);
    drained.abort();
  };
  return {
    outputs: [stdout, stderr],
    events,
    send: (document: object) => stdin.end(`${JSON.stringify(document)}\n`),
    /** Sends TERM to its process group, and after the grace period KILL. */
    stop: (): void => {
      stdin.end();
      guard.stdin.end();
    },
    /** Waits for its end and for its output, which a process that it left behind may hold open. */
    async end(): Promise<string | undefined> {
      const [code, signal] = (await exit) as [number | null, string | null];
      await drain(DRAIN_MS);
      killGroup(pid);
      await drain(KILLED_MS);
      for (const stream of child.stdio) stream?.destroy();
      guard.kill('SIGKILL');
      return code === 0 ? undefined : code === null ? `signal ${signal}` : `exit code ${code}`;
    },
  };
}

const runnerError = (code: Code, message: string, cause?: unknown): DrillproofError =>
  new DrillproofError(code, message, { cause });

function assertSize(size: number, limit: number, what: string): void {
  if (size > limit) throw runnerError('runner.TOO_LARGE', `there are more than ${limit} ${what}`);
}

const firstIssue = (error: z.core.$ZodError | undefined): string => {
  const [issue] = error?.issues ?? [];
  return [issue?.path.join('.'), issue?.message].filter((word) => word).join(': ');
};

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Calls `take` with each line. @throws DrillproofError `runner.TOO_LARGE`, by `fail` */
function readLines(stream: Readable, take: (line: Uint8Array) => void, fail: (error: unknown) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  let [bytes, lines] = [0, 0];
  stream.on('data', (chunk: Buffer) => {
    try {
      bytes += chunk.length;
      assertSize(bytes, MAX_EVENT_BYTES, 'bytes on descriptor 3');
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        assertSize(end, MAX_LINE_BYTES, 'bytes in a line on descriptor 3');
        assertSize(++lines, MAX_EVENTS, 'lines on descriptor 3');
        take(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
      }
      assertSize(rest.length, MAX_LINE_BYTES, 'bytes in a line on descriptor 3');
    } catch (error) {
      rest = Buffer.alloc(0);
      fail(error);
    }
  });
}

const helloSchema = z.looseObject({ v: z.array(z.int()), kinds: z.array(z.string()).check(z.minLength(1)) });

function parseLine(line: Uint8Array, code: Code): JsonValue {
  try {
    return parseJson(line);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'invalid';
    throw runnerError(code, `a line on descriptor 3 is not JSON: ${why}`, cause);
  }
}

/** Parses the first line of a program: the versions of the protocol and the kinds of work that it has. */
function parseHello(line: Uint8Array): readonly RunnerKind[] {
  const code = 'runner.HELLO_INVALID';
  const { data, error } = typeValue(helloSchema, parseLine(line, code));
  if (data === undefined) throw runnerError(code, `the first line on descriptor 3: ${firstIssue(error)}`);
  if (!data.v.includes(VERSION))
    throw runnerError(code, `it has version ${data.v.join(', ') || 'none'} of the protocol, not ${VERSION}`);
  const unknown = data.kinds.find((kind) => !isKind(kind));
  if (unknown !== undefined) throw runnerError(code, `it names the unknown kind ${JSON.stringify(unknown)}`);
  return [...new Set(data.kinds.filter(isKind))];
}

type RunnerEvent = { readonly name: string; readonly value: JsonObject | string };

/** Parses `{"progress":{…}}`, `{"result":{…}}`, or `{"result":"FILE"}`. */
function parseEvent(line: Uint8Array): RunnerEvent {
  const code = 'runner.EVENT_INVALID';
  const event = parseLine(line, code);
  const [[name, value] = ['', null], ...others] = isObject(event) ? Object.entries(event) : [];
  const isText = typeof value === 'string' && name === 'result';
  if (others.length > 0 || !['progress', 'result'].includes(name) || !(isText || isObject(value)))
    throw runnerError(code, 'a line on descriptor 3 is neither a progress nor a result');
  return { name, value };
}

type Work = { readonly job: RunnerJob; readonly context: RunnerContext };
type Heard = { kinds?: readonly RunnerKind[]; result?: JsonObject | string; fault?: unknown };

/** Writes the secrets into a file, and builds the document of a job, which names it. */
async function buildDocument({ secrets }: Program, { job, context: { folder } }: Work): Promise<object> {
  const path = join(folder, 'secrets.json');
  const hasSecrets = Object.keys(secrets).length > 0;
  if (hasSecrets) await writeFile(path, JSON.stringify(secrets), { mode: 0o600, flag: 'wx' });
  return { v: VERSION, ...job, folder, ...(hasSecrets && { secrets: path }) };
}

type Listening = {
  readonly work: Work | undefined;
  readonly document: object | undefined;
  readonly redactor: Redactor;
  readonly started: Pick<Started, 'send' | 'stop'>;
};

/** Takes the lines of a program. The first fault stops it; without work, the first line does. */
function listenTo({ work, document, redactor, started }: Listening) {
  const heard: Heard = {};
  let stored: Promise<void> = Promise.resolve();
  const fail = (error: unknown): void => {
    heard.fault ??= error;
    started.stop();
  };
  const greet = (line: Uint8Array): void => {
    heard.kinds = parseHello(line);
    if (work === undefined || document === undefined) return started.stop();
    const { kind } = work.job;
    if (!heard.kinds.includes(kind)) throw runnerError('runner.HELLO_INVALID', `it does not do ${kind}`);
    started.send(document);
  };
  const report = async (facts: JsonValue): Promise<void> => {
    if (heard.fault === undefined) await work?.context.progress(redactor.value(facts) as RunnerProgress);
  };
  const take = (line: Uint8Array): void => {
    if (heard.fault !== undefined) return;
    if (heard.kinds === undefined) return greet(line);
    if (work === undefined) return;
    const { name, value } = parseEvent(line);
    if (heard.result !== undefined)
      throw runnerError('runner.EVENT_INVALID', `it wrote a ${name} after its result`);
    if (name === 'result') heard.result = value;
    else stored = stored.then(() => report(value)).catch(fail);
  };
  return { heard, take, fail, stored: () => stored };
}

/** Returns what was heard of a program that did what it should, and else throws the reason. */
function checkHeard(heard: Heard, name: string, failure: string | undefined, work: Work | undefined): Heard {
  const { kinds, result, fault } = heard;
  if (fault !== undefined) throw fault;
  work?.context.signal.throwIfAborted();
  if (failure !== undefined && (work !== undefined || kinds === undefined))
    throw runnerError('runner.EXIT', `${name} ended with ${failure}`);
  if (kinds === undefined)
    throw runnerError('runner.HELLO_INVALID', `${name} ended without a line on descriptor 3`);
  if (work !== undefined && result === undefined)
    throw runnerError('runner.NO_RESULT', `${name} ended without a result`);
  return heard;
}

/** Starts the program, hears its kinds, and, if there is work, gives it the job and hears the result. */
async function converse(
  program: Program,
  work: Work | undefined,
  redactor: Redactor,
  add: (chunk: Buffer) => void,
): Promise<Heard> {
  const { command, helloMs = HELLO_MS } = program;
  const name = basename(command[0] ?? '');
  const document = work && (await buildDocument(program, work));
  const place = { folder: work?.context.folder ?? '', graceMs: work?.job.graceMs ?? 5_000 };
  const started = await launch(program, place).catch((cause: unknown) => {
    const why = errnoOf(cause) ?? (cause instanceof Error ? cause.message : 'unknown');
    throw runnerError('runner.NOT_STARTED', `${name} cannot be started: ${why}`, cause);
  });
  const { heard, take, fail, stored } = listenTo({ work, document, redactor, started });
  const timer = setTimeout(() => {
    if (heard.kinds !== undefined) return;
    const late = `${name} wrote no line on descriptor 3 within ${helloMs / 1000} s`;
    fail(runnerError('runner.HELLO_INVALID', late));
  }, helloMs);
  const signal = work?.context.signal;
  signal?.addEventListener('abort', started.stop, { once: true });
  if (signal?.aborted === true) started.stop();
  for (const output of started.outputs) output.on('data', add);
  readLines(started.events, take, fail);
  const failure = await started.end();
  clearTimeout(timer);
  signal?.removeEventListener('abort', started.stop);
  await stored();
  return checkHeard(heard, name, failure, work);
}

/** Reads the result that a program named by its file in the folder of the job. */
async function readResult(folder: string, result: JsonObject | string | undefined): Promise<JsonValue> {
  if (typeof result !== 'string') return result ?? null;
  try {
    const path = join(folder, result);
    const { size } = await stat(path);
    assertSize(size, MAX_EVENT_BYTES, `bytes in ${result}`);
    return parseJson(await readFile(path));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw runnerError('runner.EVENT_INVALID', `the result file ${result} cannot be read: ${why}`, cause);
  }
}

/** Makes the runner of a program, which is started once to hear its kinds. */
export async function createProgramRunner(program: Program): Promise<Runner> {
  const redactor = createRedactor(Object.values(program.secrets));
  const attend = async (work?: Work): Promise<Heard> => {
    const tail = createTail(redactor);
    try {
      return await converse(program, work, redactor, (chunk) => tail.add(chunk));
    } catch (error) {
      if (!(error instanceof DrillproofError)) throw error;
      const last = tail.read().trimEnd().split('\n').at(-1);
      tail.add(Buffer.from(`drillproof: ${error.code}: ${error.message}\n`));
      if (work !== undefined || !last) throw error;
      throw runnerError(error.code, `${error.message}; its last output: ${last.slice(0, 200)}`, error);
    } finally {
      await work?.context.log(tail.read());
    }
  };
  return {
    kinds: (await attend()).kinds ?? [],
    async run(job, context) {
      const { result } = await attend({ job, context });
      const outcome = redactor.value(await readResult(context.folder, result));
      return outcome as RunnerOutcome; // like that of a module, it is checked by the caller
    },
  };
}
