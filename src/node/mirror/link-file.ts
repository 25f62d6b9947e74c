import { constants, copyFile, link } from 'node:fs/promises';
import { errnoOf, ioError } from '../fs-errors.ts';

/** `auto` takes the first that the file system can do, in this order. */
export const LINK_MODES = ['auto', 'reflink', 'hardlink', 'copy'] as const;
export type LinkMode = (typeof LINK_MODES)[number];

type Way = (from: string, to: string) => Promise<void>;
const WAYS: Readonly<Record<Exclude<LinkMode, 'auto'>, Way>> = {
  // Blocks are shared until one of the two is written to.
  reflink: (from, to) => copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE),
  // One file under two names: what changes under one changes under the other.
  hardlink: link,
  copy: (from, to) => copyFile(from, to, constants.COPYFILE_EXCL),
};
// What a file system says that has no such thing, or where the two lie on different ones.
const CANNOT = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EPERM', 'EMLINK', 'EINVAL', 'ENOTTY']);

/**
 * Gives the bytes of a file a second name, which must be free; `false` when there is no such file any more.
 * @throws DrillproofError `io.WRITE_FAILED` when the file system cannot do what is asked, and other `io.` codes
 */
export async function linkFile(from: string, to: string, mode: LinkMode): Promise<boolean> {
  const ways = mode === 'auto' ? Object.values(WAYS) : [WAYS[mode]];
  let failure: unknown;
  for (const way of ways) {
    try {
      await way(from, to);
      return true;
    } catch (cause) {
      if (errnoOf(cause) === 'ENOENT') return false;
      failure = cause;
      if (!CANNOT.has(errnoOf(cause) ?? '')) break;
    }
  }
  throw ioError(failure, to, 'write');
}
