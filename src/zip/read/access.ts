import type { RandomAccess } from '../../bytes/random-access.ts';
import { DrillproofError } from '../../errors.ts';

/**
 * Exactly the bytes `[offset, offset + length)`; where an archive sends a reader outside the file it ends here.
 * @throws DrillproofError `zip.TRUNCATED` outside the file, `io.CHANGED` when the source gives fewer bytes than it
 * has, and unchanged whatever the source throws
 */
export async function readExactly(
  access: RandomAccess,
  offset: number,
  length: number,
  path?: string,
): Promise<Uint8Array> {
  if (offset < 0 || offset + length > access.size) {
    throw new DrillproofError('zip.TRUNCATED', 'a record reaches past the end of the file', at(path));
  }
  const bytes = await access.read(offset, length);
  if (bytes.length === length) return bytes;
  throw new DrillproofError('io.CHANGED', 'the source gave fewer bytes than its size promises', at(path));
}

/** The same source, held to its promise at every read as `readExactly` does. */
export const exactAccess = (access: RandomAccess, path?: string): RandomAccess => ({
  size: access.size,
  read: (offset, length) => readExactly(access, offset, length, path),
});

const at = (path: string | undefined) => (path === undefined ? {} : { path });
