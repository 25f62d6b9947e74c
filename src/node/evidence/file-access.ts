import { checkArguments, FLAG, optional, optionsOf, TEXT } from '../../bytes/arguments.ts';
import { closeSync, constants, fstatSync, openSync, readSync, type BigIntStats } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { DrillproofError } from '../../errors.ts';
import type { OpenFile } from '../../evidence/source.ts';
import { attempt, ioError } from '../fs-errors.ts';

const OPTIONS = optionsOf({ followLink: optional(FLAG) });

/**
 * Opens a regular file for random access. Reads are synchronous, which is several times faster from the page cache; use
 * threads for bulk work.
 * @param options.followLink allow a symbolic link as `path`; default true
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND` for anything that is not a regular file, `io.UNREADABLE`
 * @example
 * const file = await openFile('part.zip');
 * const report = await verifyPart(file, { asOfMs: Date.now(), trust });
 * await file.close();
 */
export async function openFile(
  path: string,
  options: { readonly followLink?: boolean } = {},
): Promise<OpenFile> {
  checkArguments({ path: TEXT, options: OPTIONS }, { path, options });
  const { followLink = true } = options;
  const { fd, stats: opened } = openRegular(path, followLink);
  if (Math.abs(Date.now() - Number(opened.ctimeMs)) < TICK_MS) await setTimeout(TICK_MS);
  return {
    fd,
    size: Number(opened.size),
    read(offset, length) {
      const bytes = Buffer.allocUnsafe(length);
      fill(fd, path, bytes, offset);
      return bytes;
    },
    readInto: (target, offset) => fill(fd, path, target, offset),
    assertUnchanged() {
      if (isSameState(fstatSync(fd, { bigint: true }), opened)) return;
      throw new DrillproofError('io.CHANGED', `${path} changed while it was being read`, { path });
    },
    close() {
      closeSync(fd);
      return Promise.resolve();
    },
  };
}

/**
 * Two writes within one tick of the kernel clock have the same time. A file that was just written is therefore read one
 * tick later, so that any further write changes its time.
 */
const TICK_MS = 20;

// The time of the last change cannot be set back, unlike the time of the last write.
const isSameState = (now: BigIntStats, opened: BigIntStats): boolean =>
  now.size === opened.size && now.mtimeNs === opened.mtimeNs && now.ctimeNs === opened.ctimeNs;

// Opening a FIFO would wait for a writer forever. Windows has neither flag.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** The flag with which the system refuses a link at the end of a path; 0 if there is none. */
export const NO_LINK: number = constants.O_NOFOLLOW ?? 0;

/** Opens a regular file. @throws as `openFile` */
export function openRegular(
  path: string,
  followLink: boolean,
): { readonly fd: number; readonly stats: BigIntStats } {
  const fd = attempt(path, 'read', () => openSync(path, followLink ? FLAGS : FLAGS | NO_LINK));
  const stats = fstatSync(fd, { bigint: true });
  if (stats.isFile()) return { fd, stats };
  closeSync(fd);
  throw new DrillproofError('io.KIND', `${path} is not a regular file`, { path });
}

function fill(fd: number, path: string, target: Uint8Array, offset: number): void {
  try {
    for (let count = 0; count < target.length;) {
      const added = readSync(fd, target, count, target.length - count, offset + count);
      if (added === 0)
        throw new DrillproofError('io.CHANGED', `${path} became shorter while it was being read`, { path });
      count += added;
    }
  } catch (cause) {
    throw ioError(cause, path, 'read');
  }
}
