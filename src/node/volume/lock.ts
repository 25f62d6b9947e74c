import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { link, readdir, readFile, rename } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AMOUNT, type MembersOf, optional, SIGNAL } from '../../bytes/arguments.ts';
import { rejectWithReason } from '../../bytes/async.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { attempt, awaitOptional, errnoOf, ioError } from '../fs-errors.ts';
import { remove } from './files.ts';

/** Locks of this process. A lock with our pid may be older, because in containers every process can have pid 1. */
const ownLocks = new Set<string>();
/** The suffix of a stale lock that is about to be removed. */
const ASIDE = /\.[0-9a-f]{12}$/;
const TRIES = 5;
/** Longer than writing a lock takes. */
const WRITING_MS = 200;

/** The longest wait for a lock that another process holds. */
export type LockWait = { readonly waitMs: number; readonly signal?: AbortSignal };
export const LOCK_WAIT: MembersOf<LockWait> = { waitMs: AMOUNT, signal: optional(SIGNAL) };
const NO_WAIT: LockWait = { waitMs: 0 };
const LOOK_EVERY_MS = 500;

/** Calls `take` again while it throws `io.LOCKED`. @throws what `take` throws; the reason of an aborted `signal` */
export async function retryWhileLocked<T>(take: () => Promise<T>, wait = NO_WAIT): Promise<T> {
  for (let remainingMs = wait.waitMs; ; remainingMs -= LOOK_EVERY_MS) {
    try {
      return await take();
    } catch (cause) {
      if (!isLocked(cause) || remainingMs <= 0) throw cause;
      await pauseUnlessAborted(wait.signal, Math.min(remainingMs, LOOK_EVERY_MS));
    }
  }
}

const isLocked = (cause: unknown): boolean => hasCode(cause, 'io.LOCKED');

async function pauseUnlessAborted(signal: AbortSignal | undefined, ms: number): Promise<void> {
  // The error of the timer has the reason only as its cause.
  await rejectWithReason(signal, () => pause(ms, undefined, { signal }));
}

/**
 * Creates a lock file, which names its holder and the time, and returns a function that removes it. The lock of a dead
 * process is taken over. A lock of another machine never is, because this machine cannot check if its holder lives.
 * @throws DrillproofError `io.LOCKED`
 */
export async function takeLock(file: string): Promise<() => Promise<void>> {
  for (let tries = 0; tries < TRIES; tries++) {
    if (ownLocks.has(file)) throw heldError(file, 'this process');
    if (create(file)) {
      ownLocks.add(file);
      return async () => {
        try {
          await removeAsides(file);
        } finally {
          ownLocks.delete(file);
          await remove(file);
        }
      };
    }
    const content = await readHolder(file);
    if (content === undefined) continue;
    const holder = describeHolder(file, content);
    if (holder !== undefined) throw heldError(file, holder);
    await removeStale(file, content);
  }
  throw heldError(file, 'another process');
}

function create(file: string): boolean {
  let fd: number;
  try {
    fd = openSync(file, 'wx');
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST') return false;
    throw ioError(cause, file, 'write');
  }
  try {
    const nonce = randomBytes(8).toString('hex');
    writeSync(fd, JSON.stringify({ pid: process.pid, host: hostname(), sinceMs: Date.now(), nonce }));
    return true;
  } catch (cause) {
    attempt(file, 'write', () => rmSync(file, { force: true }));
    throw ioError(cause, file, 'write');
  } finally {
    closeSync(fd);
  }
}

// An empty lock is being written, or its holder died while writing it.
async function readHolder(file: string): Promise<string | undefined> {
  const content = await readLock(file);
  if (content !== '') return content;
  await pause(WRITING_MS);
  return readLock(file);
}

const readLock = (file: string): Promise<string | undefined> =>
  awaitOptional(file, 'read', readFile(file, 'utf8'));

/** Describes the holder of a lock with this content; `undefined` if it is dead. */
function describeHolder(file: string, content: string): string | undefined {
  const { pid, host, sinceMs } = readContent(content);
  if (pid === undefined) return undefined;
  const holder = `process ${pid} on ${String(host)}`;
  if (host !== hostname())
    return `${holder}, which is not this machine (${hostname()})${formatSince(sinceMs)}`;
  if (pid === process.pid) return ownLocks.has(file) ? 'this process' : undefined;
  return isAlive(pid) ? `${holder}${formatSince(sinceMs)}` : undefined;
}

const formatSince = (atMs: unknown): string =>
  typeof atMs === 'number' && Math.abs(atMs) <= 8.64e15 ? `, since ${new Date(atMs).toISOString()}` : '';

function readContent(content: string): { pid?: number; host?: unknown; sinceMs?: unknown } {
  try {
    const value = parseJson(Buffer.from(content));
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return {};
    const { pid, host, sinceMs } = value;
    return typeof pid === 'number' && Number.isInteger(pid) && pid > 0 ? { pid, host, sinceMs } : {};
  } catch {
    return {};
  }
}

/** Checks if a process of this machine lives, whoever runs it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return errnoOf(cause) !== 'ESRCH';
  }
}

// Only one of two processes that see the same stale lock can rename it. If the second one renames the new lock of the
// first, it detects that by the content, puts it back and tries again.
async function removeStale(file: string, content: string): Promise<void> {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(file, aside);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return;
    throw ioError(cause, file, 'write');
  }
  if ((await readLock(aside)) !== content) await link(aside, file).catch(() => undefined);
  await remove(aside);
}

/** Removes the renamed locks of processes that died. */
async function removeAsides(file: string): Promise<void> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []); // a missing folder contains none
  const asides = names.filter((name) => ASIDE.test(name) && name.startsWith(`${basename(file)}.`));
  for (const name of asides) {
    const aside = join(folder, name);
    const content = await readLock(aside);
    // The lock of a live holder stays: another process may have renamed our lock and be about to put it back.
    if (content !== undefined && describeHolder(file, content) === undefined) await remove(aside);
  }
}

const heldError = (file: string, holder: string): DrillproofError =>
  new DrillproofError('io.LOCKED', `the folder is in use by ${holder}`, { path: file });
