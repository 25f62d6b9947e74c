import type { Command } from 'commander';
import { fileSpec, many, text } from './options.ts';

/** `FILE,issuer=NAME[,keyId=ID]`, parsed. Without an issuer the command reports what is missing when it reads the key. */
export type KeySpec = { readonly file: string; readonly issuer?: string; readonly keyId?: string };

export type TrustOptions = { readonly trust?: readonly string[]; readonly key?: readonly KeySpec[] };

export function trustOptions(command: Command): Command {
  return command
    .option('--trust <file>', 'trust the keys of this trust store (repeatable)', many(text))
    .option(
      '--key <spec>',
      'trust this public key or certificate: FILE,issuer=NAME[,keyId=ID] (repeatable)',
      many(keySpec),
    );
}

const FORM = 'FILE,issuer=NAME or FILE,issuer=NAME,keyId=ID';

export function keySpec(value: string): KeySpec {
  return fileSpec(value, ['issuer', 'keyId'], FORM);
}
