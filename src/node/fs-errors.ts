import { defined } from '../bytes/arguments.ts';
import { DrillproofError } from '../errors.ts';
import type { Code } from '../codes/catalogue.ts';
import { randomBytes } from 'node:crypto';

type Act = 'read' | 'write';
type Meaning = { readonly why: string; readonly read: Code; readonly write: Code };

// The reason for each error number of the operating system, and its codes for reading and writing.
const MEANINGS = new Map<string, Meaning>([
  ['ENOENT', { why: 'it does not exist', read: 'io.NOT_FOUND', write: 'io.NOT_FOUND' }],
  ['EEXIST', { why: 'it already exists', read: 'io.EXISTS', write: 'io.EXISTS' }],
  ['ENOTEMPTY', { why: 'it is a folder that is not empty', read: 'io.EXISTS', write: 'io.EXISTS' }],
  ['ENOTDIR', { why: 'a part of the path is not a folder', read: 'io.KIND', write: 'io.KIND' }],
  ['EISDIR', { why: 'it is a folder', read: 'io.KIND', write: 'io.KIND' }],
  ['ELOOP', { why: 'it is a symbolic link', read: 'io.KIND', write: 'io.KIND' }],
  ['ENOSPC', { why: 'the disk is full', read: 'io.UNREADABLE', write: 'io.DISK_FULL' }],
  ['EDQUOT', { why: 'the disk quota is used up', read: 'io.UNREADABLE', write: 'io.DISK_FULL' }],
  ['EROFS', { why: 'the file system is read-only', read: 'io.UNREADABLE', write: 'io.READ_ONLY' }],
  ['EACCES', { why: 'permission is denied', read: 'io.UNREADABLE', write: 'io.READ_ONLY' }],
  ['EPERM', { why: 'the operation is not permitted', read: 'io.UNREADABLE', write: 'io.READ_ONLY' }],
  [
    'ENAMETOOLONG',
    { why: 'its path is longer than the system allows', read: 'io.UNREADABLE', write: 'io.WRITE_FAILED' },
  ],
  ['ENXIO', { why: 'no program reads from it', read: 'io.UNREADABLE', write: 'io.WRITE_FAILED' }],
  ['EIO', { why: 'the device reports an error', read: 'io.UNREADABLE', write: 'io.WRITE_FAILED' }],
]);
const OTHER: Omit<Meaning, 'why'> = { read: 'io.UNREADABLE', write: 'io.WRITE_FAILED' };

/** The error number of a failed system call, such as `ENOENT`; `undefined` for any other value. */
export function errnoOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

/**
 * Creates the error for a failed system call on a file. A `DrillproofError` is returned unchanged, so a `catch` may wrap
 * a whole step.
 * Codes: `io.NOT_FOUND`, `io.EXISTS`, `io.KIND`, `io.UNREADABLE`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`.
 */
export function ioError(cause: unknown, path: string, act: Act): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  const errno = errnoOf(cause);
  const meaning = errno === undefined ? undefined : MEANINGS.get(errno);
  const why = meaning?.why ?? errno ?? 'the system reports no reason';
  return new DrillproofError((meaning ?? OTHER)[act], `cannot ${act} ${path}: ${why}`, {
    path,
    cause,
    ...defined({ details: errno === undefined ? undefined : { errno } }),
  });
}

/** Runs a system call on a file, and gives its error a code, as `ioError` does. */
export function attempt<T>(path: string, act: Act, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw ioError(cause, path, act);
  }
}

/** Like `attempt`, for a call that returns a promise. */
export const awaitCall = <T>(path: string, act: Act, call: Promise<T>): Promise<T> =>
  call.catch((cause: unknown) => {
    throw ioError(cause, path, act);
  });

/** Like `awaitCall`; resolves to `undefined` if the path does not exist. */
export const awaitOptional = <T>(path: string, act: Act, call: Promise<T>): Promise<T | undefined> =>
  call.catch((cause: unknown) => {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw ioError(cause, path, act);
  });

const ABSENT = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/**
 * Returns `io.PACKAGE_MISSING` for the error of optional packages that are not installed, or the error unchanged.
 * @param user what needs the packages
 * @param packages their names, with spaces between them
 */
export function packageError(cause: unknown, user: string, packages: string): unknown {
  if (!ABSENT.has(errnoOf(cause) ?? '')) return cause;
  const message = `${user} needs packages that are not installed: npm install ${packages}`;
  return new DrillproofError('io.PACKAGE_MISSING', message, { cause });
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 24;

/** Creates an id: the prefix and 24 random characters, about 124 bits (control API, Conventions). */
export function newId(prefix: string): string {
  let id = '';
  // With bytes from 252, the first characters would be more likely.
  while (id.length < ID_LENGTH)
    for (const byte of randomBytes(ID_LENGTH)) if (byte < 252) id += ALPHABET[byte % ALPHABET.length];
  return `${prefix}_${id.slice(0, ID_LENGTH)}`;
}
