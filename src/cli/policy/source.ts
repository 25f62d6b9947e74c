import { execFile } from 'node:child_process';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { defined, digestOf, fromUtf8 } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { MAX_POLICY_BYTES } from '../../policy/index.ts';
import type { Cli } from '../cli.ts';
import { createFetch } from '../shared/input/remote.ts';

type PolicyBytes = { readonly path: string; readonly bytes: Uint8Array };

const REMOTE = /^(?:https?:\/\/|git:)/i;
const PINNED = /^([^]*)#(sha256:[0-9a-f]{64})$/;
const FETCH_TIMEOUT_MS = 30_000;

/** Whether a policy is named by an address or a git revision, and not by a path. */
export const isPolicyAddress = (place: string): boolean => REMOTE.test(place);

/** Reads `https://…#sha256:…` or `git:REVISION:PATH#sha256:…`; the digest is that of the file. */
export async function readPinnedPolicy(cli: Cli, place: string, caFile?: string): Promise<PolicyBytes> {
  const [, address, expected] = PINNED.exec(place) ?? [];
  if (address === undefined || expected === undefined)
    throw new DrillproofError('policy.SOURCE_UNPINNED', `${place} has no digest`);
  const file = await readPolicyAddress(cli, address, caFile);
  const actual = digestOf(file.bytes);
  if (actual === expected) return file;
  const message = `the SHA-256 of ${address} does not match: it is ${actual}`;
  throw new DrillproofError('policy.SOURCE_MISMATCH', message, { details: { expected, actual } });
}

/** Reads a policy that something else pins. */
export async function readPolicyAddress(cli: Cli, address: string, caFile?: string): Promise<PolicyBytes> {
  const isGit = /^git:/i.test(address);
  const bytes = await (isGit ? readFromGit(cli, address) : fetchPolicy(cli, address, caFile));
  return { path: address, bytes };
}

export function resolveAddress(from: string, path: string): string {
  const [, revision, file] = /^git:([^:]*):([^]*)$/i.exec(from) ?? [];
  if (revision === undefined || file === undefined) return new URL(path, from).href;
  return `git:${revision}:${posix.join(posix.dirname(file), path)}`;
}

const unreadable = (address: string, reason: string, cause?: unknown): DrillproofError =>
  new DrillproofError('policy.SOURCE_UNREADABLE', `cannot read ${address}: ${reason}`, defined({ cause }));

async function readFromGit(cli: Cli, address: string): Promise<Uint8Array> {
  const [, revision = '', file = ''] = /^git:([^:]*):([^]*)$/i.exec(address) ?? [];
  // A revision that begins with "-" would be an option of git.
  if (!/^[A-Za-z0-9]/.test(revision) || file === '' || file.startsWith('../'))
    throw unreadable(address, 'it is not git:REVISION:PATH');
  try {
    const options = { encoding: 'buffer', maxBuffer: MAX_POLICY_BYTES + 1, signal: cli.signal } as const;
    const { stdout } = await promisify(execFile)('git', ['cat-file', 'blob', `${revision}:${file}`], options);
    return stdout;
  } catch (cause) {
    cli.signal.throwIfAborted();
    throw unreadable(address, reasonOf(cause), cause);
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const { stderr } = cause as Error & { readonly stderr?: Uint8Array };
  const [line = ''] = stderr instanceof Uint8Array ? fromUtf8(stderr).split('\n') : [];
  return line === '' ? cause.message : line;
}

async function fetchPolicy(cli: Cli, address: string, caFile: string | undefined): Promise<Uint8Array> {
  if (!/^https:/i.test(address)) throw unreadable(address, 'only https addresses are read');
  const send = await createFetch(cli, caFile);
  const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(FETCH_TIMEOUT_MS)]);
  try {
    const answer = await send(new URL(address), { method: 'GET', headers: {}, signal, redirect: 'manual' });
    if (answer.status !== 200 || answer.body === null)
      throw unreadable(address, `the server responded ${answer.status}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const reader = answer.body.getReader();
    for (let read = await reader.read(); read.value !== undefined; read = await reader.read()) {
      bytes += read.value.length;
      if (bytes > MAX_POLICY_BYTES) throw unreadable(address, `it has more than ${MAX_POLICY_BYTES} bytes`);
      chunks.push(read.value);
    }
    return Buffer.concat(chunks);
  } catch (cause) {
    cli.signal.throwIfAborted();
    throw cause instanceof DrillproofError ? cause : unreadable(address, reasonOf(cause), cause);
  }
}
