import { defined } from '../../bytes/index.ts';
import type { Command } from 'commander';
import { renderers, stableJson } from '../../report/index.ts';
import { dsseBytes } from '../../trust/index.ts';
import { verifyDsse } from '../../verify/index.ts';
import { sayLines, lookOf, type Cli } from '../cli.ts';
import { createDsse, subjectManifest } from './subject.ts';
import { EXIT } from '../shared/output/exit.ts';
import { readInput } from '../shared/input/input.ts';
import { examples, standardOptions, time, wholeNumber } from '../shared/options/options.ts';
import { writeBytes, writeProduct } from '../shared/output/product.ts';
import { readSigning, signingOptions, type SigningOptions } from '../shared/options/signing.ts';
import { facts } from '../shared/output/table.ts';
import { trustOptions, type TrustOptions } from '../shared/options/trust.ts';
import { readTrust } from '../shared/options/trusting.ts';
import { usageError } from '../shared/options/usage.ts';

const MAX_ENVELOPE_BYTES = 16 * 1024 * 1024;

type CreateOptions = SigningOptions & { readonly out: string; readonly force?: boolean };
type VerifyOptions = TrustOptions & {
  readonly subject: string;
  readonly threshold?: number;
  readonly asOf?: number;
};

export function define(command: Command, cli: Cli): void {
  command.description(
    'Sign evidence in a separate file, an in-toto statement in a DSSE envelope, and verify such files.',
  );
  defineCreate(command.command('create').summary('sign a part or the list of an export'), cli);
  defineVerify(command.command('verify').summary('verify an envelope about a part or export'), cli);
  examples(command, [
    ['sign a part', 'drillproof dsse create part.zip --key key.pem --issuer acme-ci --out part.dsse.json'],
    ['check it', 'drillproof dsse verify part.dsse.json --subject part.zip --trust trust.json'],
    ['verify the part by it', 'drillproof verify part.zip --dsse part.dsse.json --trust trust.json'],
  ]);
}

function defineCreate(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Verify a part, or the list of an export, and sign it in a DSSE envelope.')
    .argument('<path>', 'part archive, folder of an export, or a ZIP of it')
    .requiredOption('--out <file>', 'write the envelope to this file; - for standard output');
  signingOptions(command, 'the statement')
    .option('--force', 'replace an existing envelope')
    .action((path: string, options: CreateOptions) => create(cli, path, options));
  examples(command, [
    ['a part', 'drillproof dsse create part.zip --key key.pem --issuer acme-ci --out part.dsse.json'],
    [
      'the list of an export, signed by a command',
      'drillproof dsse create ./export --signer ./sign.sh --public-key key.pub.pem --issuer acme-ci --out export.dsse.json',
    ],
  ]);
}

async function create(cli: Cli, path: string, options: CreateOptions): Promise<void> {
  const signing = await readSigning(cli, options);
  if (signing === undefined) throw usageError('no signer given', 'Pass --key or --signer, and --issuer.');
  const envelope = await createDsse(cli, path, signing);
  const { issuer, signer } = signing;
  await writeBytes(cli, options.out, [dsseBytes(envelope)], { force: options.force === true });
  const text = facts([
    ['subject', path],
    ['envelope', options.out],
    ['signed by', `${issuer}, key ${signer.keyId}`],
  ]);
  if (options.out === '-') await sayLines(cli, text.trimEnd());
  else
    await writeProduct(
      cli,
      { kind: 'dsse', subject: path, path: options.out, issuer, keyId: signer.keyId },
      text,
    );
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
    .action((path: string, options: VerifyOptions) => verify(cli, path, options));
  examples(command, [
    ['about a part', 'drillproof dsse verify part.dsse.json --subject part.zip --trust trust.json'],
    [
      'two of your keys must have signed',
      'drillproof dsse verify part.dsse.json --subject part.zip --trust trust.json --threshold 2',
    ],
  ]).addHelpText('after', MORE);
}

const EXITS = { valid: EXIT.pass, invalid: EXIT.bad, not_judged: EXIT.unchecked } as const;

async function verify(cli: Cli, path: string, options: VerifyOptions): Promise<void> {
  const { subject, threshold, asOf = cli.now() } = options;
  const trust = await readTrust(cli, options);
  if (trust === undefined)
    throw usageError('no trusted keys given', 'Pass --trust FILE or --key FILE,issuer=NAME.');
  const envelope = await readInput(path, MAX_ENVELOPE_BYTES, cli);
  const report = verifyDsse(envelope, {
    asOfMs: asOf,
    trust,
    ...(await subjectManifest(cli, subject)),
    ...defined({ threshold }),
  });
  const look = lookOf(cli, cli.stdout);
  await cli.stdout.write(cli.format === 'json' ? stableJson(report) : renderers.text(report, look));
  cli.exitCode = EXITS[report.verdict];
}
