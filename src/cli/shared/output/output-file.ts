import type { BigIntStats } from 'node:fs';
import { access, constants, lstat, mkdir, readdir, realpath, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { DrillproofError } from '../../../errors.ts';
import {
  type Chunks,
  errnoOf,
  ioError,
  writeDurably,
  writeInPlace,
  writeNewFile,
} from '../../../node/index.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../options/values.ts';

/** Writes bytes to a file, or to standard output for `-`. */
export async function writeBytes(
  cli: Cli,
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: WriteOptions,
): Promise<void> {
  if (path !== '-') return writeOutputFile(cli, path, chunks, options);
  for await (const chunk of chunks) await cli.stdout.write(chunk);
}

export type WriteOptions = {
  /** Replace a file that is there. Default false. */
  readonly force?: boolean;
  /** Default 0o666 less the umask; 0o600 for secrets. */
  readonly mode?: number;
};

type Inputs = Pick<Cli, 'inputs'>;

/**
 * Writes a file so that its name never refers to half of it. A device or FIFO is written to, and a link is followed.
 * @throws DrillproofError `io.EXISTS` unless `force`, `usage.INVALID` for an input of the command, `io.NOT_FOUND`,
 *   `io.KIND`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`; what the chunks throw passes unchanged
 */
export async function writeOutputFile(
  cli: Inputs,
  path: string,
  chunks: Chunks,
  options: WriteOptions = {},
): Promise<void> {
  const { force = false, mode = 0o666 } = options;
  const { target, isReplaced } = await checkPlace(cli, path, force);
  if (!isReplaced) return runWrite(path, () => writeInPlace(target, chunks, mode));
  await writeDurably(target, async (temporary) => {
    await writeNewFile(temporary, chunks, mode);
    if (!force) await refuseExisting(path);
  });
}

/**
 * Refuses an output that could not be written, before the work whose result it takes.
 * @throws DrillproofError as `writeOutputFile`
 */
export async function checkOutputFile(cli: Inputs, path: string, force: boolean): Promise<void> {
  const { target, isReplaced } = await checkPlace(cli, path, force);
  const place = isReplaced ? dirname(target) : target;
  await runWrite(place, () => access(place, constants.W_OK)).catch((error: unknown) => {
    // What a link names may still be made.
    if (isReplaced || errnoOf(error instanceof Error ? error.cause : error) !== 'ENOENT') throw error;
  });
}

/**
 * Removes what an earlier run wrote, so that it is not mistaken for the result of this one. What a link names is emptied.
 * @throws DrillproofError as `writeOutputFile`
 */
export async function removeStale(cli: Inputs, path: string): Promise<void> {
  const { target, isReplaced } = await checkPlace(cli, path, true);
  if (!isReplaced) return;
  await runWrite(path, () => (target === path ? rm(path, { force: true }) : truncate(target)));
}

type OutputPlace = { readonly target: string; /** A new file gets the name. */ readonly isReplaced: boolean };

async function checkPlace(cli: Inputs, path: string, force: boolean): Promise<OutputPlace> {
  refuseDash(path);
  if (!force) await refuseExisting(path);
  const [file, link] = await Promise.all([tryStat(path, stat), tryStat(path, lstat)]);
  // A link to nothing: what it names is made.
  if (file === undefined) return { target: path, isReplaced: link === undefined };
  if (file.isDirectory())
    throw new DrillproofError('io.KIND', `cannot write ${path}: it is a folder`, { path });
  if (!file.isFile()) return { target: path, isReplaced: false };
  await refuseInput(cli, path, file);
  return { target: link?.isSymbolicLink() === true ? await realpath(path) : path, isReplaced: true };
}

/** A regular file that is an input, or lies inside one, under any name. */
async function refuseInput({ inputs }: Inputs, path: string, file: BigIntStats): Promise<void> {
  const place = await realpath(path);
  for (const input of inputs) {
    const existing = await tryStat(input, stat);
    if (existing === undefined) continue;
    const isInput = existing.isDirectory()
      ? place.startsWith(`${await realpath(input)}${sep}`) ||
        (file.nlink > 1n && (await containsFile(input, file)))
      : isSame(existing, file);
    if (isInput)
      throw usageError(
        `${path} is read by the same command, as ${input === '/dev/stdin' ? 'standard input' : input}`,
        'Write to a file that is not an input.',
      );
  }
}

const isSame = (a: BigIntStats, b: BigIntStats): boolean => a.ino === b.ino && a.dev === b.dev;

async function containsFile(folder: string, file: BigIntStats): Promise<boolean> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const existing = entry.isFile() ? await tryStat(join(entry.parentPath, entry.name), stat) : undefined;
    if (existing !== undefined && isSame(existing, file)) return true;
  }
  return false;
}

type Stat = (path: string, options: { readonly bigint: true }) => Promise<BigIntStats>;

/** What a name refers to, if anything can be said of it; an output that cannot be examined fails when it is written. */
const tryStat = (path: string, read: Stat): Promise<BigIntStats | undefined> =>
  read(path, { bigint: true }).catch(() => undefined);

async function runWrite<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause; // of the chunks
    throw ioError(cause, path, 'write');
  }
}

/**
 * Makes a folder so that its name never refers to half of it: `fill` writes into a temporary one, which is then renamed.
 * A folder that is not empty is never replaced.
 * @throws DrillproofError as `writeOutputFile`; what `fill` throws passes unchanged
 */
export async function writeOutputFolder(
  path: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  refuseDash(path);
  const target = resolve(path); // a folder may be named with a slash after it
  await refuseExistingFolder(target, path);
  await writeDurably(target, async (temporary) => {
    await mkdir(temporary);
    await fill(temporary);
  });
}

/** Refuses `-` as a name, for commands that cannot write to standard output. */
function refuseDash(path: string): void {
  if (path === '-') throw usageError('this cannot be written to standard output', 'Name a file.');
}

/** @throws DrillproofError `io.EXISTS` when there is anything under the name */
async function refuseExisting(path: string): Promise<void> {
  try {
    await lstat(path);
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

/** A file that is written piece by piece and appears under its name when it is closed. */
type OutputStream = {
  /** Resolves when the bytes are taken, or when the file cannot be written. */
  readonly write: (text: string) => Promise<void>;
  /** Why the file could not be written, if it could not: what `writeOutputFile` throws. */
  readonly close: () => Promise<unknown>;
  readonly abort: (reason: unknown) => Promise<void>;
};

/** `writeOutputFile` for bytes that are not all known yet. */
export function openOutputFile(cli: Inputs, path: string, options: WriteOptions): OutputStream {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  writer.closed.catch(() => {});
  const failure = writeOutputFile(cli, path, readable, options).catch((error: unknown) => error);
  // A file that cannot be written never takes the bytes.
  const taken = async (work: Promise<void>): Promise<void> => {
    await Promise.race([work.catch(() => {}), failure]);
  };
  return {
    write: (text) => (text === '' ? Promise.resolve() : taken(writer.write(Buffer.from(text)))),
    async close() {
      await taken(writer.close());
      return failure;
    },
    async abort(reason) {
      await taken(writer.abort(reason));
      await failure;
    },
  };
}
