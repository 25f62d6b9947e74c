import { execFile } from 'node:child_process';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { defined } from '../../../bytes/arguments.ts';
import { closeAfter, collectBytes } from '../../../bytes/async.ts';
import { digestOf } from '../../../bytes/hash.ts';
import { fromUtf8 } from '../../../bytes/text/encoding.ts';
import { readPieces } from '../../../client/http/body.ts';
import { networkError } from '../../../client/http/errors.ts';
import type { HttpAnswer } from '../../../client/options.ts';
import { DrillproofError, TransportError } from '../../../errors.ts';
import { openFile } from '../../../node/evidence/file-access.ts';
import type { ParameterValues } from '../../../policy/document/parameters.ts';
import { MAX_POLICY_BYTES, readPolicy } from '../../../policy/resolve.ts';
import { DEFAULT_POLICY, type Policy } from '../../../policy/policy.ts';
import type { Cli } from '../../cli.ts';
import type { RemoteOptions } from '../options/options.ts';
import { usageError } from '../options/values.ts';
import { readInput } from './input.ts';
import { createFetch } from './remote.ts';

const PARENT = /\bpath["']?\s*:\s*["']?([^"'\n,}]+)/g;

/** Reads a policy with its parents (default: the default policy). */
export async function openPolicy(
  cli: Cli,
  path: string | undefined,
  { param: values = {}, ...server }: ServerOptions & { readonly param?: ParameterValues },
): Promise<Policy> {
  if (path === undefined) {
    if (values !== 'sample' && Object.keys(values).length > 0)
      throw usageError('the default policy has no parameters', 'Name a policy with --policy FILE.');
    return DEFAULT_POLICY;
  }
  const openLocal = (file: string, bytes: Uint8Array): PolicyBytes => {
    // No output may replace the parents, even if the policy is refused.
    for (const [, parent = ''] of Buffer.from(bytes).toString().matchAll(PARENT))
      cli.inputs.add(resolveRelative(file, parent.trim()));
    return { path: file, bytes };
  };
  const openParent = async (place: string): Promise<PolicyBytes> =>
    isPolicyAddress(place)
      ? readPolicyAddress(cli, place, server)
      : openLocal(place, await readParentFile(cli, place));
  const file = isPolicyAddress(path)
    ? await readPinnedPolicy(cli, path, server)
    : openLocal(path, await readInput(path, MAX_POLICY_BYTES, cli));
  return readPolicy(file, (parent, from) => openParent(resolveRelative(from, parent)), values);
}

/** Reads a file that a policy names, and not its caller: a FIFO or device would wait, or never end. */
async function readParentFile(cli: Cli, path: string): Promise<Uint8Array> {
  cli.inputs.add(path);
  const file = await openFile(path);
  return closeAfter(file, async () => {
    if (file.size > MAX_POLICY_BYTES) throw usageError(`${path} has more than ${MAX_POLICY_BYTES} bytes`);
    return file.read(0, file.size);
  });
}

/** Paths in standard input are relative to the working directory. */
const resolveRelative = (from: string, path: string): string =>
  isPolicyAddress(from) ? resolveAddress(from, path) : from === '-' ? path : join(dirname(from), path);

type ServerOptions = Pick<RemoteOptions, 'caFile' | 'timeout'>;
type PolicyBytes = { readonly path: string; readonly bytes: Uint8Array };

// Any scheme, so that a mistyped address is refused as an address, and not printed as a path.
const REMOTE = /^(?:[a-z][a-z0-9+.-]+:\/|git:)/i;
const PINNED = /^([^]*)#(sha256:[0-9a-f]{64})$/;
const FETCH_TIMEOUT_MS = 30_000;

const isPolicyAddress = (place: string): boolean => REMOTE.test(place);

/** A place as messages and reports have it: without its query, which often contains a token. */
export const formatPlace = (place: string): string =>
  isPolicyAddress(place) && !isGit(place) ? place.replace(/\?[^#]*/, '') : place;

const isGit = (place: string): boolean => /^git:/i.test(place);

/** Reads `https://…#sha256:…` or `git:REVISION:PATH#sha256:…`; the digest is that of the file. */
async function readPinnedPolicy(cli: Cli, place: string, server: ServerOptions): Promise<PolicyBytes> {
  if (!isGit(place)) parseAddress(place);
  const [, address, expected] = PINNED.exec(place) ?? [];
  if (address === undefined || expected === undefined)
    throw new DrillproofError('policy.SOURCE_UNPINNED', `${formatPlace(place)} has no digest`);
  const file = await readPolicyAddress(cli, address, server);
  const actual = digestOf(file.bytes);
  if (actual === expected) return file;
  const message = `the SHA-256 of ${file.path} does not match: it is ${actual}`;
  throw new DrillproofError('policy.SOURCE_MISMATCH', message, { details: { expected, actual } });
}

async function readPolicyAddress(cli: Cli, address: string, server: ServerOptions): Promise<PolicyBytes> {
  const bytes = await (isGit(address) ? readFromGit(cli, address) : fetchPolicy(cli, address, server));
  return { path: formatPlace(address), bytes };
}

// The messages omit the address, which may contain a password.
function parseAddress(address: string): URL {
  if (!URL.canParse(address))
    throw usageError('the address of the policy is not a URL', 'Write it as https://HOST/PATH#sha256:….');
  const url = new URL(address);
  if (url.username === '' && url.password === '') return url;
  throw usageError(
    'the address of the policy contains a user or a password, which are never sent',
    'Remove them, and read the policy from a server that needs neither.',
  );
}

function resolveAddress(from: string, path: string): string {
  const [, revision, file] = /^git:([^:]*):([^]*)$/i.exec(from) ?? [];
  if (revision === undefined || file === undefined) return new URL(path, from).href;
  return `git:${revision}:${posix.join(posix.dirname(file), path)}`;
}

const createUnreadableError = (address: string, reason: string, cause?: unknown): DrillproofError =>
  new DrillproofError(
    'policy.SOURCE_UNREADABLE',
    `cannot read ${formatPlace(address)}: ${reason}`,
    defined({ cause }),
  );

async function readFromGit(cli: Cli, address: string): Promise<Uint8Array> {
  const [, revision = '', file = ''] = /^git:([^:]*):([^]*)$/i.exec(address) ?? [];
  // A revision that begins with "-" would be an option of git.
  if (!/^[A-Za-z0-9]/.test(revision) || file === '' || file.startsWith('../'))
    throw createUnreadableError(address, 'it is not git:REVISION:PATH');
  try {
    const options = { encoding: 'buffer', maxBuffer: MAX_POLICY_BYTES + 1, signal: cli.signal } as const;
    const { stdout } = await promisify(execFile)('git', ['cat-file', 'blob', `${revision}:${file}`], options);
    return stdout;
  } catch (cause) {
    cli.signal.throwIfAborted();
    throw createUnreadableError(address, describeCause(cause), cause);
  }
}

function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const { stderr } = cause as Error & { readonly stderr?: Uint8Array };
  const [line = ''] = stderr instanceof Uint8Array ? fromUtf8(stderr).split('\n') : [];
  return line === '' ? cause.message : line;
}

async function fetchPolicy(
  cli: Cli,
  address: string,
  { caFile, timeout: timeoutMs = FETCH_TIMEOUT_MS }: ServerOptions,
): Promise<Uint8Array> {
  const url = parseAddress(address);
  if (url.protocol !== 'https:') throw createUnreadableError(address, 'only https addresses are read');
  const send = await createFetch(cli, caFile);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([cli.signal, timeout]);
  try {
    return await readAnswer(
      address,
      await send(url, { method: 'GET', headers: {}, signal, redirect: 'manual' }),
    );
  } catch (cause) {
    cli.signal.throwIfAborted();
    if (cause instanceof DrillproofError && !(cause instanceof TransportError)) throw cause;
    // The same call may succeed later.
    const { code, message } = timeout.aborted
      ? { code: 'transport.TIMEOUT' as const, message: `no complete answer within ${timeoutMs / 1000} s` }
      : networkError(cause, 'headers');
    throw new TransportError(code, `cannot read ${formatPlace(address)}: ${message}`, { cause });
  }
}

async function readAnswer(address: string, { status, body }: HttpAnswer): Promise<Uint8Array> {
  if (status >= 500 || status === 429)
    throw new TransportError('transport.UNREACHABLE', `the server responded ${status}`);
  if (status !== 200 || body === null) throw createUnreadableError(address, `the server responded ${status}`);
  return collectBytes(readPieces(body), MAX_POLICY_BYTES, () =>
    createUnreadableError(address, `it has more than ${MAX_POLICY_BYTES} bytes`),
  );
}
