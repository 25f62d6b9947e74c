import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { awaitCall } from './fs-errors.ts';

/** Gives `work` a private folder, whose name states its user, and removes it afterwards. */
export async function inTemporaryFolder<T>(user: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await awaitCall(tmpdir(), 'write', mkdtemp(join(tmpdir(), `drillproof-${user}-`)));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
