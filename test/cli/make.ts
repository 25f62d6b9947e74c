import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import type { Cli, Output } from '../../src/cli/cli.ts';
import { run } from '../../src/cli/run.ts';
import { EXIT } from '../../src/cli/exit.ts';
import { makeRunResult } from '../support/evidence.ts';
import { writeFiles } from '../support/folder.ts';

export type CliResult = { readonly code: number; readonly stdout: string; readonly stderr: string };
export type ProcessOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Runs it as this user; for root only. */
  readonly uid?: number;
};
/** A command line: its words, or one text that spaces separate into words. */
export type Words = string | readonly string[];
const splitWords = (words: Words): readonly string[] =>
  typeof words === 'string' ? (words.match(/\S+/g) ?? []) : words;

/** The options that sign with the key of `writeEvidence`, and the roles of the objects of `writeRun`. */
export const SIGNER = '--key key.pem --issuer acme-ci';
export const ROLES = '--role journal.jsonl=evidence --role state.json=state --role trace.json=trajectory';

const ROOT = new URL('../../', import.meta.url);

/** The arguments of Node.js that run the built program, or with DRILLPROOF_TEST_SOURCES=1 its sources, while one edits. */
export const PROGRAM =
  process.env['DRILLPROOF_TEST_SOURCES'] === '1'
    ? ['--conditions=drillproof:source', fileURLToPath(new URL('src/cli/main.ts', ROOT))]
    : [fileURLToPath(new URL(manifest.bin.drillproof, ROOT))];

/** Starts the real program in a separate process. */
export function start(words: Words, { cwd, env = {}, uid }: ProcessOptions = {}) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, [...PROGRAM, ...splitWords(words)], {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

/** Collects what a process prints until it ends. */
export async function collectResult(child: ReturnType<typeof start>): Promise<CliResult> {
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const [code] = await once(child, 'close');
  return { code: typeof code === 'number' ? code : -1, stdout, stderr };
}

/** Runs the real program in a separate process. */
export function drillproof(words: Words, options: ProcessOptions = {}): Promise<CliResult> {
  const child = start(words, options);
  child.stdin.end(options.input ?? '');
  return collectResult(child);
}

type Recorder = Output & { readonly text: () => string };

export function recorder(over: Partial<Output> = {}): Recorder {
  const chunks: string[] = [];
  return {
    isTTY: false,
    columns: 80,
    rows: 24,
    closed: false,
    write(chunk) {
      chunks.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
      return Promise.resolve();
    },
    text: () => chunks.join(''),
    ...over,
  };
}

export const NOW_MS = Date.UTC(2024, 0, 1, 12);

/** A world in memory: a fixed clock, no environment, streams that record. */
export function world(
  over: Partial<Cli> = {},
): Cli & { readonly stdout: Recorder; readonly stderr: Recorder } {
  return {
    env: {},
    stdin: (async function* () {})(),
    signal: new AbortController().signal,
    now: () => NOW_MS,
    inputs: new Set(),
    quiet: false,
    format: 'text',
    exitCode: EXIT.pass,
    ...over,
    stdout: recorder(),
    stderr: recorder(),
  };
}

type CallOptions = Partial<Cli> & { readonly input?: string };

/** Runs the program in this process, which is faster. */
export async function call(words: Words, { input, ...over }: CallOptions = {}): Promise<CliResult> {
  const cli = world(input === undefined ? over : { ...over, stdin: chunkOf(input) });
  const code = await run(splitWords(words), cli);
  return { code, stdout: cli.stdout.text(), stderr: cli.stderr.text() };
}
async function* chunkOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Runs a command line with --json, and parses what it prints. */
export const callJson = async (words: Words, options: CallOptions = {}) =>
  JSON.parse((await call([...splitWords(words), '--json'], options)).stdout);

/** Parses each line of a text as JSON. */
export const parseLines = (text: string): any[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Runs a command line that must end with 0; returns what it prints. */
export async function expectPass(words: Words, options: CallOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await call(words, options);
  if (code !== 0) throw new Error(`${splitWords(words).join(' ')}: ${stderr}`);
  return stdout;
}

/** Runs a command line that must end with this code and print this text. */
export const expectExit = (words: Words, exit: number, text = '', options: CallOptions = {}) =>
  expectResult(call(words, options), exit, text);

/** Expects the exit code of a command, and that it prints this text; returns all that it prints. */
export async function expectResult(result: CliResult | Promise<CliResult>, exit: number, text = '') {
  const { code, stdout, stderr } = await result;
  expect([code, stdout + stderr]).toEqual([exit, expect.stringContaining(text)]);
  return stdout + stderr;
}

/** The exit code of a command that fails, and the code of its error. */
export async function readFailure(
  result: CliResult | Promise<CliResult>,
): Promise<[number, string | undefined]> {
  const { code, stderr } = await result;
  return [code, /^drillproof: ([^:]+):/m.exec(stderr)?.[1]];
}

type Scratch = { readonly path: (name: string) => string; readonly root: string };

/** Makes a folder that is removed when it is disposed of. */
export async function scratch(): Promise<Scratch & AsyncDisposable> {
  const root = await mkdtemp(join(tmpdir(), 'drillproof-cli-'));
  return {
    root,
    path: (name) => join(root, name),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** Gives each test of a file a new folder. */
export function useScratch(): Scratch {
  let dir: Scratch & AsyncDisposable;
  beforeEach(async () => {
    dir = await scratch();
  });
  afterEach(() => dir[Symbol.asyncDispose]());
  return {
    path: (name) => dir.path(name),
    get root() {
      return dir.root;
    },
  };
}

const HASH = `sha256:${'4f'.repeat(32)}`;

/** Writes the objects of run `n`, its description and its result, from which `pack` with `ROLES` makes a part. */
export async function writeRun(folder: string, n = 1): Promise<void> {
  const id = String(n).padStart(12, '0');
  const identity = {
    runId: `run_check-${n}`,
    targetId: `package-${n}`,
    buildHash: HASH,
    packageLockHash: HASH,
    seed: '1',
  };
  await writeFiles(folder, {
    [`run-${n}/journal.jsonl`]: '{"seq":1}\n',
    [`run-${n}/state.json`]: '{"a":1}\n',
    [`run-${n}/trace.json`]: '[]\n',
    [`run-${n}/notes.txt`]: 'nothing special\n',
    [`run-${n}.json`]: JSON.stringify({
      evidenceBundleId: `evidence_${id}`,
      organizationId: 'org_000000000001',
      projectId: 'prj_000000000001',
      hostedRunId: `hrun_${id}`,
      runId: `run_check-${n}`,
      createdAtMs: NOW_MS - 10 + n,
      runResult: `result-${n}.json`,
    }),
    [`result-${n}.json`]: JSON.stringify(
      makeRunResult(n, { identity, verdict: n % 2 === 1 ? 'passed' : 'failed' }),
    ),
  });
}

/** Makes keys, a trust store, two signed parts and an export of both in a folder. */
export async function writeEvidence(folder: string): Promise<void> {
  const expectPassIn = (line: string) =>
    expectPass(line.split(' ').map((word) => word.replace('DIR', folder)));
  const signer = `--key DIR/key.pem --issuer acme-ci`;
  await expectPassIn('keys generate --out DIR/key.pem');
  await expectPassIn('keys add DIR/key.pub.pem --issuer acme-ci --trust DIR/trust.json');
  for (const n of [1, 2]) {
    await writeRun(folder, n);
    const part = `pack DIR/run-${n} --run DIR/run-${n}.json --out DIR/part-${n}.zip`;
    await expectPassIn(`${part} ${signer} ${ROLES}`);
  }
  await expectPassIn(`export DIR/part-1.zip DIR/part-2.zip ${signer} --out DIR/export`);
}

/** Runs the tests of a file in a new folder with what `writeEvidence` and then `prepare` put into it. */
export function useEvidenceFolder(prepare?: () => Promise<void>): Scratch {
  const home = process.cwd();
  let root = '';
  beforeAll(async () => {
    root = (await scratch()).root;
    await writeEvidence(root);
    process.chdir(root);
    await prepare?.();
  });
  afterAll(async () => {
    process.chdir(home);
    await rm(root, { recursive: true, force: true });
  });
  return {
    path: (name) => join(root, name),
    get root() {
      return root;
    },
  };
}
