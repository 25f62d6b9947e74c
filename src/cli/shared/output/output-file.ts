import type { BigIntStats } from 'node:fs';
import { access, constants, lstat, mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { DrillproofError } from '../../../errors.ts';
import {
  type Chunks,
  refuseExisting,
  writeDurably,
  writeInPlace,
  writeNewFile,
} from '../../../node/durable-file.ts';
import { awaitOptional, errnoOf, ioError } from '../../../node/fs-errors.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../options/values.ts';

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
  /** Replaces an existing file. Default false. */
  readonly force?: boolean;
  /** Default 0o666 less the umask; 0o600 for secrets. */
  readonly mode?: number;
};

type Inputs = Pick<Cli, 'inputs'>;

/**
 * Writes a file that gets its name only when it is complete. Devices and FIFOs are written in place. A link to anything else
 * is refused, because whoever planted it would choose the file that is replaced.
 * @throws DrillproofError `io.EXISTS` unless `force`, `usage.INVALID` for an input of the command, `io.NOT_FOUND`,
 *   `io.KIND`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`; errors of the chunks are rethrown
 */
export async function writeOutputFile(
  cli: Inputs,
  path: string,
  chunks: Chunks,
  options: WriteOptions = {},
): Promise<void> {
  const { force = false, mode = 0o666 } = options;
  if ((await checkPlace(cli, path, force)) === 'special')
    return runWrite(path, () => writeInPlace(path, chunks));
  await writeDurably(path, async (temporary) => {
    await writeNewFile(temporary, chunks, mode);
    if (!force) await refuseExisting(path);
  });
}

/**
 * Refuses an output that cannot be written, before the work begins.
 * @throws DrillproofError as `writeOutputFile`
 */
export async function checkOutputFile(cli: Inputs, path: string, force: boolean): Promise<void> {
  const place = (await checkPlace(cli, path, force)) === 'special' ? path : dirname(path);
  await runWrite(place, () => access(place, constants.W_OK));
}

/**
 * Removes the output of an earlier run, so that it is not mistaken for a new result.
 * @throws DrillproofError as `writeOutputFile`
 */
export async function removeStale(cli: Inputs, path: string): Promise<void> {
  if ((await checkPlace(cli, path, true)) === 'file') await runWrite(path, () => rm(path, { force: true }));
}

/** Checks where a file will be written; `special` is a device or FIFO. */
async function checkPlace(cli: Inputs, path: string, force: boolean): Promise<'file' | 'special'> {
  refuseDash(path);
  if (!force) await refuseExisting(path);
  const [file, link] = await Promise.all([tryStat(path, stat), tryStat(path, lstat)]);
  if (file?.isDirectory() === true)
    throw new DrillproofError('io.KIND', `cannot write ${path}: it is a folder`, { path });
  if (file?.isFIFO() === true || file?.isCharacterDevice() === true) return 'special';
  if (file !== undefined) await refuseInput(cli, path, file);
  if (link === undefined || link.isFile()) return 'file';
  const kind = link.isSymbolicLink() ? 'a symbolic link' : 'not a regular file';
  throw new DrillproofError('io.KIND', `cannot write ${path}: it is ${kind}`, { path });
}

/** Refuses a file that is an input, or is inside an input folder, under any name. */
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

/** Returns undefined for a name that cannot be examined; writing to it reports the error. */
const tryStat = (path: string, read: Stat): Promise<BigIntStats | undefined> =>
  read(path, { bigint: true }).catch(() => undefined);

async function runWrite<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause; // an error of the chunks
    throw ioError(cause, path, 'write');
  }
}

/**
 * Makes a folder that gets its name only when `fill` has completed. Only an empty folder is replaced.
 * @throws DrillproofError as `writeOutputFile`; errors of `fill` are rethrown
 */
export async function writeOutputFolder(
  path: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  refuseDash(path);
  const target = resolve(path); // removes a trailing slash
  await refuseExistingFolder(target, path);
  await writeDurably(target, async (temporary) => {
    await mkdir(temporary);
    await fill(temporary);
  });
}

function refuseDash(path: string): void {
  if (path === '-') throw usageError('this cannot be written to standard output', 'Name a file.');
}

async function refuseExistingFolder(target: string, path: string): Promise<void> {
  const names = await awaitOptional(path, 'write', readdir(target));
  if (names !== undefined && names.length > 0)
    throw new DrillproofError('io.EXISTS', `${path} is a folder that is not empty`, { path });
}

/** A file that is written piece by piece and appears under its name when it is closed. */
type OutputStream = {
  /** Resolves when the bytes are accepted, or when the file cannot be written. */
  readonly write: (text: string) => Promise<void>;
  /** Returns the error of `writeOutputFile`, if any. */
  readonly close: () => Promise<unknown>;
  readonly abort: (reason: unknown) => Promise<void>;
};

/** Opens a file for `writeOutputFile` whose bytes are not yet complete. */
export function openOutputFile(cli: Inputs, path: string, options: WriteOptions): OutputStream {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  writer.closed.catch(() => {});
  const failure = writeOutputFile(cli, path, readable, options).catch((error: unknown) => error);
  // A file that cannot be written never accepts bytes.
  const waitFor = async (work: Promise<void>): Promise<void> => {
    await Promise.race([work.catch(() => {}), failure]);
  };
  return {
    write: (text) => (text === '' ? Promise.resolve() : waitFor(writer.write(Buffer.from(text)))),
    async close() {
      await waitFor(writer.close());
      return failure;
    },
    async abort(reason) {
      await waitFor(writer.abort(reason));
      await failure;
    },
  };
}
