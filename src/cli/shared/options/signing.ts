import type { Command } from 'commander';
import { defined } from '../../../bytes/arguments.ts';
import type { JsonValue } from '../../../bytes/json/parse.ts';
import { commandSigner, commandWords } from '../../../node/keys/command-signer.ts';
import { readSigningKey, readVerifyingKey } from '../../../node/keys/keys.ts';
import { encodeDsse } from '../../../trust/dsse.ts';
import type { Signer } from '../../../trust/key/signer.ts';
import type { VerifyingKey } from '../../../trust/key/key.ts';
import type { Cli } from '../../cli.ts';
import { readInput, withFileName } from '../input/input.ts';
import { collect, addStandardOptions, parseNumberBetween } from './options.ts';
import { parseTarget, usageError } from './values.ts';
import {
  MAX_SIGNED_BYTES,
  parseSignedEnvelope,
  readSignedReport,
  type SignedReport,
  signReport,
} from '../../../report/signed/statement.ts';
import { REPORT_FORMATS } from '../../../report/text/text.ts';
import type { Outputs } from '../output/targets.ts';

const MAX_KEY_BYTES = 256 * 1024;

type SignerOptions = {
  readonly signer?: string;
  readonly publicKey?: string;
  readonly signerTimeout?: number;
};
export type SigningOptions = SignerOptions & { readonly key?: string; readonly issuer?: string };
export type ExportSigningOptions = SignerOptions & {
  readonly signingKey?: string;
  readonly issuer?: string;
};

type SigningNames = { readonly key: string; readonly prefix: string };
const PLAIN: SigningNames = { key: '--key', prefix: '--' };
const EXPORTS: SigningNames = { key: '--signing-key', prefix: '--' };
const REPORTS: SigningNames = { key: '--sign', prefix: '--' };
const SUMMARIES: SigningNames = { key: '--vsa-key', prefix: '--vsa-' };

export type SummarySigningOptions = {
  readonly vsaKey?: string;
  readonly vsaSigner?: string;
  readonly vsaPublicKey?: string;
  readonly vsaSignerTimeout?: number;
};

export const addSigningOptions = (command: Command, what: string): Command =>
  addSignerOptions(command, PLAIN, `sign ${what}`).option('--issuer <name>', 'sign under this name');

export const addExportSigningOptions = (command: Command, when = ''): Command =>
  addSignerOptions(command, EXPORTS, 'sign the list of bundles', when).option(
    '--issuer <name>',
    `${when}sign under this name`,
  );

/** Adds the signing options of a summary. Its issuer is the value of --verifier-id. */
export const addSummarySigningOptions = (command: Command, when: string): Command =>
  addSignerOptions(command, SUMMARIES, 'sign it', when);

const addSignerOptions = (
  command: Command,
  { key, prefix }: SigningNames,
  action: string,
  when = '',
): Command =>
  command
    .option(
      `${key} <file>`,
      `${when}${action} with this private key, P-256 as PEM or JWK; - for standard input`,
    )
    .option(
      `${prefix}signer <command>`,
      `${when}sign with this command: message on stdin, signature on stdout`,
    )
    .option(
      `${prefix}public-key <file>`,
      `${when}public key or certificate of ${prefix}signer (default: ask the command)`,
    )
    .option(
      `${prefix}signer-timeout <seconds>`,
      `${when}time limit for each signature of ${prefix}signer (default: 60)`,
      parseNumberBetween(1, 3_600),
    );

export const readExportSigning = (cli: Cli, { signingKey: key, ...options }: ExportSigningOptions) =>
  readSigning(cli, { ...options, ...defined({ key }) }, EXPORTS);

export const readSummarySigning = (
  cli: Cli,
  { vsaKey: key, vsaSigner: signer, vsaPublicKey: publicKey, vsaSignerTimeout }: SummarySigningOptions,
  issuer: string,
) =>
  readSigning(cli, defined({ key, signer, publicKey, signerTimeout: vsaSignerTimeout, issuer }), SUMMARIES);

export async function readSigning(
  cli: Cli,
  options: SigningOptions,
  names = PLAIN,
): Promise<{ signer: Signer; issuer: string; issuedAtMs: number } | undefined> {
  const { key, signer, issuer } = options;
  refuseStray(options, names);
  if (key === undefined && signer === undefined && issuer === undefined) return undefined;
  if (key === undefined && signer === undefined)
    throw usageError(
      `${names.prefix}issuer needs ${names.key}`,
      `Pass the key with ${names.key} FILE, or a command with ${names.prefix}signer COMMAND.`,
    );
  if (issuer === undefined)
    throw usageError(
      `${signer === undefined ? names.key : `${names.prefix}signer`} needs ${names.prefix}issuer`,
      `Pass the name of the signer with ${names.prefix}issuer NAME.`,
    );
  return {
    signer:
      signer === undefined
        ? readSigningKey(await readInput(key ?? '', MAX_KEY_BYTES, cli)).signer
        : await createCommandSigner(cli, signer, options),
    issuer,
    issuedAtMs: cli.now(),
  };
}

function refuseStray(
  { key, signer, publicKey, signerTimeout }: SigningOptions,
  { key: keyOption, prefix }: SigningNames,
): void {
  if (key !== undefined && signer !== undefined)
    throw usageError(`${keyOption} conflicts with ${prefix}signer`, 'Pass only one of them.');
  const stray = `${prefix}${publicKey === undefined ? 'signer-timeout' : 'public-key'}`;
  if (signer === undefined && (publicKey ?? signerTimeout) !== undefined)
    throw usageError(`${stray} needs ${prefix}signer`, `Pass the command with ${prefix}signer COMMAND.`);
}

async function createCommandSigner(cli: Cli, line: string, options: SignerOptions): Promise<Signer> {
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

export type ReportSigningOptions = SignerOptions & {
  readonly sign?: string;
  readonly issuer?: string;
  readonly previous?: string;
};

const REPORT = 'for the JSON report: ';

export const addReportSigningOptions = (command: Command): Command =>
  addSignerOptions(command, REPORTS, 'sign it', REPORT)
    .option('--issuer <name>', `${REPORT}sign under this name`)
    .option('--previous <file>', `${REPORT}name this signed report as its predecessor`);

export const addReportFormatOptions = (command: Command): Command =>
  addStandardOptions(command, { formats: false })
    .option(
      '--format <kind[=file]>',
      'write text, json or html, to standard output or a file (repeatable)',
      collect(parseTarget(REPORT_FORMATS)),
    )
    .option('--force', 'replace existing report files');

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
  const { publicKey, signerTimeout } = options;
  const signing = await readSigning(cli, defined({ key, signer, publicKey, signerTimeout, issuer }), REPORTS);
  if (signing === undefined && file !== undefined)
    throw usageError(
      '--previous needs --sign',
      'Pass the key with --sign FILE, or a command with --signer COMMAND.',
    );
  if (signing === undefined) return undefined;
  if (shown !== 'json' && !files.some(({ format }) => format === 'json'))
    throw usageError('only a JSON report is signed', 'Pass --json, or --format json=FILE.');
  const previous = file === undefined ? undefined : await readPrevious(cli, file);
  return async (json) => {
    const report = JSON.parse(json) as JsonValue;
    const issuedAtMs = cli.now();
    const envelope = await signReport(report, { ...signing, issuedAtMs, ...defined({ previous }) });
    return `${Buffer.from(encodeDsse(envelope)).toString()}\n`;
  };
}

async function readPrevious(cli: Cli, file: string): Promise<SignedReport> {
  const bytes = await readInput(file, MAX_SIGNED_BYTES, cli);
  return withFileName(file, () => readSignedReport(parseSignedEnvelope(bytes)));
}
