import type { Command } from 'commander';
import { commandSigner } from '../node/command-signer.ts';
import { commandWords } from '../node/command-words.ts';
import { readSigningKey, readVerifyingKey } from '../node/keys.ts';
import type { Signer, VerifyingKey } from '../trust/index.ts';
import type { Cli } from './cli.ts';
import { readInput } from './input.ts';
import { wholeNumber } from './options.ts';
import { naming } from './trusting.ts';
import { usageError } from './usage.ts';

const MAX_KEY_BYTES = 256 * 1024;

/** A command that signs in place of a key that is read. */
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

export function signingOptions(command: Command, what: string): Command {
  command.option('--key <file>', `private key that signs ${what}: P-256 as PEM or JWK, - for standard input`);
  return signerOptions(command).option('--issuer <name>', 'name under which the key signs');
}

/** The options of `signingOptions` where keys of another kind are named too; `when` says on what they depend. */
export function exportSigningOptions(command: Command, when = ''): Command {
  command.option(
    '--signing-key <file>',
    `${when}private key that signs the list of bundles: P-256 as PEM or JWK`,
  );
  return signerOptions(command, when).option('--issuer <name>', `${when}name under which the key signs`);
}

const signerOptions = (command: Command, when = ''): Command =>
  command
    .option(
      '--signer <command>',
      `${when}program that signs in place of a key: message on stdin, signature on stdout`,
    )
    .option(
      '--public-key <file>',
      `${when}public key or certificate of --signer (default: the program is asked for it)`,
    )
    .option(
      '--signer-timeout <seconds>',
      `${when}how long --signer may take for each signature (default: 60)`,
      wholeNumber(1, 3_600),
    );

/** `readSigning` for what generates exports later, whose key is named --signing-key beside other keys. */
export const readExportSigning = (cli: Cli, { signingKey, ...options }: ExportSigningOptions) =>
  readSigning(cli, { ...options, ...(signingKey !== undefined && { key: signingKey }) }, '--signing-key');

/** Who signs, or `undefined` when nobody is named. @throws DrillproofError `usage.INVALID`, `trust.…` */
export async function readSigning(
  cli: Cli,
  options: SigningOptions,
  keyOption = '--key',
): Promise<{ signer: Signer; issuer: string; issuedAtMs: number } | undefined> {
  const { key, signer, issuer } = options;
  refuseStray(options, keyOption);
  if (key === undefined && signer === undefined && issuer === undefined) return undefined;
  if (key === undefined && signer === undefined)
    throw usageError(
      `--issuer is given without ${keyOption}`,
      `Name the key that signs with ${keyOption} FILE, or a program with --signer COMMAND.`,
    );
  if (issuer === undefined)
    throw usageError(
      `${signer === undefined ? keyOption : '--signer'} is given without --issuer`,
      'Say in whose name the key signs with --issuer NAME.',
    );
  const made =
    signer === undefined
      ? readSigningKey(await readInput(key ?? '', MAX_KEY_BYTES, cli)).signer
      : await externalSigner(cli, signer, options);
  return { signer: made, issuer, issuedAtMs: cli.now() };
}

function refuseStray({ key, signer, publicKey, signerTimeout }: SigningOptions, keyOption: string): void {
  if (key !== undefined && signer !== undefined)
    throw usageError(`${keyOption} and --signer are both given`, 'Let one of them sign.');
  const stray = publicKey === undefined ? '--signer-timeout' : '--public-key';
  if (signer === undefined && (publicKey ?? signerTimeout) !== undefined)
    throw usageError(`${stray} is given without --signer`, `Name the program with --signer COMMAND.`);
}

async function externalSigner(cli: Cli, line: string, options: SignerOptions): Promise<Signer> {
  const { publicKey: file, signerTimeout } = options;
  const command = commandWords(line);
  return commandSigner({
    command,
    env: cli.env,
    signal: cli.signal,
    stderr: 'inherit', // a prompt or an error of the program is for who runs it
    ...(file !== undefined && { publicKey: await readPublicKey(cli, file) }),
    ...(signerTimeout !== undefined && { timeoutMs: signerTimeout * 1000 }),
  });
}

async function readPublicKey(cli: Cli, file: string): Promise<VerifyingKey> {
  const bytes = await readInput(file, MAX_KEY_BYTES, cli);
  const { keyId, point } = naming(file, () => readVerifyingKey(bytes));
  return { keyId, point };
}
