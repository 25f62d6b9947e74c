import { defined } from '../../bytes/arguments.ts';
import { collectBytes, rejectWithReason } from '../../bytes/async.ts';
import { digestOf } from '../../bytes/hash.ts';
import { isoTime } from '../../bytes/text/wording.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST } from '../../evidence/export/pack-export.ts';
import { readFile } from '../../evidence/source.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { buildTimestampRequest, readResponse, sendRequest } from '../../node/time/request.ts';
import { loadLibrary, MAX_TOKEN_BYTES, parseToken } from '../../node/time/token.ts';
import type { CheckedTimestamp } from '../../verify/timestamps.ts';
import type { Cli } from '../cli.ts';
import { EXIT } from '../exit.ts';
import { readEvidenceInput, readFileBytes, withEvidence, looksLikeJson } from '../shared/input/input.ts';
import { createFetch } from '../shared/input/remote.ts';
import { nameToken, readTimestamps } from '../shared/input/timestamps.ts';
import { readTrust } from '../shared/input/trust.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { AS_OF, caFileOption, FORCE, STANDARD, TRUST_STORE } from '../shared/options/options.ts';
import { parseDuration, usageError } from '../shared/options/values.ts';
import { checkOutputFile, writeBytes } from '../shared/output/output-file.ts';
import { alignFacts, writeProduct } from '../shared/output/product.ts';

const TIMESTAMP = [
  ...STANDARD,
  option('--tsa <url>', 'request the token from this time authority').conflicts('--response', '--check'),
  option('--response <file>', 'take the token from this response of an authority').conflicts('--check'),
  option('--check', 'verify the tokens next to the file, and request nothing'),
  option('--out <file>', 'token to write (default: the name of the file with .tst)').conflicts('--check'),
  TRUST_STORE,
  AS_OF,
  option('--timeout <duration>', 'give up the request after this time (default: 30s)', parseDuration),
  caFileOption(),
  FORCE,
];
type Options = OptionsOf<typeof TIMESTAMP>;

const MORE = `
Of an export, the token is about export-attestation.json, or about manifest.json
if nobody signed the list: both name the digest of every archive. To renew a
token, name the token. docs/verify/time.md makes a response elsewhere.`;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description(
      'Prove that evidence existed at a time: get an RFC 3161 token about it, or check one offline.',
    )
    .argument('<file>', 'part, export, attestation, envelope, report or token')
    .perform(TIMESTAMP, (options, path: string) => timestamp(cli, path, options))
    .examples({
      'a part, by an authority': 'drillproof timestamp part.zip --tsa http://tsa.example',
      'an export, with a reply that another machine fetched':
        'drillproof timestamp ./export --response reply.tsr',
      'check it offline': 'drillproof timestamp part.zip --check --trust trust.json',
      'renew it years later': 'drillproof timestamp part.zip.tst --tsa http://tsa.example',
    })
    .addHelpText('after', MORE);
}

async function timestamp(cli: Cli, path: string, options: Options): Promise<void> {
  const { tsa, response, check = false } = options;
  if ([tsa, response, check || undefined].every((value) => value === undefined))
    throw usageError(
      'it is not clear where the token is from',
      'Pass --tsa URL, --response FILE or --check.',
    );
  const data = await readStamped(cli, path);
  if (!check) await writeToken(cli, path, data, options);
  const checked = await checkTokens(cli, path, options);
  const own = checked.filter(({ imprint }) => imprint === digestOf(data));
  const counting = own.find(({ authority }) => authority !== undefined);
  const isOpen = checked.every(({ findings }) =>
    findings.every(({ code }) => code === 'timestamp.NOT_CHECKED'),
  );
  cli.exitCode =
    counting !== undefined || !check ? EXIT.pass : isOpen && checked.length > 0 ? EXIT.unchecked : EXIT.bad;
  if (check && checked.length === 0)
    throw new DrillproofError('io.NOT_FOUND', `${nameToken(path)} does not exist`, { path: nameToken(path) });
  const tokens = checked.map(({ findings, ...facts }) => ({
    ...facts,
    codes: findings.map(({ code }) => code),
  }));
  await writeProduct(
    cli,
    { kind: 'timestamp', subject: path, digest: digestOf(data), tokens },
    checked.map(formatToken).join(''),
  );
}

const formatToken = ({ name, imprint, atMs, authority, findings }: CheckedTimestamp): string =>
  alignFacts([
    ['token', name],
    ['about', imprint],
    [
      'existed by',
      atMs === undefined || authority === undefined ? undefined : `${isoTime(atMs)}, by ${authority}`,
    ],
    ...findings.map(({ code, message }) => [code, message] as const),
  ]);

/** The bytes that a token is about: those of a document of an export, or of the file. */
async function readStamped(cli: Cli, path: string): Promise<Uint8Array> {
  if (!path.endsWith('.tst') && !(await looksLikeJson(path))) {
    const document = await withEvidence(cli, path, async (evidence) => {
      if (evidence.kind !== 'export') return undefined;
      const { source } = evidence;
      const names = (await source.files()).map((file) => file.path);
      const name = names.includes(EXPORT_ATTESTATION) ? EXPORT_ATTESTATION : EXPORT_MANIFEST;
      return readFile(source, name, DEFAULT_LIMITS.manifestBytes);
    }).catch((cause: unknown) => {
      if (hasCode(cause, 'io.KIND')) return undefined; // any file has bytes
      throw cause;
    });
    if (document !== undefined) return document;
  }
  return collectBytes(readFileBytes(path, cli.signal));
}

async function writeToken(cli: Cli, path: string, data: Uint8Array, options: Options): Promise<void> {
  const { tsa, response, out = nameToken(path), force = false } = options;
  await checkOutputFile(cli, out, force);
  const { request, nonce } = buildTimestampRequest(data);
  const reply =
    response === undefined
      ? await fetchReply(cli, tsa ?? '', request, options)
      : await readEvidenceInput(response, MAX_TOKEN_BYTES, cli);
  const bytes = readResponse(reply);
  const token = parseToken(await loadLibrary(), bytes);
  if (token.imprint !== digestOf(data)) {
    const values = { expected: digestOf(data), actual: token.imprint };
    throw new DrillproofError('timestamp.IMPRINT_MISMATCH', `the token is not about ${path}`, {
      path,
      details: values,
    });
  }
  // The nonce of a response from elsewhere is known only there.
  if (response === undefined && token.nonce !== nonce)
    throw new DrillproofError('timestamp.NONCE_MISMATCH', 'the token does not have the nonce of the request');
  await writeBytes(cli, out, [bytes], { force });
}

async function fetchReply(
  cli: Cli,
  tsa: string,
  request: Uint8Array,
  { caFile, timeout = 30_000 }: Options,
): Promise<Uint8Array> {
  if (!URL.canParse(tsa) || !/^https?:$/.test(new URL(tsa).protocol))
    throw usageError('--tsa is not an address', 'Pass an address that begins with http:// or https://.');
  const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(timeout)]);
  const send = await createFetch(cli, caFile);
  return rejectWithReason(cli.signal, () => sendRequest(new URL(tsa), request, { send, signal }));
}

async function checkTokens(cli: Cli, path: string, options: Options): Promise<readonly CheckedTimestamp[]> {
  const { out, asOf = cli.now() } = options;
  const trust = await readTrust(cli, defined({ trust: options.trust }));
  const place = out === undefined ? { about: [path] } : { about: [], tokens: [out] };
  return readTimestamps(cli, place, { asOfMs: asOf, trust });
}
