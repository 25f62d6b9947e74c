import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { parseJson } from '../../../bytes/json/parse.ts';
import type { Code } from '../../../codes/catalogue.ts';
import { typeValue } from '../../../contract/type-value.ts';
import { DrillproofError } from '../../../errors.ts';
import {
  describeFirst,
  kindsSchema,
  type Runner,
  type RunnerContext,
  type RunnerJob,
  type RunnerOutcome,
  type RunnerProgress,
} from './runner.ts';
import { createRedactor, createTail, type Redactor } from './secrets.ts';

const VERSION = 1;
const MAX_LINE_BYTES = 1024 * 1024;
const MAX_EVENT_BYTES = 16 * MAX_LINE_BYTES;
const MAX_EVENTS = 10_000; // each progress is written to the store
const HELLO_MS = 60_000;
const PROBE_GRACE_MS = 5_000;
const OUTPUT_LINES = 10; // in the error of a program that cannot be loaded
/** The time for what a program started to close its output, after the program has ended and after they were killed. */
const DRAIN_MS = 2_000;
const KILLED_MS = 200;
/** Shorter values would be removed from words that only contain them. */
const MIN_SECRET_LENGTH = 8;
// The settings of the worker, such as the password of its database, are not passed on.
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ'];

export const runnerError = (code: Code, message: string, cause?: unknown): DrillproofError => {
  const reason = cause instanceof Error ? `: ${cause.message.split('\n', 1).join('')}` : '';
  return new DrillproofError(code, message + reason, { cause });
};

function parse<T>(bytes: Uint8Array, schema: z.ZodMiniType<T>, code: Code, name: string): T {
  let value: unknown;
  try {
    value = parseJson(bytes);
  } catch (cause) {
    throw runnerError(code, `${name} cannot be read`, cause);
  }
  const { data, error } = typeValue(schema, value);
  if (error !== undefined) throw runnerError(code, `${name}: ${describeFirst(error)}`);
  return data;
}

const nameSchema = z.string().check(z.minLength(1));
/** The file `runner.json` of a folder (docs/server/runners.md). */
const programSchema = z.strictObject({
  command: z.array(nameSchema).check(z.minLength(1)),
  environment: z._default(z.array(nameSchema), []),
  secrets: z._default(z.array(nameSchema), []),
});

type Env = Readonly<Record<string, string | undefined>>;

export type Program = {
  readonly folder: string;
  readonly command: readonly string[];
  readonly env: Env;
  readonly secrets: Readonly<Record<string, string>>;
  /** The time for the first line, in milliseconds; default 60,000. */
  readonly helloMs?: number;
};

const select = (env: Env, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, env[name] ?? '']).filter(([, value]) => value !== ''));

/** Reads the program of a folder. */
export async function readProgram(folder: string, env: Env): Promise<Program> {
  const path = join(folder, 'runner.json');
  const code = 'server.CONFIG_INVALID';
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw runnerError(code, `${path} cannot be read`, cause);
  });
  const { command, environment, secrets: names } = parse(bytes, programSchema, code, path);
  const short = names.find((name) => (env[name] ?? '').length < MIN_SECRET_LENGTH);
  if (short !== undefined) {
    const fault = env[short] ? 'has fewer than 8 characters' : 'is not set';
    throw runnerError(code, `the variable ${short}, a secret of ${path}, ${fault}`);
  }
  const passedOn = select(env, [...PASSED_ON, ...environment]);
  return { folder: resolve(folder), command, env: passedOn, secrets: select(env, names) };
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

type Started = Awaited<ReturnType<typeof launch>>;

async function launch({ command, folder: cwd, env }: Program, graceMs: number, folder = '') {
  const [file = '', ...words] = command;
  const child = spawn(file, words, {
    cwd,
    env: { ...env, ...(folder !== '' && { TMPDIR: folder }) },
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
  const facts = ['-c', GUARD, 'sh', String(pid), String(Math.ceil(graceMs / 100)), folder];
  const guard = spawn('/bin/sh', facts, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const killUnlessEnded = (): void => {
    if (child.exitCode === null && child.signalCode === null) killGroup(pid);
  };
  guard.stdin.on('error', () => undefined);
  guard.once('exit', killUnlessEnded).once('error', killUnlessEnded);
  const drain = (ms: number) => Promise.race([closed, sleep(ms, undefined, { ref: false })]);
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

function assertSize(size: number, limit: number, what: string): void {
  if (size > limit) throw runnerError('runner.TOO_LARGE', `there are more than ${limit} ${what}`);
}

/** Calls `take` with each line, and `fail` with what it throws or `runner.TOO_LARGE`; then the rest is discarded. */
function readLines(stream: Readable, take: (line: Uint8Array) => void, fail: (error: unknown) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  let [bytes, lines, failed] = [0, 0, false];
  stream.on('data', (chunk: Buffer) => {
    if (failed) return;
    try {
      assertSize((bytes += chunk.length), MAX_EVENT_BYTES, 'bytes on descriptor 3');
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        assertSize(end, MAX_LINE_BYTES, 'bytes in a line on descriptor 3');
        assertSize(++lines, MAX_EVENTS, 'lines on descriptor 3');
        take(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
      }
      assertSize(rest.length, MAX_LINE_BYTES, 'bytes in a line on descriptor 3');
    } catch (error) {
      failed = true;
      fail(error);
    }
  });
}

const helloSchema = z.looseObject({
  v: z.array(z.int()).check(z.refine((versions) => versions.includes(VERSION), 'must have version 1')),
  kinds: kindsSchema,
});
const eventSchema = z.union([
  z.strictObject({ progress: z.looseObject({}) }),
  z.strictObject({ result: z.union([z.string(), z.looseObject({})]) }),
]);
const LINE = 'a line on descriptor 3';

type Work = { readonly job: RunnerJob; readonly context: RunnerContext };
type Heard = {
  kinds?: Runner['kinds'];
  result?: object | string;
  fault?: unknown;
  stored: Promise<void>;
};

/** Hears a program: its kinds, and then, if there is work, its progress and its result. The first fault stops it. */
function listen(started: Started, heard: Heard, redactor: Redactor, work?: Work & { document: object }) {
  const fail = (error: unknown): void => {
    heard.fault ??= error;
    started.stop();
  };
  const greet = (line: Uint8Array): void => {
    heard.kinds = [...new Set(parse(line, helloSchema, 'runner.HELLO_INVALID', LINE).kinds)];
    if (work === undefined) return started.stop();
    const { kind } = work.job;
    if (!heard.kinds.includes(kind)) throw runnerError('runner.HELLO_INVALID', `it does not do ${kind}`);
    started.send(work.document);
  };
  const take = (line: Uint8Array): void => {
    if (heard.kinds === undefined) return greet(line);
    if (work === undefined || heard.fault !== undefined) return;
    if (heard.result !== undefined)
      throw runnerError('runner.EVENT_INVALID', 'it wrote a line after its result');
    const event = parse(line, eventSchema, 'runner.EVENT_INVALID', LINE);
    if ('result' in event) return void (heard.result = event.result);
    const facts = redactor.value(event.progress) as RunnerProgress;
    const report = async () => heard.fault ?? (await work.context.progress(facts));
    heard.stored = heard.stored.then(report).then(() => undefined, fail);
  };
  readLines(started.events, take, fail);
  return fail;
}

async function converse(
  program: Program,
  redactor: Redactor,
  add: (chunk: Buffer) => void,
  work?: Work,
): Promise<Heard> {
  const { command, secrets, helloMs = HELLO_MS } = program;
  const name = basename(command[0] ?? '');
  const { job, context } = work ?? {};
  const folder = await context?.folder();
  const signal = context?.signal;
  const hasSecrets = folder !== undefined && Object.keys(secrets).length > 0;
  const path = join(folder ?? '', 'secrets.json');
  if (hasSecrets) await writeFile(path, JSON.stringify(secrets), { mode: 0o600, flag: 'wx' });
  const document = { v: VERSION, ...job, folder, ...(hasSecrets && { secrets: path }) };
  const graceMs = job?.graceMs ?? PROBE_GRACE_MS;
  const started = await launch(program, graceMs, folder).catch((cause: unknown) => {
    throw runnerError('runner.NOT_STARTED', `${name} cannot be started`, cause);
  });
  const heard: Heard = { stored: Promise.resolve() };
  for (const output of started.outputs) output.on('data', add);
  const fail = listen(started, heard, redactor, work && { ...work, document });
  const late = setTimeout(() => {
    const message = `${name} wrote no line on descriptor 3 within ${helloMs / 1000} s`;
    if (heard.kinds === undefined) fail(runnerError('runner.HELLO_INVALID', message));
  }, helloMs);
  signal?.addEventListener('abort', started.stop, { once: true });
  if (signal?.aborted === true) started.stop();
  const failure = await started.end();
  clearTimeout(late);
  await heard.stored;
  if (heard.fault !== undefined) throw heard.fault;
  signal?.throwIfAborted();
  const isProbed = work === undefined && heard.kinds !== undefined; // and then stopped
  if (failure !== undefined && !isProbed) throw runnerError('runner.EXIT', `${name} ended with ${failure}`);
  if (heard.kinds === undefined)
    throw runnerError('runner.HELLO_INVALID', `${name} ended without a line on descriptor 3`);
  if (!isProbed && heard.result === undefined)
    throw runnerError('runner.EXIT', `${name} ended without a result`);
  return heard;
}

async function readResult(folder: string, result: object | string | undefined): Promise<unknown> {
  if (typeof result !== 'string') return result;
  try {
    const path = join(folder, result);
    assertSize((await stat(path)).size, MAX_EVENT_BYTES, 'bytes');
    return parseJson(await readFile(path));
  } catch (cause) {
    throw runnerError('runner.EVENT_INVALID', `the result file ${result} cannot be read`, cause);
  }
}

export async function createProgramRunner(program: Program): Promise<Runner> {
  const redactor = createRedactor(Object.values(program.secrets));
  const attend = async (work?: Work): Promise<Heard> => {
    const tail = createTail(redactor);
    try {
      return await converse(program, redactor, (chunk) => tail.add(chunk), work);
    } catch (error) {
      if (!(error instanceof DrillproofError)) throw error;
      const lines = tail
        .read()
        .trim()
        .split(/\s*\n\s*/);
      const last = lines.slice(-OUTPUT_LINES).join(' | ');
      const message = redactor.text(error.message);
      tail.add(Buffer.from(`drillproof: ${error.code}: ${message}\n`));
      const more = work !== undefined || last === '' ? '' : `; its last output: ${last.slice(-1_000)}`;
      throw runnerError(error.code, message + more);
    } finally {
      await work?.context.log(tail.read());
    }
  };
  const { kinds = [] } = await attend();
  return {
    kinds,
    async run(job, context) {
      const { result } = await attend({ job, context });
      // Like the value that a module returns, it is checked by the caller.
      return redactor.value(await readResult(await context.folder(), result)) as RunnerOutcome;
    },
  };
}
