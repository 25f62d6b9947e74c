import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { defined } from '../../../bytes/arguments.ts';
import { fromUtf8 } from '../../../bytes/text/encoding.ts';
import { type Client, createClient } from '../../../client/client.ts';
import type { Fetch } from '../../../client/options.ts';
import { TransportError } from '../../../errors.ts';
import { createHttpFetch } from '../../../node/http-fetch.ts';
import { awaitCall } from '../../../node/fs-errors.ts';
import { type Cli, printNote } from '../../cli.ts';
import type { RemoteOptions } from '../options/options.ts';
import { usageError } from '../options/values.ts';
import { VARIABLES } from '../options/variables.ts';
import { formatRetry, readErrorMessage } from '../output/progress.ts';
import { readInput } from './input.ts';

export async function openProject(
  cli: Cli,
  { url, project, tokenFile, caFile, timeout }: RemoteOptions,
  hint: string,
): Promise<{ readonly client: Client; readonly project: string }> {
  if (url === undefined || project === undefined)
    throw usageError(`--${url === undefined ? 'url' : 'project'} is missing`, hint);
  const fetch = await createFetch(cli, caFile);
  const client = createClient({
    fetch,
    baseUrl: url,
    token: await readToken(cli, tokenFile),
    userAgent: 'drillproof-cli',
    now: cli.now,
    timeouts: defined({ answerMs: timeout }),
    onRetry: ({ operation = 'a download', error, delayMs }) =>
      void printNote(cli, formatRetry({ delayMs }, `${operation}: ${readErrorMessage(error)}`)),
  });
  return { client, project };
}

const MAX_TOKEN_BYTES = 4096;

async function readToken(cli: Cli, file: string | undefined): Promise<string> {
  const text =
    file === undefined ? cli.env[VARIABLES.token] : fromUtf8(await readInput(file, MAX_TOKEN_BYTES, cli));
  const token = text?.trim() ?? '';
  if (token !== '') return token;
  const where = file === undefined ? 'DRILLPROOF_TOKEN is not set' : `${file} contains no token`;
  throw usageError(
    `no token given: ${where}`,
    'Set DRILLPROOF_TOKEN, or pass a file that contains the token with --token-file.',
  );
}

type Proxies = { readonly http?: string; readonly https?: string; readonly none: string };

const MAX_CA_BYTES = 4 * 1024 * 1024;
/** Keeps idle connections between retries, because a tunnel and TLS need three round trips. */
const KEEP_ALIVE_MS = 15_000;

/**
 * Creates a `fetch` with the proxies of HTTPS_PROXY, HTTP_PROXY and NO_PROXY (or in lower case) and with a private
 * certificate authority. Requests to https addresses use a tunnel (CONNECT), so that the proxy sees no token.
 */
export async function createFetch(cli: Cli, caFile: string | undefined): Promise<Fetch> {
  const proxies = readProxies(cli.env);
  const ca = caFile === undefined ? undefined : await readCertificates(cli, caFile);
  // NODE_DEBUG makes node:http print the token.
  const isPlain = proxies.http === undefined && proxies.https === undefined && !cli.env['NODE_DEBUG'];
  if (isPlain) return createHttpFetch(defined({ ca }));
  const undici = await import('undici');
  // The package and Node.js declare the same interfaces separately.
  const send = undici.fetch as unknown as (url: URL, init: object) => Promise<Response>;
  const trust = ca === undefined ? {} : { ca };
  const dispatcher = new undici.EnvHttpProxyAgent({
    httpProxy: proxies.http ?? '',
    httpsProxy: proxies.https ?? '',
    noProxy: proxies.none,
    proxyTunnel: false, // of http to http; https is always in a tunnel
    connect: trust,
    requestTls: trust,
    proxyTls: trust,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  return async (url, init) => {
    try {
      return await send(url, { ...init, dispatcher });
    } catch (cause) {
      throw findProxyRefusal(cause) ?? cause;
    }
  };
}

function readProxies(env: Cli['env']): Proxies {
  const read = (name: string): string | undefined => {
    const value = env[name.toLowerCase()] ?? env[name];
    return value === undefined || value === '' ? undefined : parseProxyAddress(name, value);
  };
  const http = read('HTTP_PROXY');
  const https = read('HTTPS_PROXY') ?? http;
  return { ...defined({ http, https }), none: env['no_proxy'] ?? env['NO_PROXY'] ?? '' };
}

// The message omits the value, which may contain a password.
function parseProxyAddress(name: string, value: string): string {
  const address = value.includes('://') ? value : `http://${value}`;
  if (URL.canParse(address) && ['http:', 'https:'].includes(new URL(address).protocol)) return address;
  throw usageError(`${name} is not the address of an HTTP proxy`, 'Write it as http://host:port.');
}

/** Reads the certificates of a file, and adds those that the platform trusts. */
async function readCertificates(cli: Cli, file: string): Promise<string[]> {
  const text = fromUtf8(await readInput(file, MAX_CA_BYTES, cli));
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate))
    throw usageError(
      `${file} does not contain certificates`,
      'Pass a PEM file with the certificates to trust.',
    );
  return [...(await readDefaultCertificates(cli.env)), ...certificates];
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

// A list replaces the default one, which Node.js before 22.15 does not report.
async function readDefaultCertificates(env: Cli['env']): Promise<readonly string[]> {
  const tls = process.getBuiltinModule('node:tls');
  const { getCACertificates }: { getCACertificates?: typeof tls.getCACertificates } = tls;
  if (getCACertificates !== undefined) return getCACertificates('default');
  const extra = env['NODE_EXTRA_CA_CERTS'];
  if (extra === undefined || extra === '') return tls.rootCertificates;
  const text = await awaitCall(extra, 'read', readFile(extra, 'utf8'));
  return [...tls.rootCertificates, text];
}

/** Finds a refusal by the proxy itself among the causes of an error. */
function findProxyRefusal(error: unknown): TransportError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    const [, status] = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(at.message) ?? [];
    if (status === undefined) continue;
    return new TransportError('transport.UNREACHABLE', `the proxy refused with status ${status}`, {
      details: { phase: 'headers', passes: status.startsWith('5'), proxyStatus: Number(status) },
    });
  }
  return undefined;
}
