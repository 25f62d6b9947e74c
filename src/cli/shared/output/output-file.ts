import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DrillproofError } from '../../../errors.ts';
import { errnoOf, ioError } from '../../../node/fs-errors.ts';
import { usageError } from '../options/usage.ts';

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export type WriteOptions = {
  /** Replace a file that is there. Default false. */
  readonly force?: boolean;
  /** Default 0o666 less the umask; 0o600 for secrets. */
  readonly mode?: number;
};

/**
 * Writes a file so that its name never stands for half of it: to a temporary name beside it, synced, then renamed.
 * @throws DrillproofError `io.EXISTS` unless `force`, `io.NOT_FOUND`, `io.READ_ONLY`, `io.DISK_FULL`,
 *   `io.WRITE_FAILED`; what the chunks throw passes unchanged
 */
export async function writeOutputFile(
  path: string,
  chunks: Chunks,
  options: WriteOptions = {},
): Promise<void> {
  const { force = false, mode = 0o666 } = options;
  const target = targetOf(path);
  if (!force) await refuseExisting(path);
  const temporary = temporaryBeside(target);
  try {
    await writeSynced(temporary, chunks, mode);
    if (!force) await refuseExisting(path);
    await rename(temporary, target);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw writeError(cause, path);
  }
}

/**
 * Makes a folder so that its name never stands for half of it: `fill` writes into a temporary one beside it, which is
 * then renamed. A folder that is there and not empty is never replaced.
 * @throws DrillproofError as `writeOutputFile`; what `fill` throws passes unchanged
 */
export async function writeOutputFolder(
  path: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const target = targetOf(path);
  await refuseExistingFolder(target, path);
  const temporary = temporaryBeside(target);
  try {
    await mkdir(temporary);
    await fill(temporary);
    await rename(temporary, target);
  } catch (cause) {
    await rm(temporary, { recursive: true, force: true });
    throw writeError(cause, path);
  }
}

/** Writes one file of a folder that is being filled; there is nothing yet to protect. */
export async function writeSynced(path: string, chunks: Chunks, mode = 0o666): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    for await (const chunk of chunks) await writeAll(file, chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

// FileHandle.write may write less than it was given.
async function writeAll(file: Awaited<ReturnType<typeof open>>, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) {
    const { bytesWritten } = await file.write(chunk, at);
    at += bytesWritten;
  }
}

/** Where a command cannot write to standard output, `-` is refused rather than taken for a name. */
function targetOf(path: string): string {
  if (path === '-') throw usageError('standard output cannot take this', 'Name a file.');
  return resolve(path);
}

// Only what the system says of the target is an error of writing.
const writeError = (cause: unknown, path: string): unknown =>
  errnoOf(cause)?.startsWith('E') === true && cause instanceof Error && 'syscall' in cause
    ? ioError(cause, path, 'write')
    : cause;

const temporaryBeside = (target: string): string =>
  join(dirname(target), `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`);

/** @throws DrillproofError `io.EXISTS` when there is anything under the name */
export async function refuseExisting(path: string): Promise<void> {
  try {
    await lstat(targetOf(path));
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return;
    throw ioError(cause, path, 'write');
  }
  throw new DrillproofError('io.EXISTS', `${path} already exists`, { path });
}

async function refuseExistingFolder(target: string, path: string): Promise<void> {
  let names: readonly string[];
  try {
    names = await readdir(target);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return;
    throw ioError(cause, path, 'write');
  }
  if (names.length > 0)
    throw new DrillproofError('io.EXISTS', `${path} is a folder that is not empty`, { path });
}
