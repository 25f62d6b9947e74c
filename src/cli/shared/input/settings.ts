import { InvalidArgumentError } from 'commander';
import { defined } from '../../../bytes/arguments.ts';
import { didYouMean } from '../../../bytes/text/wording.ts';
import { DrillproofError } from '../../../errors.ts';
import { DEFAULT_STORAGE_IDLE_MS } from '../../../server/blobs/s3.ts';
import { defaultLimits, type ServerLimits } from '../../../server/model/limits.ts';
import { parseNumberBetween } from '../options/options.ts';
import { VARIABLES } from '../options/variables.ts';

/** A limit that the operator sets, by an option or an environment variable; the option wins. */
type Setting = {
  /** The name of the option and, in upper case, of the variable. */
  readonly name: string;
  readonly limit: keyof typeof DEFAULTS;
  readonly what: string;
  readonly unit: 'count' | 's' | 'KiB';
};

const DEFAULTS = { ...defaultLimits, databaseConnections: 10, storageIdleMs: DEFAULT_STORAGE_IDLE_MS };

const MAX: Readonly<Record<Setting['unit'], number>> = { count: 1_000_000, s: 86_400, KiB: 1_048_576 };
const SCALE: Readonly<Record<Setting['unit'], number>> = { count: 1, s: 1000, KiB: 1024 };

const ROWS: readonly (readonly [name: string, Setting['limit'], what: string, Setting['unit']?])[] = [
  ['request-rate', 'requestsPerSecond', 'requests per second of a token'],
  ['request-burst', 'requestBurst', 'requests of a token at once'],
  ['download-rate', 'downloadsPerSecond', 'downloads per second of a token'],
  ['download-burst', 'downloadBurst', 'downloads of a token that may begin at once'],
  ['downloads', 'downloads', 'running downloads; a quarter for a token, half for an organization'],
  ['uploads', 'uploads', 'running uploads; a quarter for a token, half for an organization'],
  ['body-limit', 'bodyBytes', 'KiB of JSON in a request', 'KiB'],
  ['header-limit', 'headerBytes', 'KiB of request line and headers', 'KiB'],
  ['headers-timeout', 'headersTimeoutMs', 'seconds for all headers', 's'],
  ['request-timeout', 'requestTimeoutMs', 'seconds for a JSON body, or a pause of a transfer', 's'],
  ['download-speed', 'downloadBytesPerSecond', 'minimum bytes per second of a download'],
  ['upload-speed', 'uploadBytesPerSecond', 'minimum bytes per second of an upload'],
  ['keep-alive', 'keepAliveTimeoutMs', 'seconds between two requests of a connection', 's'],
  ['stall-timeout', 'stallTimeoutMs', 'seconds without a byte on a connection in use', 's'],
  ['upload-ttl', 'uploadTtlMs', 'seconds that an upload address is valid', 's'],
  ['database-connections', 'databaseConnections', 'connections to PostgreSQL'],
  ['storage-timeout', 'storageIdleMs', 'seconds without a byte from S3 before a request is tried again', 's'],
  ['drain', 'drainMs', 'seconds for running requests to end', 's'],
];

export const settings = ROWS.map(([name, limit, what, unit = 'count']): Setting => ({
  name,
  limit,
  what,
  unit,
}));

const PREFIX = 'DRILLPROOF_';
export const variableOf = ({ name }: Pick<Setting, 'name'>): string =>
  `${PREFIX}${name.toUpperCase().replaceAll('-', '_')}`;

export const defaultOf = ({ limit, unit }: Setting): number => DEFAULTS[limit] / SCALE[unit];

// Only --drain may be 0; the server needs a positive value of the other limits.
export const createSettingParser = ({ limit, unit }: Setting): ((value: string) => number) =>
  parseNumberBetween(limit === 'drainMs' ? 0 : 1, MAX[unit]);

type Env = Readonly<Record<string, string | undefined>>;

function readSetting(env: Env, each: Setting): number | undefined {
  const variable = variableOf(each);
  const value = env[variable];
  if (value === undefined) return undefined;
  try {
    return createSettingParser(each)(value);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new DrillproofError('server.CONFIG_INVALID', `${variable}: ${error.message}`);
  }
}

export type ServeSettings = {
  readonly limits: Partial<ServerLimits>;
  readonly opening: { readonly databaseConnections?: number; readonly storageIdleMs?: number };
};

export function readSettings(options: Readonly<Record<string, unknown>>, env: Env): ServeSettings {
  const pairs = settings.flatMap((each) => {
    const given = options[each.name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    const value = typeof given === 'number' ? given : readSetting(env, each);
    return value === undefined ? [] : [[each.limit, value * SCALE[each.unit]]];
  });
  const { databaseConnections, storageIdleMs, ...limits } = Object.fromEntries(pairs) as Partial<
    typeof DEFAULTS
  >;
  return { limits, opening: defined({ databaseConnections, storageIdleMs }) };
}

/**
 * Refuses variables that begin with DRILLPROOF_ and that no command knows: they are probably mistyped.
 * @throws DrillproofError `server.CONFIG_INVALID`
 */
export function assertKnownVariables(env: Env): void {
  const known = [...settings.map(variableOf), ...Object.values(VARIABLES)];
  const unknown = Object.keys(env).find((name) => name.startsWith(PREFIX) && !known.includes(name));
  if (unknown === undefined) return;
  const withoutPrefix = (name: string): string => name.slice(PREFIX.length);
  const nearest = didYouMean(withoutPrefix(unknown), known.map(withoutPrefix));
  const details = {
    hint: nearest?.replaceAll(/[A-Z_]{2,}/g, `${PREFIX}$&`) ?? 'Remove it, or correct its name.',
  };
  throw new DrillproofError('server.CONFIG_INVALID', `no command knows the variable ${unknown}`, { details });
}
