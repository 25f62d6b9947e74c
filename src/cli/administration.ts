import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { DrillproofError } from '../errors.ts';
import { errnoOf, ioError } from '../node/fs-errors.ts';
import { createAdmin, openEmbedded, type Admin, type Store } from '../server/index.ts';
import type { Cli } from './cli.ts';
import { standardOptions } from './options.ts';

export type DataOptions = { readonly data: string };

/** The options of every command that administers: those of all commands, and where the data are. */
export function dataOptions(command: Command): Command {
  return standardOptions(command).option('--data <dir>', 'folder of the control plane', './drillproof-data');
}

type Open = { readonly admin: Admin; readonly store: Store };

/**
 * Works on the data of a control plane, beside a running one or without.
 * @throws DrillproofError `io.NOT_FOUND` for a folder that is absent, unless `create`; what opening and working throw
 */
export async function withAdmin<T>(
  cli: Cli,
  { data }: DataOptions,
  work: (open: Open) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  await requireFolder(data, create);
  const { store, blobs } = await openEmbedded(data, { now: cli.now });
  try {
    return await work({ admin: createAdmin({ store, blobs, now: cli.now }), store });
  } finally {
    await store.close();
  }
}

/**
 * The folder must be one, and there unless it may be made.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`
 */
export async function requireFolder(data: string, mayBeAbsent: boolean): Promise<void> {
  try {
    if ((await stat(data)).isDirectory()) return;
  } catch (cause) {
    if (mayBeAbsent && errnoOf(cause) === 'ENOENT') return;
    throw ioError(cause, data, 'read');
  }
  throw new DrillproofError('io.KIND', `${data} is no folder`, { path: data });
}
