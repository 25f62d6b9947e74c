import { stat } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { DrillproofError } from '../../../errors.ts';
import { errnoOf, ioError } from '../../../node/index.ts';
import {
  type Admin,
  createAdmin,
  createLog,
  type Log,
  type LogEntry,
  type LogFormat,
  type LogLevel,
  logLevels,
  openStores,
  placesOf,
  type Stores,
} from '../../../server/index.ts';
import { type Cli, sayLines } from '../../cli.ts';
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
 * Works on the data of a control plane, which may be running. The environment says where the data are.
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
 * Opens the data of a control plane. A needed folder must exist, unless it may be created.
 * @throws DrillproofError `io.NOT_FOUND`, and what `openStores` throws
 */
export async function openData(cli: Cli, data: string, mayBeAbsent: boolean): Promise<Stores> {
  for (const folder of placesOf(cli.env, data).folders) await requireFolder(folder, mayBeAbsent);
  return openStores(cli.env, data, { now: cli.now });
}

/**
 * Requires an existing folder, or one that may be created.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`
 */
async function requireFolder(data: string, mayBeAbsent: boolean): Promise<void> {
  try {
    if ((await stat(data)).isDirectory()) return;
  } catch (cause) {
    if (mayBeAbsent && errnoOf(cause) === 'ENOENT') return;
    throw ioError(cause, data, 'read');
  }
  throw new DrillproofError('io.KIND', `${data} is not a folder`, { path: data });
}

export type LogOptions = { readonly logLevel: LogLevel; readonly logFormat?: LogFormat };

/** The logging options of long-running commands: one line on stderr for each request and event. */
export function logOptions(command: Command): Command {
  return command
    .addOption(new Option('--log-level <level>', 'lowest level to log').choices(logLevels).default('info'))
    .addOption(
      new Option('--log-format <kind>', 'format of the log (default: text on a terminal, else json)').choices(
        ['text', 'json'],
      ),
    );
}

type Logging = {
  readonly log: Log;
  /** Reports an event in words on a terminal, and as a log entry elsewhere. */
  readonly announce: (words: string, event: string, facts?: LogEntry['facts']) => Promise<void>;
};

/** The log that the options ask for. With --quiet it holds errors only. */
export function logging(cli: Cli, { logLevel, logFormat }: LogOptions): Logging {
  const format = logFormat ?? (cli.stderr.isTTY ? 'text' : 'json');
  const write = (line: string): void => void cli.stderr.write(line);
  const log = createLog({ level: cli.quiet ? 'error' : logLevel, format, write, now: cli.now });
  return {
    log,
    announce: async (words, event, facts = {}) =>
      format === 'text' ? sayLines(cli, words) : log({ level: 'info', event, facts }),
  };
}
