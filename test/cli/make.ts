import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import type { Cli, Output } from '../../src/cli/cli.ts';
import { run } from '../../src/cli/run.ts';
import { EXIT } from '../../src/cli/shared/output/exit.ts';
import { makeRunResult } from '../support/evidence.ts';

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };
export type How = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Runs it as this user; for root only. */
  readonly uid?: number;
};

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** The arguments of Node.js that run the program from its sources. */
export const PROGRAM = ['--conditions=drillproof:source', MAIN] as const;

/** The real program, from its sources, in a process of its own. */
export function start(args: readonly string[], { cwd, env = {}, uid }: How = {}) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, [...PROGRAM, ...args], {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

export function drillproof(args: readonly string[], how: How = {}): Promise<Ended> {
  const child = start(args, how);
  return new Promise((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code: code ?? (signal === null ? -1 : -2), stdout, stderr }),
    );
    child.stdin.end(how.input ?? '');
  });
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

/** The program in this process, which is faster than one of its own. */
export async function call(args: readonly string[], over: Partial<Cli> = {}): Promise<Ended> {
  const cli = world(over);
  const code = await run(args, cli);
  return { code, stdout: cli.stdout.text(), stderr: cli.stderr.text() };
}

type Scratch = { readonly path: (name: string) => string; readonly root: string };

/** A folder that is removed when it is disposed of. */
export async function scratch(): Promise<Scratch & AsyncDisposable> {
  const root = await mkdtemp(join(tmpdir(), 'drillproof-cli-'));
  return {
    root,
    path: (name) => join(root, name),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

const HASH = `sha256:${'4f'.repeat(32)}`;

/** A folder with objects, the description of a run and its result; gives the options of `pack` for the roles. */
export async function writeRun(folder: string, n = 1): Promise<readonly string[]> {
  const { mkdir } = await import('node:fs/promises');
  await mkdir(join(folder, `run-${n}`), { recursive: true });
  const id = String(n).padStart(12, '0');
  const file = (name: string, text: string) => writeFile(join(folder, name), text);
  await file(`run-${n}/journal.jsonl`, '{"seq":1}\n');
  await file(`run-${n}/state.json`, '{"a":1}\n');
  await file(`run-${n}/trace.json`, '[]\n');
  await file(`run-${n}/notes.txt`, 'nothing special\n');
  await file(
    `run-${n}.json`,
    JSON.stringify({
      evidenceBundleId: `evidence_${id}`,
      organizationId: 'org_000000000001',
      projectId: 'prj_000000000001',
      hostedRunId: `hrun_${id}`,
      runId: `run_check-${n}`,
      createdAtMs: NOW_MS - 10 + n,
      runResult: `result-${n}.json`,
    }),
  );
  await file(`result-${n}.json`, JSON.stringify(runResult(n)));
  return ['journal.jsonl=evidence', 'state.json=state', 'trace.json=trajectory'].flatMap((role) => [
    '--role',
    role,
  ]);
}

const runResult = (n: number) =>
  makeRunResult(n, {
    identity: {
      runId: `run_check-${n}`,
      targetId: `package-${n}`,
      buildHash: HASH,
      packageLockHash: HASH,
      seed: '1',
    },
    verdict: n % 2 === 1 ? 'passed' : 'failed',
  });

async function must(args: readonly string[]): Promise<void> {
  const { code, stderr } = await call(args);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
}

/** Keys, a trust store, two signed parts and an export of both, in a folder; every call must succeed. */
export async function writeEvidence(folder: string): Promise<void> {
  const at = (name: string): string => join(folder, name);
  const signer = ['--key', at('key.pem'), '--issuer', 'acme-ci'];
  await must(['keys', 'generate', '--out', at('key.pem')]);
  const both = ['--purpose', 'evidence', '--purpose', 'export'];
  await must(['keys', 'add', at('key.pub.pem'), '--issuer', 'acme-ci', ...both, '--trust', at('trust.json')]);
  for (const n of [1, 2]) {
    const roles = await writeRun(folder, n);
    await must([
      'pack',
      at(`run-${n}`),
      '--run',
      at(`run-${n}.json`),
      ...signer,
      ...roles,
      '--out',
      at(`part-${n}.zip`),
    ]);
  }
  await must(['export', at('part-1.zip'), at('part-2.zip'), ...signer, '--out', at('export')]);
}

/** Runs the tests of a file in a new folder with what `writeEvidence` and then `prepare` put there. */
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
