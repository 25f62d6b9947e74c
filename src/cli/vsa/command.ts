import type { Command } from 'commander';
import { defined } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { verifySummary } from '../../policy/vsa/verify.ts';
import { renderSummaryReport } from '../../report/text/vsa.ts';
import { stableJson } from '../../report/json.ts';
import { type Cli, describeLook } from '../cli.ts';
import { readEvidenceInput } from '../shared/input/input.ts';
import { readTrust } from '../shared/input/trust.ts';
import {
  parseDigest,
  addExamples,
  collect,
  addStandardOptions,
  parseTime,
  parseNumberBetween,
  parseParameter,
  collectTexts,
} from '../shared/options/options.ts';
import { parseDuration, usageError } from '../shared/options/values.ts';
import { EXIT_OF_SIGNED } from '../shared/output/exit.ts';

const MAX_ENVELOPE_BYTES = 1024 * 1024;

type VerifyOptions = {
  readonly trust?: readonly string[];
  readonly expectVerifier?: string;
  readonly expectResource?: string;
  readonly expectPolicy?: Digest;
  readonly expectParam?: Readonly<Record<string, string>>;
  readonly expectInput?: readonly Digest[];
  readonly maxAge?: number;
  readonly threshold?: number;
  readonly asOf?: number;
};

export function defineVsaCommand(command: Command, cli: Cli): void {
  command.description(
    'Check verification summaries: what a gate decided, as a SLSA VSA in a DSSE envelope. "gate --vsa" makes them.',
  );
  defineVerify(command.command('verify').summary('verify a summary'), cli);
  addExamples(command, {
    'make one':
      'drillproof gate ./mirror --policy policy.yaml --trust trust.json --vsa vsa.json --vsa-key gate.pem --verifier-id https://ci.example/gate',
    'check it':
      'drillproof vsa verify vsa.json --trust gates.json --expect-verifier https://ci.example/gate --max-age 7d',
  });
}

const MORE = `
The trust store needs the signing key with the purpose "summary", under an
issuer that equals the id of the verifier. Give --expect-input for every
manifest that the summary covers, and --expect-param for every parameter of
the policy: its digest does not cover their values.

Exit codes: 0 a trusted verifier states that the evidence passed, 1 none does,
2 wrong call or configuration, 3 could not be checked.`;

function defineVerify(command: Command, cli: Cli): void {
  addStandardOptions(command)
    .description('Verify a summary offline: who signed it, and whether it states what you expect.')
    .argument('<summary>', 'the envelope; - for standard input')
    .option('--trust <file>', 'trust the keys of this trust store (repeatable)', collectTexts)
    .option('--expect-verifier <uri>', 'require this verifier')
    .option('--expect-resource <uri>', 'require this resource')
    .option('--expect-policy <digest>', 'require the policy with this SHA-256', parseDigest)
    .option(
      '--expect-param <name=value>',
      'require this value of a parameter of the policy (repeatable)',
      parseParameter,
    )
    .option(
      '--expect-input <digest>',
      'require this SHA-256 of a manifest as input (repeatable; name all inputs)',
      collect(parseDigest),
    )
    .option('--max-age <duration>', 'refuse an older summary; such as 12h or 7d', parseDuration)
    .option(
      '--threshold <n>',
      'require this many different trusted keys (default: 1)',
      parseNumberBetween(1, 64),
    )
    .option('--as-of <time>', 'verify as of this time (default: now)', parseTime)
    .action((path: string, options: VerifyOptions) => verify(cli, path, options));
  addExamples(command, {
    'everything pinned':
      'drillproof vsa verify vsa.json --trust gates.json --expect-verifier https://ci.example/gate --expect-policy sha256:… --expect-input sha256:… --max-age 7d',
  }).addHelpText('after', MORE);
}

async function verify(cli: Cli, path: string, options: VerifyOptions): Promise<void> {
  const trust = await readTrust(cli, options);
  if (trust === undefined) throw usageError('no trusted keys given', 'Pass --trust FILE.');
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
      maxAgeMs: options.maxAge,
    }),
    ...defined({ threshold: options.threshold }),
  });
  const look = describeLook(cli, cli.stdout);
  await cli.stdout.write(cli.format === 'json' ? stableJson(report) : renderSummaryReport(report, look));
  cli.exitCode = EXIT_OF_SIGNED[report.verdict];
}
