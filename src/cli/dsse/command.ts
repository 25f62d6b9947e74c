import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { trustOptions, type TrustOptions } from '../shared/options/evidence.ts';
import { examples, standardOptions, time, wholeNumber } from '../shared/options/options.ts';
import { signingOptions, type SigningOptions } from '../shared/options/signing.ts';

export function defineDsseCommand(command: Command, cli: Cli): void {
  command.description(
    'Sign evidence in a separate file, an in-toto statement in a DSSE envelope, and verify such files.',
  );
  defineCreate(command.command('create').summary('sign a part or the list of an export'), cli);
  defineVerify(command.command('verify').summary('verify an envelope about a part or export'), cli);
  examples(command, {
    'sign a part': 'drillproof dsse create part.zip --key key.pem --issuer acme-ci --out part.dsse.json',
    'check it': 'drillproof dsse verify part.dsse.json --subject part.zip --trust trust.json',
    'verify the part by it': 'drillproof verify part.zip --dsse part.dsse.json --trust trust.json',
  });
}

export type CreateOptions = SigningOptions & { readonly out: string; readonly force?: boolean };
export type VerifyOptions = TrustOptions & {
  readonly subject: string;
  readonly threshold?: number;
  readonly asOf?: number;
};

function defineCreate(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Verify a part, or the list of an export, and sign it in a DSSE envelope.')
    .argument('<path>', 'part archive, folder of an export, or a ZIP of it')
    .requiredOption('--out <file>', 'write the envelope to this file; - for standard output');
  signingOptions(command, 'the statement')
    .option('--force', 'replace an existing envelope')
    .action(async (path: string, options: CreateOptions) =>
      (await import('./run.ts')).createEnvelope(cli, path, options),
    );
  examples(command, {
    'a part': 'drillproof dsse create part.zip --key key.pem --issuer acme-ci --out part.dsse.json',
    'the list of an export, signed by a command':
      'drillproof dsse create ./export --signer ./sign.sh --public-key key.pub.pem --issuer acme-ci --out export.dsse.json',
  });
}

const MORE = `
Only the manifest of the subject is compared. To verify every byte as well, use
"drillproof verify PATH --dsse ENVELOPE".

Exit codes: 0 a trusted key signed exactly this subject, 1 none did, 2 wrong
call or configuration, 3 could not be checked.`;

function defineVerify(command: Command, cli: Cli): void {
  trustOptions(standardOptions(command))
    .description('Verify offline that a DSSE envelope is about a part or export, and who signed it.')
    .argument('<envelope>', 'the envelope; - for standard input')
    .requiredOption('--subject <path>', 'require that it is about this part, export or manifest.json')
    .option('--threshold <n>', 'require this many different trusted keys (default: 1)', wholeNumber(1, 64))
    .option('--as-of <time>', 'verify as of this time (default: now)', time)
    .action(async (path: string, options: VerifyOptions) =>
      (await import('./run.ts')).verifyEnvelopeFile(cli, path, options),
    );
  examples(command, {
    'about a part': 'drillproof dsse verify part.dsse.json --subject part.zip --trust trust.json',
    'two of your keys must have signed':
      'drillproof dsse verify part.dsse.json --subject part.zip --trust trust.json --threshold 2',
  }).addHelpText('after', MORE);
}
