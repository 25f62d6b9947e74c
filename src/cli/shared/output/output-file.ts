import { lstat, mkdir, readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { DrillproofError } from '../../../errors.ts';
import { type Chunks, errnoOf, ioError, writeDurably, writeNewFile } from '../../../node/index.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../options/values.ts';

/** Writes bytes to a file, or to standard output for `-`. */
export async function writeBytes(
  cli: Cli,
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: WriteOptions,
): Promise<void> {
  if (path !== '-') return writeOutputFile(path, chunks, options);
  for await (const chunk of chunks) await cli.stdout.write(chunk);
}

export type WriteOptions = {
  /** Replace a file that is there. Default false. */
  readonly force?: boolean;
  /** Default 0o666 less the umask; 0o600 for secrets. */
  readonly mode?: number;
};

/**
 * Writes a file so that its name never refers to half of it.
 * @throws DrillproofError `io.EXISTS` unless `force`, `io.NOT_FOUND`, `io.READ_ONLY`, `io.DISK_FULL`,
 *   `io.WRITE_FAILED`; what the chunks throw passes unchanged
 */
export async function writeOutputFile(
  path: string,
  chunks: Chunks,
  options: WriteOptions = {},
): Promise<void> {
  const { force = false, mode = 0o666 } = options;
  refuseDash(path);
  if (!force) await refuseExisting(path);
  await writeDurably(path, async (temporary) => {
    await writeNewFile(temporary, chunks, mode);
    if (!force) await refuseExisting(path);
  });
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
export async function refuseExisting(path: string): Promise<void> {
  refuseDash(path);
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
  /** Resolves when the bytes are taken. @throws DrillproofError what `writeOutputFile` throws */
  readonly write: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
  readonly abort: (reason: unknown) => Promise<void>;
};

/** `writeOutputFile` for bytes that are not all known yet. */
export function openOutputFile(path: string, options: WriteOptions): OutputStream {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const written = writeOutputFile(path, readable, options);
  // Where it failed before it read anything, the bytes that wait for it must not wait for ever.
  written.catch((error: unknown) => (readable.locked ? undefined : readable.cancel(error)));
  return {
    // A file that cannot be written never takes the bytes, so that its failure has to win.
    write: async (text) => {
      if (text !== '') await Promise.race([writer.write(Buffer.from(text)), failureOf(written)]);
    },
    async close() {
      await Promise.race([writer.close(), failureOf(written)]);
      await written;
    },
    async abort(reason) {
      await writer.abort(reason).catch(() => {});
      await written.catch(() => {});
    },
  };
}

/** Never resolves: only a failure counts. */
const failureOf = (written: Promise<void>): Promise<never> =>
  written.then(() => new Promise<never>(() => {}));
