import { defined } from '../../bytes/arguments.ts';
import { countNoun } from '../../bytes/text/wording.ts';
import { readSummary } from '../../policy/vsa/read.ts';
import { encodeDsse, parseDsse, signDsse } from '../../trust/dsse.ts';
import { verifySummary } from '../../policy/vsa/verify.ts';
import { renderSummaryReport } from '../../report/text/vsa.ts';
import { type Cli, describeLook, printNote } from '../cli.ts';
import { readEvidenceInput, withFileName } from '../shared/input/input.ts';
import { requireSigning, signingOptions } from '../shared/input/signing.ts';
import { requireTrust } from '../shared/input/trust.ts';
import { writeBytes } from '../shared/output/output-file.ts';
import { writeProduct, writeReport } from '../shared/output/product.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import {
  AS_OF,
  FORCE,
  parseDigest,
  parseParameter,
  STANDARD,
  THRESHOLD,
  TRUST_STORE,
} from '../shared/options/options.ts';
import { parseDuration, usageError } from '../shared/options/values.ts';
import { EXIT_OF_SIGNED } from '../exit.ts';

const MAX_ENVELOPE_BYTES = 1024 * 1024;

const VERIFY = [
  ...STANDARD,
  TRUST_STORE,
  option('--expect-verifier <uri>', 'require this verifier'),
  option('--expect-resource <uri>', 'require this resource'),
  option('--expect-policy <digest>', 'require the policy with this SHA-256', parseDigest),
  option(
    '--expect-param <name=value>',
    'require this value of a parameter of the policy',
    parseParameter,
  ).allowRepeats(),
  option(
    '--expect-input <digest>',
    'require this SHA-256 of a manifest as input; name all inputs',
    parseDigest,
  ).repeat(),
  option('--expect-artifact <digest>', 'require that it names the artifact with this SHA-256', parseDigest),
  option('--max-age <duration>', 'refuse an older summary; such as 12h or 7d', parseDuration),
  THRESHOLD,
  AS_OF,
];

const SIGN = [
  ...STANDARD,
  option('--add', 'add a signature to the same bytes').required(),
  option(
    '--out <file>',
    'write the envelope to this file; - for standard output (default: replace the summary)',
  ),
  ...signingOptions('the summary'),
  FORCE,
];

export function defineCommand(command: CliCommand, cli: Cli): void {
  command.description(
    'Check and sign verification summaries: what a gate decided, as a SLSA VSA in a DSSE envelope. "gate --vsa" makes them.',
  );
  command
    .command('verify')
    .description('Verify a summary offline: who signed it, and whether it states what you expect.')
    .argument('<summary>', 'the envelope; - for standard input')
    .perform(VERIFY, (options, path: string) => verify(cli, path, options))
    .examples({
      'everything pinned':
        'drillproof vsa verify vsa.json --trust gates.json --expect-verifier https://ci.example/gate --expect-policy sha256:… --expect-input sha256:… --max-age 7d',
    })
    .addHelpText('after', MORE);
  command
    .command('sign')
    .description('Add the signature of another key of the same verifier to the bytes of a summary.')
    .argument('<summary>', 'the envelope')
    .perform(SIGN, (options, path: string) => sign(cli, path, options))
    .examples({
      'a second key': 'drillproof vsa sign vsa.json --add --key second.pem --issuer https://ci.example/gate',
    });
}

const MORE = `
The trust store needs the signing key with the purpose "summary", under an
issuer that equals the id of the verifier. Give --expect-input for every
manifest that the summary covers, and --expect-param for every parameter of
the policy.`;

async function verify(cli: Cli, path: string, options: OptionsOf<typeof VERIFY>): Promise<void> {
  const trust = await requireTrust(cli, options);
  const envelope = await readEvidenceInput(path, MAX_ENVELOPE_BYTES, cli);
  const report = verifySummary(envelope, {
    asOfMs: options.asOf ?? cli.now(),
    trust,
    expect: defined({
      verifierId: options.expectVerifier,
      resourceUri: options.expectResource,
      policyDigest: options.expectPolicy,
      parameters: options.expectParam,
      inputs: options.expectInput,
      artifact: options.expectArtifact,
      maxAgeMs: options.maxAge,
    }),
    ...defined({ threshold: options.threshold }),
  });
  await writeReport(cli, report, renderSummaryReport(report, describeLook(cli, cli.stdout)));
  cli.exitCode = EXIT_OF_SIGNED[report.verdict];
}

async function sign(cli: Cli, path: string, options: OptionsOf<typeof SIGN>): Promise<void> {
  const signing = await requireSigning(cli, options);
  const { signer, issuer } = signing;
  const bytes = await readEvidenceInput(path, MAX_ENVELOPE_BYTES, cli);
  const envelope = withFileName(path, () => parseDsse(bytes));
  const { verifierId } = withFileName(path, () => readSummary(envelope));
  // A summary is signed under the name of its verifier only.
  if (issuer !== verifierId)
    throw usageError(`the summary is of the verifier ${verifierId}`, `Pass --issuer ${verifierId}.`);
  const added = await signDsse(envelope, [signer]);
  if (envelope.signatures.some(({ keyId }) => keyId === signer.keyId))
    throw usageError(`the key ${signer.keyId} has signed it already`, 'Sign with another key.');
  const signatures = [...envelope.signatures, ...added.signatures] as const;
  const { out = path } = options;
  // Replacing the summary is what the call asks for; it keeps every byte that was signed.
  if (out === path) cli.inputs.delete(path);
  await writeBytes(cli, out, [encodeDsse({ ...envelope, signatures })], {
    force: options.force === true || out === path,
  });
  const text = `${out}: signed by ${countNoun(signatures.length, 'key')}\n`;
  if (out === '-') await printNote(cli, text.trimEnd());
  else await writeProduct(cli, { kind: 'vsa', path: out, issuer, signatures: signatures.length }, text);
}
