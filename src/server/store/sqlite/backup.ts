import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { closeAfter } from '../../../bytes/async.ts';
import { digestStream } from '../../../bytes/hash.ts';
import { DrillproofError } from '../../../errors.ts';
import { awaitCall, ioError } from '../../../node/fs-errors.ts';
import { refuseExisting, writeDurably } from '../../../node/durable-file.ts';
import { createMetaWrites } from '../meta.ts';
import { guard, loadSqlite, wrapDatabase } from './sqlite.ts';
import type { BlobRef } from '../store.ts';

/** Creates the file first, because SQLite would give it default permissions, and flushes it. */
const copyInto = async (path: string, to: string): Promise<void> =>
  closeAfter(await open(to, 'wx+', 0o600), async (file) => {
    await copy(path, to);
    await file.sync();
  });

/** Copies the store as one transaction sees it, compacted, while others keep writing to it. */
async function copy(path: string, to: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const source = guard(() => new DatabaseSync(path, { readOnly: true }));
  try {
    guard(() => source.exec('PRAGMA busy_timeout = 5000;'));
    guard(() => source.prepare('VACUUM INTO ?').run(to));
  } finally {
    source.close();
  }
  const backup = guard(() => new DatabaseSync(to, { readOnly: true }));
  try {
    const [first] = guard(() => backup.prepare('PRAGMA integrity_check(1)').all());
    if (first?.['integrity_check'] === 'ok') return;
    throw new DrillproofError('io.WRITE_FAILED', 'the copy of the store is damaged');
  } finally {
    backup.close();
  }
}

/**
 * Copies an embedded store into one file that only the owner may read, even while a server writes to it, and without
 * changing its schema. The file gets its name when it is complete, checked and synced.
 * @throws DrillproofError `io.NOT_FOUND` for a store or folder that is absent, `io.EXISTS`, `io.READ_ONLY`,
 *   `io.DISK_FULL`, `io.WRITE_FAILED`; `server.STORE_FOREIGN` for a file that is not a store
 */
export async function backupSqlite(path: string, out: string): Promise<BlobRef> {
  const target = resolve(out);
  await awaitCall(path, 'read', stat(path));
  await refuseExisting(target);
  try {
    await writeDurably(target, async (temporary) => {
      await copyInto(path, temporary);
      await refuseExisting(target);
    });
    return await digestStream(createReadStream(target));
  } catch (cause) {
    throw ioError(cause, out, 'write');
  }
}

/** Stores the time of a backup in the store, for metrics. It does not change the schema. @throws as `backupSqlite` */
export async function noteSqliteBackup(path: string, atMs: number): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const database = guard(() => new DatabaseSync(path));
  try {
    guard(() => database.exec('PRAGMA busy_timeout = 5000;'));
    await createMetaWrites(wrapDatabase(database)).meta.noteBackup(atMs);
  } finally {
    database.close();
  }
}
