import type { Command } from 'commander';
import { fileSpec, many, text } from './options.ts';

/** `FILE,issuer=NAME[,keyId=ID]`, parsed. Without an issuer the command reports what is missing when it reads the key. */
export type KeySpec = { readonly file: string; readonly issuer?: string; readonly keyId?: string };

export type TrustOptions = { readonly trust?: readonly string[]; readonly key?: readonly KeySpec[] };

export function trustOptions(command: Command): Command {
  return command
    .option('--trust <file>', 'trust store whose keys count (may be given again)', many(text))
    .option(
      '--key <spec>',
      'public key or certificate that counts: FILE,issuer=NAME[,keyId=ID] (may be given again)',
      many(keySpec),
    );
}

const FORM = 'FILE,issuer=NAME or FILE,issuer=NAME,keyId=ID';

export function keySpec(value: string): KeySpec {
  return fileSpec(value, ['issuer', 'keyId'], FORM);
}
