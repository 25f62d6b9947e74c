import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { link, readdir, readFile, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseJson } from '../bytes/json-parse.ts';
import { DrillproofError } from '../errors.ts';
import { errnoOf, ioError } from './fs-errors.ts';

/** Locks that this process holds: its own pid in a lock says nothing, where every process of a container is pid 1. */
const held = new Set<string>();
/** What a stale lock is called while it is taken away. */
const ASIDE = /\.[0-9a-f]{12}$/;
const TRIES = 5;
const WRITING_MS = 200;

/**
 * Takes a lock file, which names its holder, and gives back how to let go of it. The lock of a process that is dead is
 * taken over; one of another machine never is, because nothing here can tell.
 * @throws DrillproofError `io.LOCKED`
 */
export async function takeLock(file: string): Promise<() => Promise<void>> {
  for (let tries = 0; tries < TRIES; tries++) {
    if (held.has(file)) throw locked(file, 'this process');
    if (create(file)) {
      held.add(file);
      return async () => {
        await removeAsides(file);
        held.delete(file);
        await rm(file, { force: true });
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
    writeSync(
      fd,
      JSON.stringify({ pid: process.pid, host: hostname(), nonce: randomBytes(8).toString('hex') }),
    );
    return true;
  } catch (cause) {
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
  const { pid, host } = readContent(content);
  if (pid === undefined) return undefined;
  if (host !== hostname()) return `process ${pid} on ${String(host)}`;
  if (pid === process.pid) return held.has(file) ? 'this process' : undefined;
  return isAlive(pid) ? `process ${pid}` : undefined;
}

function readContent(content: string): { pid?: number; host?: unknown } {
  try {
    const value = parseJson(Buffer.from(content));
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return {};
    const { pid, host } = value;
    return typeof pid === 'number' && Number.isInteger(pid) && pid > 0 ? { pid, host } : {};
  } catch {
    return {};
  }
}

function isAlive(pid: number): boolean {
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
  await rm(aside, { force: true });
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
    if (content !== undefined && whoHolds(file, content) === undefined) await rm(aside, { force: true });
  }
}

const locked = (file: string, holder: string): DrillproofError =>
  new DrillproofError('io.LOCKED', `the folder is in use by ${holder}`, { path: file });
