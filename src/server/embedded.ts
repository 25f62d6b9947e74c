import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ioError } from '../node/fs-errors.ts';
import type { Blobs } from './blobs/blobs.ts';
import { openDiskBlobs } from './blobs/disk.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';

/**
 * Opens the embedded pair in a folder, making it when absent: the store in `store.sqlite`, the blobs in `blobs/`.
 * Only the owner may read the folder.
 * @throws DrillproofError `server.CONFIG_INVALID` as `openSqliteStore`, `io.READ_ONLY`, `io.DISK_FULL`, `io.KIND`
 */
export async function openEmbedded(
  dataDir: string,
  options: { readonly now?: () => number } = {},
): Promise<{ store: Store; blobs: Blobs }> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw ioError(cause, dataDir, 'write');
  }
  const blobs = await openDiskBlobs(dataDir, options.now);
  return { store: await openSqliteStore(join(dataDir, 'store.sqlite')), blobs };
}
