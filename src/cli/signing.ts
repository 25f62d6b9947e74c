import type { Command } from 'commander';
import { readSigningKey } from '../node/keys.ts';
import type { Signer } from '../trust/index.ts';
import type { Cli } from './cli.ts';
import { readInput } from './input.ts';
import { usageError } from './usage.ts';

const MAX_KEY_BYTES = 256 * 1024;

export type SigningOptions = { readonly key?: string; readonly issuer?: string };

export function signingOptions(command: Command, what: string): Command {
  return command
    .option('--key <file>', `private key that signs ${what}: P-256 as PEM or JWK, - for standard input`)
    .option('--issuer <name>', 'name under which the key signs');
}

/** Who signs, or `undefined` when no key is named. @throws DrillproofError `usage.INVALID`, `trust.KEY_…` */
export async function readSigning(
  cli: Cli,
  options: SigningOptions,
): Promise<{ signer: Signer; issuer: string; issuedAtMs: number } | undefined> {
  const { key, issuer } = options;
  if (key === undefined && issuer === undefined) return undefined;
  if (key === undefined)
    throw usageError('--issuer is given without --key', 'Name the key that signs with --key FILE.');
  if (issuer === undefined)
    throw usageError(
      '--key is given without --issuer',
      'Say in whose name the key signs with --issuer NAME.',
    );
  const { signer } = readSigningKey(await readInput(key, MAX_KEY_BYTES, cli));
  return { signer, issuer, issuedAtMs: cli.now() };
}
