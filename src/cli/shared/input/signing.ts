import { defined } from '../../../bytes/arguments.ts';
import type { JsonValue } from '../../../bytes/json/parse.ts';
import { readSigningKey, readVerifyingKey } from '../../../node/keys/keys.ts';
import { encodeDsse } from '../../../trust/dsse.ts';
import type { Signer } from '../../../trust/key/signer.ts';
import type { VerifyingKey } from '../../../trust/key/key.ts';
import type { Cli } from '../../cli.ts';
import { readInput, withFileName } from './input.ts';
import { option, type OptionsOf } from '../options/option.ts';
import { FORCE, parseNumberBetween, QUIET } from '../options/options.ts';
import { parseTarget, usageError } from '../options/values.ts';
import type { SignedReport } from '../../../report/signed/statement.ts';
import { REPORT_FORMATS } from '../../../report/text/text.ts';
import type { Outputs } from '../output/targets.ts';

const MAX_KEY_BYTES = 256 * 1024;

/** The options of a signer, which also needs the name that `issuer` gives it. */
const signerOptions = <K extends string, P extends '' | 'vsa-'>(
  key: K,
  prefix: P,
  issuer: string,
  { action, when = '' }: { readonly action: string; readonly when?: string },
) => [
  option(
    `--${key} <file>`,
    `${when}${action} with this private key, P-256 as PEM or JWK; - for standard input`,
  )
    .conflicts(`--${prefix}signer`)
    .needs(issuer),
  option(
    `--${prefix}signer <command>`,
    `${when}sign with this command: message on stdin, signature on stdout`,
  ).needs(issuer),
  option(
    `--${prefix}public-key <file>`,
    `${when}public key or certificate of --${prefix}signer (default: ask the command)`,
  ).needs(`--${prefix}signer`),
  option(
    `--${prefix}signer-timeout <seconds>`,
    `${when}time limit for each signature of --${prefix}signer (default: 60)`,
    parseNumberBetween(1, 3_600),
  ).needs(`--${prefix}signer`),
];

export const signingOptions = (what: string) => [
  ...signerOptions('key', '', '--issuer', { action: `sign ${what}` }),
  option('--issuer <name>', 'sign under this name').needs('--key', '--signer'),
];

export const exportSigningOptions = () => [
  ...signerOptions('signing-key', '', '--issuer', { action: 'sign the list of bundles' }),
  option('--issuer <name>', 'sign under this name').needs('--signing-key', '--signer'),
];
export type ExportSigningOptions = OptionsOf<ReturnType<typeof exportSigningOptions>>;

/** The signing options of a summary, whose issuer is the value of --verifier-id. */
export const summarySigningOptions = () =>
  signerOptions('vsa-key', 'vsa-', '--verifier-id', { action: 'sign it' });

type SigningOptions = {
  readonly [N in 'key' | 'signer' | 'publicKey' | 'issuer']?: string | undefined;
} & { readonly signerTimeout?: number | undefined };

export const readExportSigning = (cli: Cli, options: ExportSigningOptions) =>
  readSigning(cli, { ...options, key: options.signingKey });

export async function readSigning(
  cli: Cli,
  options: SigningOptions,
): Promise<{ signer: Signer; issuer: string; issuedAtMs: number } | undefined> {
  const { key, signer: command, issuer } = options;
  if (issuer === undefined || (key ?? command) === undefined) return undefined;
  const signer =
    command === undefined
      ? readSigningKey(await readInput(key ?? '', MAX_KEY_BYTES, cli)).signer
      : await createCommandSigner(cli, command, options);
  return { signer, issuer, issuedAtMs: cli.now() };
}

/** @throws DrillproofError `usage.INVALID` without a signer */
export async function requireSigning(cli: Cli, options: SigningOptions) {
  const signing = await readSigning(cli, options);
  if (signing !== undefined) return signing;
  throw usageError('no signer given', 'Pass --key or --signer, and --issuer.');
}

async function createCommandSigner(cli: Cli, line: string, options: SigningOptions): Promise<Signer> {
  const { commandSigner, commandWords } = await import('../../../node/keys/command-signer.ts');
  const { publicKey: file, signerTimeout } = options;
  return commandSigner({
    command: commandWords(line),
    env: cli.env,
    signal: cli.signal,
    stderr: 'inherit', // the user sees prompts and errors of the program
    ...(file !== undefined && { publicKey: await readPublicKey(cli, file) }),
    ...(signerTimeout !== undefined && { timeoutMs: signerTimeout * 1000 }),
  });
}

async function readPublicKey(cli: Cli, file: string): Promise<VerifyingKey> {
  const bytes = await readInput(file, MAX_KEY_BYTES, cli);
  const { keyId, point } = withFileName(file, () => readVerifyingKey(bytes));
  return { keyId, point };
}

const REPORT = 'for the JSON report: ';

export const REPORT_SIGNING = [
  ...signerOptions('sign', '', '--issuer', { action: 'sign it', when: REPORT }),
  option('--issuer <name>', `${REPORT}sign under this name`),
  option('--previous <file>', `${REPORT}name this signed report as its predecessor`).needs(
    '--sign',
    '--signer',
  ),
];
type ReportSigningOptions = OptionsOf<typeof REPORT_SIGNING>;

export const REPORT_OUTPUT = [
  ...QUIET,
  option(
    '--format <kind[=file]>',
    'write text, json or html, to standard output or a file',
    parseTarget(REPORT_FORMATS),
  ).repeat(),
  FORCE,
];

export type SignText = (json: string) => Promise<string>;

/** Reads the key and the previous report of --sign or --signer, before any work. */
export async function openReportSigning(
  cli: Cli,
  options: ReportSigningOptions,
  { shown, files }: Pick<Outputs<string>, 'shown' | 'files'>,
): Promise<SignText | undefined> {
  const { previous: file, sign: key, signer, issuer } = options;
  if (issuer !== undefined && key === undefined && signer === undefined)
    throw usageError(
      '--issuer needs --sign',
      'Pass the key that signs the report with --sign FILE. For a key that you trust, pass --key FILE,issuer=NAME.',
    );
  const signing = await readSigning(cli, { ...options, key });
  if (signing === undefined) return undefined;
  if (shown !== 'json' && !files.some(({ format }) => format === 'json'))
    throw usageError('only a JSON report is signed', 'Pass --json, or --format json=FILE.');
  const { signReport } = await importStatement();
  const previous = file === undefined ? undefined : await readPrevious(cli, file);
  return async (json) => {
    const report = JSON.parse(json) as JsonValue;
    const issuedAtMs = cli.now();
    const envelope = await signReport(report, { ...signing, issuedAtMs, ...defined({ previous }) });
    return `${Buffer.from(encodeDsse(envelope)).toString()}\n`;
  };
}

/** Late, because few reports are signed, and it needs the schemas of all. */
const importStatement = () => import('../../../report/signed/statement.ts');

async function readPrevious(cli: Cli, file: string): Promise<SignedReport> {
  const { MAX_SIGNED_BYTES, parseSignedEnvelope, readSignedReport } = await importStatement();
  const bytes = await readInput(file, MAX_SIGNED_BYTES, cli);
  return withFileName(file, () => readSignedReport(parseSignedEnvelope(bytes)));
}
