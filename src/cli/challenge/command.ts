import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { concatBytes } from '../../bytes/async.ts';
import { defined } from '../../bytes/arguments.ts';
import { countNoun, isoTime } from '../../bytes/text/wording.ts';
import {
  type ChallengeLedger,
  MAX_LEDGER_BYTES,
  readLastChallenge,
  signChallenge,
  verifyLedger,
} from '../../verify/challenge/ledger.ts';
import type { Cli } from '../cli.ts';
import { EXIT, EXIT_OF_SIGNED } from '../exit.ts';
import { readEvidenceInput, withFileName } from '../shared/input/input.ts';
import { requireSigning, signingOptions } from '../shared/input/signing.ts';
import { readTrust } from '../shared/input/trust.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { AS_OF, parseDigest, STANDARD, TRUST_STORE } from '../shared/options/options.ts';
import { parseDuration, usageError } from '../shared/options/values.ts';
import { writeOutputFile } from '../shared/output/output-file.ts';
import { formatFinding } from '../shared/output/finding.ts';
import { formatTable, writeFacts, writeProduct } from '../shared/output/product.ts';

const LEDGER = option('--ledger <file>', 'ledger of challenges, one line for each').required();

const ISSUE = [
  ...STANDARD,
  LEDGER,
  option('--drill <id>', 'drill that must run').required(),
  option('--build <digest>', 'build hash that it must run with', parseDigest).required(),
  option(
    '--ttl <duration>',
    'time in which the run and its timestamp must follow, such as 1h',
    parseDuration,
  ).required(),
  ...signingOptions('the challenge'),
];
const VERIFY = [
  ...STANDARD,
  TRUST_STORE,
  option('--expect-last <digest>', 'require that the ledger ends with this challenge', parseDigest),
  AS_OF,
];

const MORE = `
The trust store needs the key of the issuer with the purpose "challenge". Keep
the digest of the last challenge: without its last lines, a ledger is valid too.`;

export function defineCommand(challenge: CliCommand, cli: Cli): void {
  challenge.description(
    'Issue challenges before runs, so that a discarded run leaves a trace, and check their ledger.',
  );
  challenge
    .command('issue')
    .description('Sign a challenge with a random seed, and add it to the ledger. The run must use the seed.')
    .perform(ISSUE, (options) => issue(cli, options))
    .examples({
      'for one hour':
        'drillproof challenge issue --drill checkout --build sha256:… --ttl 1h --key auditor.pem --issuer auditor --ledger challenges.jsonl',
    });
  challenge
    .command('list')
    .description('Show the challenges of a ledger. No signature is verified.')
    .argument('<ledger>', 'the ledger; - for standard input')
    .perform(STANDARD, (_options, path: string) => list(cli, path))
    .examples({ 'what was issued': 'drillproof challenge list challenges.jsonl' });
  challenge
    .command('verify')
    .description(
      'Verify a ledger offline: who signed each challenge, and that none is missing before the last.',
    )
    .argument('<ledger>', 'the ledger; - for standard input')
    .perform(VERIFY, (options, path: string) => verify(cli, path, options))
    .examples({
      'with its last challenge':
        'drillproof challenge verify challenges.jsonl --trust trust.json --expect-last sha256:…',
    })
    .addHelpText('after', MORE);
}

/** A random number of 64 bits: a seed has at most 20 characters. */
const createSeed = (): string => randomBytes(8).readBigUInt64BE().toString();

async function issue(cli: Cli, options: OptionsOf<typeof ISSUE>): Promise<void> {
  const { ledger, drill, build, ttl } = options;
  const signing = await requireSigning(cli, options);
  const before = existsSync(ledger)
    ? await readEvidenceInput(ledger, MAX_LEDGER_BYTES, cli)
    : new Uint8Array();
  const previous = withFileName(ledger, () => readLastChallenge(before));
  const { issuedAtMs } = signing;
  if (previous !== undefined && previous.issuedAtMs > issuedAtMs)
    throw usageError(`the last challenge of ${ledger} is from the future`, 'Check the clock of the machine.');
  const seed = createSeed();
  const expiresAtMs = issuedAtMs + ttl;
  const task = { drillId: drill, buildHash: build, seed, expiresAtMs };
  const line = concatBytes([
    await signChallenge(task, { ...signing, ...defined({ previous }) }),
    Uint8Array.of(0x0a),
  ]);
  const whole = concatBytes([before, line]);
  // Replaced at once, so that no reader sees half a line.
  await writeOutputFile({ inputs: new Set() }, ledger, [whole], { force: true });
  const { digest, sequence } = readLastChallenge(whole)!;
  await writeFacts(
    cli,
    { kind: 'challenge', ledger, digest, sequence, ...task, issuer: signing.issuer, issuedAtMs },
    [
      ['seed', seed],
      ['drill', drill],
      ['build', build],
      ['expires', isoTime(expiresAtMs)],
      ['ledger', `${ledger}, number ${sequence}`],
      ['digest', digest],
    ],
  );
}

async function list(cli: Cli, path: string): Promise<void> {
  const ledger = verifyLedger(await readEvidenceInput(path, MAX_LEDGER_BYTES, cli), { asOfMs: cli.now() });
  const line = countNoun(ledger.challenges.length, 'challenge');
  await writeProduct(
    cli,
    { ...ledger, verdict: 'not_checked', findings: [] },
    formatChallenges(ledger),
    line,
  );
}

async function verify(cli: Cli, path: string, options: OptionsOf<typeof VERIFY>): Promise<void> {
  const { asOf: asOfMs = cli.now(), expectLast } = options;
  const trust = await readTrust(cli, defined({ trust: options.trust }));
  const bytes = await readEvidenceInput(path, MAX_LEDGER_BYTES, cli);
  const ledger = verifyLedger(bytes, { asOfMs, ...defined({ trust, expectLast }) });
  const { verdict, challenges, findings } = ledger;
  cli.exitCode = challenges.length === 0 ? EXIT.bad : EXIT_OF_SIGNED[verdict];
  const head = `${verdict.toUpperCase().replace('_', ' ')} ledger of ${countNoun(challenges.length, 'challenge')}, last ${challenges.at(-1)?.digest ?? 'none'}\n`;
  await writeProduct(cli, { ...ledger }, head + findings.map(formatFinding).join(''));
}

const formatChallenges = ({ challenges }: ChallengeLedger): string =>
  formatTable(
    ['#', 'ISSUED', 'EXPIRES', 'DRILL', 'SEED', 'ISSUER'],
    challenges.map(({ sequence, issuedAtMs, expiresAtMs, drillId, seed, issuer }) => [
      String(sequence),
      isoTime(issuedAtMs),
      isoTime(expiresAtMs),
      drillId,
      seed,
      issuer,
    ]),
  );
