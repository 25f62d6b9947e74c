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

/** `readSigning` for what generates exports later, whose key is named --signing-key beside other keys. */
export const readExportSigning = (
  cli: Cli,
  { signingKey, issuer }: { readonly signingKey?: string; readonly issuer?: string },
) =>
  readSigning(
    cli,
    { ...(signingKey !== undefined && { key: signingKey }), ...(issuer !== undefined && { issuer }) },
    '--signing-key',
  );

/** Who signs, or `undefined` when no key is named. @throws DrillproofError `usage.INVALID`, `trust.KEY_…` */
export async function readSigning(
  cli: Cli,
  options: SigningOptions,
  keyOption = '--key',
): Promise<{ signer: Signer; issuer: string; issuedAtMs: number } | undefined> {
  const { key, issuer } = options;
  if (key === undefined && issuer === undefined) return undefined;
  if (key === undefined)
    throw usageError(
      `--issuer is given without ${keyOption}`,
      `Name the key that signs with ${keyOption} FILE.`,
    );
  if (issuer === undefined)
    throw usageError(
      `${keyOption} is given without --issuer`,
      'Say in whose name the key signs with --issuer NAME.',
    );
  const { signer } = readSigningKey(await readInput(key, MAX_KEY_BYTES, cli));
  return { signer, issuer, issuedAtMs: cli.now() };
}
