import { packaging } from '#packaging';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import { defined } from '../../bytes/arguments.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import { modelTiers } from '../../contract/resources/authoring.ts';
import { typeDocument } from '../../evidence/document.ts';
import { escapeText, quoteShellWord } from '../../report/printable.ts';
import { createOidc, oidcSchema, type VerifyIdentity } from '../../server/http/oidc.ts';
import { createServer } from '../../server/server.ts';
import { listen } from '../../server/listen.ts';
import type { Stores } from '../../server/open-stores.ts';
import type { Cli } from '../cli.ts';
import { LOG, openAudit, openLogging, openRunning, START } from '../shared/input/administration.ts';
import { readInput, withFileName } from '../shared/input/input.ts';
import { createSettingParser, defaultOf, readSettings, settings } from '../shared/input/settings.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { parseNumberBetween, STANDARD } from '../shared/options/options.ts';
import { VARIABLES } from '../shared/options/variables.ts';
import { readVersion, writeProduct } from '../shared/output/product.ts';

const MORE = `
DATABASE_URL=postgres://… stores the rows in PostgreSQL, and
BLOBS_URL=s3://bucket/prefix (or the path of a folder) the bytes in another
place; with both, any number of instances may run. Each limit also has a
variable, such as DRILLPROOF_REQUEST_RATE for --request-rate.

It serves plain HTTP; docs/server/server.md puts a TLS proxy in front of it.
Make tokens with "drillproof admin token create".`;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description('Start a control plane, with its store and blobs in one folder.')
    .perform(SERVE, (options) => serve(cli, options))
    .examples({
      'on this machine': 'drillproof serve',
      'behind a proxy with TLS': 'drillproof serve --trust-proxy --public-url https://control.example',
    })
    .addHelpText('after', MORE);
}

/** Parses an address without a query or fragment, and removes trailing slashes. */
function parsePublicUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (url === undefined || !plain)
    throw new InvalidArgumentError('It must be an address such as https://control.example.');
  return url.href.replace(/\/+$/, '');
}

const AUDIT_HINT = 'no audit log is written: name a file with --audit-log or DRILLPROOF_AUDIT_LOG';

const EVERY_ADDRESS = new Set(['0.0.0.0', '::', '']);

async function serve(cli: Cli, options: ServeOptions): Promise<void> {
  const { modelTiers: tiers = cli.env[VARIABLES.modelTiers] } = options;
  const { data, host, port, trustProxy = false, auditReads = false, drainDelay } = options;
  const { limits, opening } = readSettings(options, cli.env);
  const { log, announce } = openLogging(cli, options);
  const oidc = await readOidc(cli, options.oidc ?? cli.env[VARIABLES.oidc]);
  const { store, blobs, places, now } = await openRunning(cli, options, log, opening);
  const audit = openAudit(cli, options, places);
  let url = '';
  // Without --public-url, links use the address of the server, unless clients cannot reach it.
  const isLocal = !trustProxy && !EVERY_ADDRESS.has(host);
  const links = options.publicUrl ?? (isLocal ? () => url : '');
  const version = await readVersion();
  const page = await packaging.page();
  const server = createServer({
    store,
    blobs,
    now,
    limits,
    log,
    auditReads,
    ...defined({ audit, oidc, modelTiers: tiers?.split(',').map((name) => name.trim()) }),
    trustProxy,
    version,
    publicUrl: links,
    ...defined({ page }),
  });
  try {
    const listening = await listen(server, { port, hostname: host, log, limits });
    ({ url } = listening);
    try {
      await writeProduct(cli, { kind: 'listening', url, ...places.names }, `${url}\n`);
      await announce(await formatWelcome({ store, places }, data, host), 'serve.started', { url, version });
      if (audit === undefined) log({ level: 'warn', event: 'serve.unaudited', facts: { hint: AUDIT_HINT } });
      if (!cli.signal.aborted) await once(cli.signal, 'abort');
      server.stopping();
      await announce('stopping: completing running answers', 'serve.stopping');
      await sleep(drainDelay * 1000);
    } finally {
      await listening.close();
    }
    await announce('stopped', 'serve.stopped');
  } finally {
    await server.close();
  }
}

const MAX_OIDC_BYTES = 1024 * 1024;

async function readOidc(cli: Cli, path: string | undefined): Promise<VerifyIdentity | undefined> {
  if (path === undefined) return undefined;
  const bytes = await readInput(path, MAX_OIDC_BYTES, cli);
  const document = withFileName(
    path,
    () => typeDocument(parseJson(bytes), { schema: oidcSchema, code: 'server.CONFIG_INVALID' }),
    () => 'server.CONFIG_INVALID',
  );
  return createOidc(document);
}

type Opened = Pick<Stores, 'store' | 'places'>;

async function formatWelcome({ store, places }: Opened, data: string, host: string): Promise<string> {
  const organizations = await store.organizations.list();
  const empty = organizations.length === 0;
  const lines = [
    `the control plane is up; end it with Ctrl-C`,
    escapeText(`its rows are in ${places.names.store}, its blobs in ${places.names.blobs}`),
    ...(empty
      ? [
          `it has no organization yet:\n  drillproof admin org create --name NAME${formatDataOption(places, data)}`,
        ]
      : []),
    ...(['127.0.0.1', '::1', 'localhost'].includes(host)
      ? []
      : ['it is reachable from other machines over plain HTTP']),
  ];
  return lines.join('\n');
}

const formatDataOption = ({ folders }: Stores['places'], data: string): string =>
  folders.includes(data) ? ` --data ${escapeText(quoteShellWord(data))}` : '';

const DAY_S = 86_400;

const SERVE = [
  ...STANDARD,
  option('--data <dir>', 'folder of the store and the blobs, created if absent').default('./drillproof-data'),
  option('--host <address>', 'address to listen on; 0.0.0.0 for every network').default('127.0.0.1'),
  option('--port <n>', 'port to listen on; 0 takes a free one', parseNumberBetween(0, 65_535)).default(8080),
  option('--public-url <url>', 'address at which clients reach it, for links in responses', parsePublicUrl),
  option('--trust-proxy', 'log the client that the proxy reports in X-Forwarded-For'),
  option(
    '--drain-delay <s>',
    'seconds between not ready and closed, for load balancers',
    parseNumberBetween(0, DAY_S),
  ).default(0),
  option(
    '--audit-log <file>',
    'file that records changes, refusals and downloads (default: audit.log in --data)',
  ),
  option('--oidc <file>', 'accept the tokens of the issuers in this file, such as those of CI jobs'),
  option('--audit-reads', 'record every other read of a token too'),
  option(
    '--model-tiers <names>',
    `names of the model tiers, separated by commas (default: ${modelTiers.join(',')})`,
  ),
  ...settings.map((each) =>
    option(`--${each.name} <n>`, `${each.what} (default: ${defaultOf(each)})`, createSettingParser(each)),
  ),
  ...START,
  ...LOG,
] as const;
type ServeOptions = OptionsOf<typeof SERVE>;
