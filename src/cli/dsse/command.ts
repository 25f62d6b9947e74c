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
    'Sign evidence as an in-toto statement in a DSSE envelope, a file beside the evidence, and check such files.',
  );
  defineCreate(command.command('create').summary('sign a part or an export in an envelope of its own'), cli);
  defineVerify(command.command('verify').summary('judge an envelope against what it is about'), cli);
  examples(command, [
    ['sign a part', 'drillproof dsse create part.zip --key key.pem --issuer acme-ci --out part.dsse.json'],
    ['check it', 'drillproof dsse verify part.dsse.json --subject part.zip --trust trust.json'],
    ['verify the part by it', 'drillproof verify part.zip --dsse part.dsse.json --trust trust.json'],
  ]);
}

function defineCreate(command: Command, cli: Cli): void {
  standardOptions(command)
    .description(
      'Sign a part, or the list of an export, as an in-toto statement in a DSSE envelope. It is verified first.',
    )
    .argument('<path>', 'part archive, folder of an export, or a ZIP of it')
    .requiredOption('--out <file>', 'envelope to write; - for standard output');
  signingOptions(command, 'the statement')
    .option('--force', 'replace the envelope when it exists')
    .action((path: string, options: CreateOptions) => create(cli, path, options));
  examples(command, [
    ['a part', 'drillproof dsse create part.zip --key key.pem --issuer acme-ci --out part.dsse.json'],
    [
      'the list of an export, by a key that stays where it is',
      'drillproof dsse create ./export --signer ./sign.sh --public-key key.pub.pem --issuer acme-ci --out export.dsse.json',
    ],
  ]);
}

async function create(cli: Cli, path: string, options: CreateOptions): Promise<void> {
  const signing = await readSigning(cli, options);
  if (signing === undefined)
    throw usageError('nothing says who signs', 'Give --key or --signer, and --issuer.');
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
The subject is what you want to know about: a part, an export, or the file
manifest.json of one. The envelope is judged against its manifest alone; use
'drillproof verify PATH --dsse ENVELOPE' for a verdict on the whole evidence.

Exit codes: 0 a trusted key vouches for exactly this subject, 1 it does not,
2 wrong call or configuration, 3 could not be checked.`;

function defineVerify(command: Command, cli: Cli): void {
  trustOptions(standardOptions(command))
    .description(
      'Judge a DSSE envelope with an in-toto statement against the evidence that it is about, offline.',
    )
    .argument('<envelope>', 'the envelope; - for standard input')
    .requiredOption('--subject <path>', 'part, export or manifest.json that it must be about')
    .option(
      '--threshold <n>',
      'different trusted keys that must have signed (default: 1)',
      wholeNumber(1, 64),
    )
    .option('--as-of <time>', 'judge as of this time instead of now', time)
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
    throw usageError('nobody is trusted', 'Give --trust FILE, or --key FILE,issuer=NAME.');
  const envelope = await readInput(path, MAX_ENVELOPE_BYTES, cli);
  const report = verifyDsse(envelope, {
    asOfMs: asOf,
    trust,
    ...(await subjectManifest(cli, subject)),
    ...(threshold !== undefined && { threshold }),
  });
  const look = lookOf(cli, cli.stdout);
  await cli.stdout.write(cli.format === 'json' ? stableJson(report) : renderers.text(report, look));
  cli.exitCode = EXITS[report.verdict];
}
