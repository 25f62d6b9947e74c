import { defined, type RandomAccess, readExactly } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';

/**
 * Exactly the bytes `[offset, offset + length)`; a record that points outside the file fails here.
 * @throws DrillproofError `zip.TRUNCATED` outside the file, `io.CHANGED` when the source returns fewer bytes than it
 * has; errors of the source pass unchanged
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
      'a record extends past the end of the file',
      defined({ path }),
    );
  }
  return readExactly(access, offset, length, path);
}

/** The same source, with the checks of `readWithin` at every read. */
export const exactAccess = (access: RandomAccess, path?: string): RandomAccess => ({
  size: access.size,
  read: (offset, length) => readWithin(access, offset, length, path),
});
