import type { Command } from 'commander';
import { defined } from '../../../bytes/index.ts';
import { commandSigner, commandWords, readSigningKey, readVerifyingKey } from '../../../node/index.ts';
import type { Signer, VerifyingKey } from '../../../trust/index.ts';
import type { Cli } from '../../cli.ts';
import { withFileName, readInput } from '../input/input.ts';
import { wholeNumber } from './options.ts';
import { usageError } from './values.ts';

const MAX_KEY_BYTES = 256 * 1024;

export type SignerOptions = {
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

const KEY = 'with this private key, P-256 as PEM or JWK';
const issuerOption = (command: Command, when = ''): Command =>
  command.option('--issuer <name>', `${when}sign under this name`);

export const signingOptions = (command: Command, what: string): Command =>
  issuerOption(signerOptions(command.option('--key <file>', `sign ${what} ${KEY}; - for standard input`)));

/** The options of `signingOptions` where keys of another kind are named too; `when` says on what they depend. */
export const exportSigningOptions = (command: Command, when = ''): Command =>
  issuerOption(
    signerOptions(command.option('--signing-key <file>', `${when}sign the list of bundles ${KEY}`), when),
    when,
  );

/** The signing options of the summary of a decision. Its issuer is the verifier, which has its own option. */
export const summarySigningOptions = (command: Command, when: string): Command =>
  signerOptions(command.option('--vsa-key <file>', `${when}sign it ${KEY}`), when, SUMMARIES.prefix);

export const signerOptions = (command: Command, when = '', prefix = PLAIN.prefix): Command =>
  command
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
      wholeNumber(1, 3_600),
    );

/** `readSigning` for commands that generate exports later. Their key is named --signing-key. */
export const readExportSigning = (cli: Cli, { signingKey, ...options }: ExportSigningOptions) =>
  readSigning(cli, { ...options, ...defined({ key: signingKey }) }, EXPORTS);

/** `readSigning` for the JSON report of a command, which may have other keys as --key. Its own is named --sign. */
export const readReportSigning = (
  cli: Cli,
  { sign, ...options }: SignerOptions & { readonly sign?: string; readonly issuer?: string },
) => {
  const { signer, publicKey, signerTimeout, issuer } = options;
  return readSigning(cli, defined({ key: sign, signer, publicKey, signerTimeout, issuer }), REPORTS);
};

/** `readSigning` for the summary of a decision, by this issuer. */
export const readSummarySigning = (
  cli: Cli,
  { vsaKey: key, vsaSigner: signer, vsaPublicKey: publicKey, vsaSignerTimeout }: SummarySigningOptions,
  issuer: string,
): Promise<{ signer: Signer } | undefined> => {
  const signing = defined({ key, signer, publicKey, signerTimeout: vsaSignerTimeout, issuer });
  return readSigning(cli, signing, SUMMARIES);
};

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
  const made =
    signer === undefined
      ? readSigningKey(await readInput(key ?? '', MAX_KEY_BYTES, cli)).signer
      : await createCommandSigner(cli, signer, options);
  return { signer: made, issuer, issuedAtMs: cli.now() };
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
  const command = commandWords(line);
  return commandSigner({
    command,
    env: cli.env,
    signal: cli.signal,
    stderr: 'inherit', // prompts and errors of the program are for the user
    ...(file !== undefined && { publicKey: await readPublicKey(cli, file) }),
    ...(signerTimeout !== undefined && { timeoutMs: signerTimeout * 1000 }),
  });
}

async function readPublicKey(cli: Cli, file: string): Promise<VerifyingKey> {
  const bytes = await readInput(file, MAX_KEY_BYTES, cli);
  const { keyId, point } = withFileName(file, () => readVerifyingKey(bytes));
  return { keyId, point };
}
