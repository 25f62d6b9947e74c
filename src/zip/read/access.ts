import { readExactly, type RandomAccess } from '../../bytes/random-access.ts';
import { defined } from '../../bytes/defined.ts';
import { DrillproofError } from '../../errors.ts';

/**
 * Exactly the bytes `[offset, offset + length)`; where an archive sends a reader outside the file it ends here.
 * @throws DrillproofError `zip.TRUNCATED` outside the file, `io.CHANGED` when the source gives fewer bytes than it
 * has, and unchanged whatever the source throws
 */
export async function readWithin(
  access: RandomAccess,
  offset: number,
  length: number,
  path?: string,
): Promise<Uint8Array> {
  if (offset < 0 || offset + length > access.size) {
    throw new DrillproofError(
      'zip.TRUNCATED',
      'a record reaches past the end of the file',
      defined({ path }),
    );
  }
  return readExactly(access, offset, length, path);
}

/** The same source, held to its promise at every read as `readWithin` does. */
export const exactAccess = (access: RandomAccess, path?: string): RandomAccess => ({
  size: access.size,
  read: (offset, length) => readWithin(access, offset, length, path),
});
