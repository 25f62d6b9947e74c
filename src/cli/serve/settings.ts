import { type Command, InvalidArgumentError, Option } from 'commander';
import { defined } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { defaultLimits, type ServerLimits } from '../../server/index.ts';
import { wholeNumber } from '../shared/options/options.ts';

/** A limit that the operator sets, by an option or an environment variable; the option wins. */
type Setting = {
  /** As in `--request-rate`, `DRILLPROOF_REQUEST_RATE` and the table in docs/server/server.md. */
  readonly name: string;
  readonly limit: keyof typeof DEFAULTS;
  readonly what: string;
  readonly unit: 'count' | 's' | 'KiB';
};

const DEFAULTS = { ...defaultLimits, databaseConnections: 10 };

const MAX: Readonly<Record<Setting['unit'], number>> = { count: 1_000_000, s: 86_400, KiB: 1_048_576 };
const SCALE: Readonly<Record<Setting['unit'], number>> = { count: 1, s: 1000, KiB: 1024 };

const setting = (
  name: string,
  limit: Setting['limit'],
  what: string,
  unit: Setting['unit'] = 'count',
): Setting => ({ name, limit, what, unit });

export const settings: readonly Setting[] = [
  setting('request-rate', 'requestsPerSecond', 'requests per second of a token'),
  setting('request-burst', 'requestBurst', 'requests of a token at once'),
  setting('download-rate', 'downloadsPerSecond', 'downloads per second of a token'),
  setting('download-burst', 'downloadBurst', 'downloads of a token that may begin at once'),
  setting('token-downloads', 'downloadsPerToken', 'running downloads of a token'),
  setting('downloads', 'downloads', 'running downloads of all tokens, and uploads'),
  setting('body-limit', 'bodyBytes', 'KiB of JSON in a request', 'KiB'),
  setting('header-limit', 'headerBytes', 'KiB of request line and headers', 'KiB'),
  setting('headers-timeout', 'headersTimeoutMs', 'seconds for all headers', 's'),
  setting('request-timeout', 'requestTimeoutMs', 'seconds for a JSON body, or a pause of an upload', 's'),
  setting('upload-rate', 'uploadBytesPerSecond', 'minimum bytes per second of an upload'),
  setting('keep-alive', 'keepAliveTimeoutMs', 'seconds between two requests of a connection', 's'),
  setting('stall-timeout', 'stallTimeoutMs', 'seconds without a byte on a connection in use', 's'),
  setting('upload-ttl', 'uploadTtlMs', 'seconds that an upload address is valid', 's'),
  setting('database-connections', 'databaseConnections', 'connections to PostgreSQL'),
  setting('drain', 'drainMs', 'seconds for running requests to end', 's'),
];

export const variableOf = ({ name }: Pick<Setting, 'name'>): string =>
  `DRILLPROOF_${name.toUpperCase().replaceAll('-', '_')}`;

export const defaultOf = ({ limit, unit }: Setting): number => DEFAULTS[limit] / SCALE[unit];

// Only requests may be cut at once; a server with none of the others could not serve.
const parserOf = ({ limit, unit }: Setting): ((value: string) => number) =>
  wholeNumber(limit === 'drainMs' ? 0 : 1, MAX[unit]);

export function settingOptions(command: Command): Command {
  for (const each of settings) {
    const words = `${each.what} (default: ${defaultOf(each)})`;
    command.addOption(new Option(`--${each.name} <n>`, words).argParser(parserOf(each)));
  }
  return command;
}

type Env = Readonly<Record<string, string | undefined>>;

function readSetting(env: Env, each: Setting): number | undefined {
  const variable = variableOf(each);
  const value = env[variable];
  if (value === undefined) return undefined;
  try {
    return parserOf(each)(value);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new DrillproofError('server.CONFIG_INVALID', `${variable}: ${error.message}`);
  }
}

type Given = {
  readonly limits: Partial<ServerLimits>;
  readonly tiers: { readonly modelTiers?: readonly string[] };
  readonly databaseConnections?: number;
};

export function readSettings(options: Readonly<Record<string, unknown>>, env: Env): Given {
  const given = settings.flatMap((each) => {
    const option = options[each.name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    const value = typeof option === 'number' ? option : readSetting(env, each);
    return value === undefined ? [] : [[each.limit, value * SCALE[each.unit]]];
  });
  const { databaseConnections, ...limits } = Object.fromEntries(given) as Partial<typeof DEFAULTS>;
  const { modelTiers = env['DRILLPROOF_MODEL_TIERS'] } = options;
  const names = typeof modelTiers === 'string' ? modelTiers.split(',').map((name) => name.trim()) : undefined;
  return { limits, tiers: defined({ modelTiers: names }), ...defined({ databaseConnections }) };
}
