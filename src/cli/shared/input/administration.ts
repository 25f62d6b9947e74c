import { closeAfter } from '../../../bytes/async.ts';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Code } from '../../../codes/catalogue.ts';
import { DrillproofError } from '../../../errors.ts';
import { errnoOf, ioError } from '../../../node/fs-errors.ts';
import { type Admin, createAdmin } from '../../../server/admin/admin.ts';
import type { ImportedResource } from '../../../server/admin/import.ts';
import {
  type Audit,
  createAudit,
  createLog,
  type Log,
  type LogEntry,
  logLevels,
  selectIds,
} from '../../../server/model/log.ts';
import { assertClock, startClock } from '../../../server/model/clock.ts';
import { openStores, placesOf, type Stores } from '../../../server/open-stores.ts';
import { type Cli, printNotes } from '../../cli.ts';
import { option, type OptionsOf } from '../options/option.ts';
import { STANDARD } from '../options/options.ts';
import { parseDuration } from '../options/values.ts';
import { VARIABLES } from '../options/variables.ts';
import { assertKnownVariables, readSettings, type ServeSettings } from './settings.ts';

export const DATA = [
  ...STANDARD,
  option(
    '--data <dir>',
    'folder of the control plane; DATABASE_URL and BLOBS_URL name a database and a blob store instead',
  ).default('./drillproof-data'),
];
export const OF_ORGANIZATION = option('--organization <id>', 'organization that it belongs to').required();
export const OF_PROJECT = option('--project <id>', 'project that it belongs to').required();
type DataOptions = OptionsOf<typeof DATA>;

type Open = Stores & { readonly admin: Admin };

/** Works on the data of a control plane, which may be running. */
export async function withAdmin<T>(
  cli: Cli,
  { data }: DataOptions,
  work: (open: Open) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const stores = await openData(cli, data, create);
  return closeAfter(stores.store, async () => {
    const admin = guardClock(createAdmin({ ...stores, now: cli.now }), stores.store, cli.now);
    const audit = openAudit(cli, { data }, stores.places);
    return work({ ...stores, admin: audit === undefined ? admin : auditAdmin(admin, audit) });
  });
}

/** Nothing ends or is removed by time while the clock of this machine cannot be right. */
const guardClock = (admin: Admin, store: Stores['store'], now: () => number): Admin => ({
  ...admin,
  async workOff(options) {
    await assertClock(store, now());
    return admin.workOff(options);
  },
  async prune(options) {
    await assertClock(store, now());
    return admin.prune(options);
  },
});

/** Opens the data of a control plane. A needed folder must exist, unless it may be created. */
export async function openData(
  cli: Cli,
  data: string,
  mayBeAbsent: boolean,
  options: ServeSettings['opening'] = {},
): Promise<Stores> {
  assertKnownVariables(cli.env);
  for (const folder of placesOf(cli.env, data).folders) await requireFolder(folder, mayBeAbsent);
  return openStores(cli.env, data, { ...readSettings({}, cli.env).opening, ...options });
}

/** The options of long-running commands for their start. */
export const START = [
  option(
    '--wait-for <duration>',
    'wait this long for a database or bucket that is away, or for the clock',
    parseDuration,
  ).default(60_000, '60s'),
];
const PASSING = new Set<Code>(['control.UNAVAILABLE', 'server.CLOCK_JUMPED']);

/**
 * Opens the data for a long-running command. A database or bucket that is away, and a wrong clock, are tried again until
 * `waitFor` is over; each failed try is logged. The clock that it returns ignores jumps.
 */
export async function openRunning(
  cli: Cli,
  { data, waitFor }: OptionsOf<typeof START> & { readonly data: string },
  log: Log,
  options?: ServeSettings['opening'],
): Promise<Stores & { readonly now: () => number }> {
  const untilMs = performance.now() + waitFor;
  for (let pauseMs = 500; ; pauseMs = Math.min(2 * pauseMs, 5_000)) {
    let stores: Stores | undefined;
    try {
      stores = await openData(cli, data, true, options);
      return { ...stores, now: await startClock(stores.store, { now: cli.now, signal: cli.signal, log }) };
    } catch (error) {
      await Promise.all([stores?.blobs.close(), stores?.store.close()]);
      const leftMs = untilMs - performance.now();
      if (!(error instanceof DrillproofError && PASSING.has(error.code)) || leftMs <= 0) throw error;
      const facts = { code: error.code, missing: error.message, leftMs: Math.ceil(leftMs) };
      log({ level: 'warn', event: 'start.waiting', facts });
      await sleep(Math.min(pauseMs, leftMs), undefined, { signal: cli.signal });
    }
  }
}

/** The audit log: the file that an option or DRILLPROOF_AUDIT_LOG names, or one in the data folder, if that is used. */
export function openAudit(
  cli: Cli,
  { data, auditLog = cli.env[VARIABLES.auditLog] }: { readonly data: string; readonly auditLog?: string },
  { folders }: Stores['places'],
): Audit | undefined {
  const path = auditLog ?? (folders.includes(data) ? join(data, 'audit.log') : undefined);
  return path === undefined ? undefined : createAudit(path, cli.now);
}

const STATED = /^(name|scope|projects|permissions|created|max.+|.+Ms)$/;

/** Selects what states a change, next to its ids: never the text of a token. */
const selectStated = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).filter(([name, member]) => STATED.test(name) || typeof member === 'number'),
      )
    : {};

/** Describes a change: its ids and values, or how many resources an import created and found unchanged. */
function describeChange(values: readonly unknown[], result: unknown): Record<string, unknown> {
  if (Array.isArray(result)) {
    const results = (result as readonly ImportedResource[]).map((resource) => resource.result);
    const created = results.filter((outcome) => outcome === 'created').length;
    return { created, unchanged: results.length - created };
  }
  const nested = typeof result === 'object' && result !== null ? Object.values(result) : [];
  return {
    ...selectStated(values[0]),
    ...selectStated(result),
    ...selectIds([...values, ...nested, result]),
  };
}

const PROJECT_ID = /^prj_/;
const TOKEN_ID = /^tok_/;

/** The name of the user of this process, or its number: a container may run as a user without a name. */
function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

/** Wraps the administration so that the audit log records each change and its result. */
function auditAdmin(admin: Admin, audit: Audit): Admin {
  const actor = `admin:${readUserName()}`;
  const record =
    (act: (...values: unknown[]) => unknown, name: string) =>
    async (...values: unknown[]) => {
      const [first] = values;
      const argumentIds = {
        ...(typeof first === 'string' && PROJECT_ID.test(first) ? { projectId: first } : {}),
        ...(typeof first === 'string' && TOKEN_ID.test(first) ? { tokenId: first } : {}),
      };
      const entry = { actor, action: `admin.${name}` };
      try {
        const result = await act(...values);
        audit({ ...entry, facts: { ...argumentIds, ...describeChange(values, result) } });
        return result;
      } catch (error) {
        const code = error instanceof DrillproofError ? error.code : 'internal.BUG';
        audit({ ...entry, code, facts: { ...argumentIds, ...selectIds(values) } });
        throw error;
      }
    };
  return Object.fromEntries(
    Object.entries(admin).map(([name, act]) => [
      name,
      record(act as (...values: unknown[]) => unknown, name),
    ]),
  ) as Admin;
}

const CREATE_HINT = 'Create it with "drillproof admin org create --name NAME" or "drillproof serve".';

async function requireFolder(data: string, mayBeAbsent: boolean): Promise<void> {
  try {
    if ((await stat(data)).isDirectory()) return;
  } catch (cause) {
    if (mayBeAbsent && errnoOf(cause) === 'ENOENT') return;
    const { code, message } = ioError(cause, data, 'read');
    const details = errnoOf(cause) === 'ENOENT' ? { hint: CREATE_HINT } : {};
    throw new DrillproofError(code, message, { path: data, cause, details });
  }
  throw new DrillproofError('io.KIND', `${data} is not a folder`, { path: data });
}

/** The logging options of long-running commands: one line on stderr for each request and event. */
export const LOG = [
  option('--log-level <level>', 'lowest level to log').choices(logLevels).default('info'),
  option('--log-format <kind>', 'format of the log (default: text on a terminal, else json)').choices([
    'text',
    'json',
  ]),
];

/** Joins the lines of one turn of the event loop into one write, because a write takes longer than a line. */
function joinLines(write: (lines: string) => void): (line: string) => void {
  let lines = '';
  const flush = (): void => {
    const all = lines;
    lines = '';
    write(all);
  };
  return (line) => {
    if (lines === '') setImmediate(flush);
    lines += line;
  };
}

/** Opens the log of the options. With --quiet it has errors only. */
export function openLogging(cli: Cli, { logLevel, logFormat }: OptionsOf<typeof LOG>) {
  const format = logFormat ?? (cli.stderr.isTTY ? 'text' : 'json');
  const write = joinLines((lines) => void cli.stderr.write(lines));
  const log = createLog({ level: cli.quiet ? 'error' : logLevel, format, write, now: cli.now });
  return {
    log,
    /** Prints an event as words in a text log, and as an entry in a JSON log. */
    announce: async (words: string, event: string, facts: LogEntry['facts'] = {}): Promise<void> =>
      format === 'text' ? printNotes(cli, words) : log({ level: 'info', event, facts }),
  };
}
