import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { DrillproofError } from '../../../errors.ts';
import { errnoOf, ioError } from '../../../node/index.ts';
import { type Admin, createAdmin, openStores, placesOf, type Stores } from '../../../server/index.ts';
import type { Cli } from '../../cli.ts';
import { standardOptions } from '../options/options.ts';

export type DataOptions = { readonly data: string };

/** The options of every command that administers: those of all commands, and where the data are. */
export function dataOptions(command: Command): Command {
  return standardOptions(command)
    .option('--data <dir>', 'folder of the control plane', './drillproof-data')
    .addHelpText('after', ENVIRONMENT_HELP);
}

const ENVIRONMENT_HELP = `
DATABASE_URL and BLOBS_URL say where the data are when they are not in the
folder, as for "drillproof serve".`;

type Open = Stores & { readonly admin: Admin };

/**
 * Works on the data of a control plane, beside a running one or without; where they are says the environment.
 * @throws DrillproofError `io.NOT_FOUND` for a folder that is absent, unless `create`; what opening and working throw
 */
export async function withAdmin<T>(
  cli: Cli,
  { data }: DataOptions,
  work: (open: Open) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const stores = await openData(cli, data, create);
  try {
    return await work({ ...stores, admin: createAdmin({ ...stores, now: cli.now }) });
  } finally {
    await stores.store.close();
  }
}

/**
 * Opens the data of a control plane. A folder that is needed must be there, unless it may be made.
 * @throws DrillproofError `io.NOT_FOUND`, and what `openStores` throws
 */
export async function openData(cli: Cli, data: string, mayBeAbsent: boolean): Promise<Stores> {
  for (const folder of placesOf(cli.env, data).folders) await requireFolder(folder, mayBeAbsent);
  return openStores(cli.env, data, { now: cli.now });
}

/**
 * The folder must be one, and there unless it may be made.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`
 */
async function requireFolder(data: string, mayBeAbsent: boolean): Promise<void> {
  try {
    if ((await stat(data)).isDirectory()) return;
  } catch (cause) {
    if (mayBeAbsent && errnoOf(cause) === 'ENOENT') return;
    throw ioError(cause, data, 'read');
  }
  throw new DrillproofError('io.KIND', `${data} is no folder`, { path: data });
}
