import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { link, readdir, readFile, rename } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AMOUNT, type MembersOf, optional, parseJson, SIGNAL } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf, ioError } from '../fs-errors.ts';
import { attempt, remove } from './tree.ts';

/** Locks that this process holds: its own pid in a lock says nothing, where every process of a container is pid 1. */
const held = new Set<string>();
/** What a stale lock is called while it is taken away. */
const ASIDE = /\.[0-9a-f]{12}$/;
const TRIES = 5;
const WRITING_MS = 200;

/** How long to wait for a lock that another one holds. */
export type LockWait = { readonly waitMs: number; readonly signal?: AbortSignal };
export const LOCK_WAIT: MembersOf<LockWait> = { waitMs: AMOUNT, signal: optional(SIGNAL) };
const NO_WAIT: LockWait = { waitMs: 0 };
const LOOK_EVERY_MS = 500;

/**
 * Takes a lock file, which names its holder and since when it holds, and gives back how to let go of it. The lock of a
 * process that is dead is taken over; one of another machine never is, because nothing here can tell.
 * @throws DrillproofError `io.LOCKED`; the reason of an aborted `signal` while it waits
 */
export const takeLock = (file: string, wait = NO_WAIT): Promise<() => Promise<void>> =>
  whenFree(() => tryLock(file), wait);

/** Tries to take something until nobody else holds it. @throws as `takeLock` */
export async function whenFree<T>(take: () => Promise<T>, wait = NO_WAIT): Promise<T> {
  for (let leftMs = wait.waitMs; ; leftMs -= LOOK_EVERY_MS) {
    try {
      return await take();
    } catch (cause) {
      if (!isLocked(cause) || leftMs <= 0) throw cause;
      await rest(Math.min(leftMs, LOOK_EVERY_MS), wait.signal);
    }
  }
}

const isLocked = (cause: unknown): boolean => cause instanceof DrillproofError && cause.code === 'io.LOCKED';

async function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await pause(ms, undefined, { signal }).catch((cause: unknown) => {
    signal?.throwIfAborted(); // what the timer throws only has the reason as its cause
    throw cause;
  });
}

async function tryLock(file: string): Promise<() => Promise<void>> {
  for (let tries = 0; tries < TRIES; tries++) {
    if (held.has(file)) throw locked(file, 'this process');
    if (create(file)) {
      held.add(file);
      return async () => {
        try {
          await removeAsides(file);
        } finally {
          held.delete(file);
          await remove(file);
        }
      };
    }
    const content = await readHolder(file);
    if (content === undefined) continue;
    const holder = whoHolds(file, content);
    if (holder !== undefined) throw locked(file, holder);
    await removeStale(file, content);
  }
  throw locked(file, 'another process');
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

// A lock without content is being written, for microseconds, or its holder died just then.
async function readHolder(file: string): Promise<string | undefined> {
  const content = await readIfThere(file);
  if (content !== '') return content;
  await pause(WRITING_MS);
  return readIfThere(file);
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw ioError(cause, file, 'read');
  }
}

/** Who holds a lock with this content, in words; `undefined` when nobody does any more. */
function whoHolds(file: string, content: string): string | undefined {
  const { pid, host, sinceMs } = readContent(content);
  if (pid === undefined) return undefined;
  const holder = `process ${pid} on ${String(host)}`;
  if (host !== hostname()) return `${holder}, another machine than this (${hostname()})${since(sinceMs)}`;
  if (pid === process.pid) return held.has(file) ? 'this process' : undefined;
  return isAlive(pid) ? `${holder}${since(sinceMs)}` : undefined;
}

const since = (atMs: unknown): string =>
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

/** Whether a process of this machine lives, of whomever it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return errnoOf(cause) !== 'ESRCH';
  }
}

// Of two processes that find the same stale lock only one can move it away. Should the second have moved the new lock
// of the first, it sees that by the content, puts it back and looks again.
async function removeStale(file: string, content: string): Promise<void> {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(file, aside);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return;
    throw ioError(cause, file, 'write');
  }
  if ((await readIfThere(aside)) !== content) await link(aside, file).catch(() => undefined);
  await remove(aside);
}

/** Takes away what a process left that died while it moved a stale lock aside. */
async function removeAsides(file: string): Promise<void> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []); // nothing can lie in a folder that is gone
  const asides = names.filter((name) => ASIDE.test(name) && name.startsWith(`${basename(file)}.`));
  for (const name of asides) {
    const aside = join(folder, name);
    const content = await readIfThere(aside);
    // Another one may have moved our own lock away by mistake and be about to put it back.
    if (content !== undefined && whoHolds(file, content) === undefined) await remove(aside);
  }
}

const locked = (file: string, holder: string): DrillproofError =>
  new DrillproofError('io.LOCKED', `the folder is in use by ${holder}`, { path: file });
