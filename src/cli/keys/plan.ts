import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import { type Retirement, RETIREMENTS } from '../../trust/index.ts';
import type { Cli } from '../cli.ts';
import { examples, standardOptions, text, time, wholeNumber } from '../shared/options/options.ts';
import { trustOptions, type TrustOptions } from '../shared/options/trust.ts';

/** How much of the evidence a rehearsal reads. */
const PLAN_DEPTHS = ['attestations', 'full'] as const;

/** What the command line says, parsed. */
export type PlanOptions = TrustOptions & {
  readonly retire: string;
  readonly issuer?: string;
  readonly at?: number;
  readonly as: Retirement['how'];
  readonly compromised?: boolean;
  readonly replaceWith?: string;
  readonly depth: (typeof PLAN_DEPTHS)[number];
  readonly jobs: number;
};

const MORE = `
Every signature is verified twice, with the trust store as it is and with the
key retired, as of now or of --at if that is later. Nothing is written. Removing
a key has the effect of --as compromised.

Exit codes: 0 nothing would stop verifying, 1 something would, 2 wrong call,
3 something could not be read or nothing there is signed, 130 interrupted.`;

export function definePlan(command: Command, cli: Cli): void {
  trustOptions(standardOptions(command))
    .description('List which evidence would stop verifying if a key were retired.')
    .argument('<path...>', 'folder, s3://bucket/prefix or ZIP of an export, or a part')
    .requiredOption('--retire <key>', 'key id, or its beginning as keys list shows it', text)
    .option('--issuer <name>', 'issuer of the key, if several have a key of that name')
    .addOption(
      new Option(
        '--as <how>',
        'revoked: what it signed before the moment stands; compromised: nothing stands; expired: the moment is its last',
      )
        .choices(RETIREMENTS)
        .default('revoked'),
    )
    .addOption(new Option('--compromised', 'short for --as compromised').conflicts('as'))
    .option('--at <time>', 'the moment (default: now)', time)
    .option('--replace-with <file>', 'trust these public keys for the same purposes from then on')
    .addOption(
      new Option('--depth <depth>', 'attestations judges signatures only; full verifies every byte, twice')
        .choices(PLAN_DEPTHS)
        .default('attestations'),
    )
    .addOption(
      new Option('--jobs <n>', 'verify this many parts at once')
        .argParser(wholeNumber(1, 256))
        .default(availableParallelism(), 'number of cores'),
    )
    .action(async (paths: string[], options: PlanOptions) => {
      // Loaded only now: help needs nothing of what verifies.
      const { plan } = await import('./plan-run.ts');
      await plan(cli, paths, options);
    });
  examples(command, [
    [
      'if the key were stolen',
      'drillproof keys plan --retire sha256:fc6290a9ccf4 --compromised --trust trust.json ./mirror',
    ],
    [
      'if it ended with the year',
      'drillproof keys plan --retire sha256:fc6290a9ccf4 --as expired --at 2026-12-31T23:59:59.999Z --trust trust.json ./mirror-1 ./mirror-2',
    ],
    [
      'if it were replaced',
      'drillproof keys plan --retire sha256:fc6290a9ccf4 --at 2026-11-01 --replace-with new.pub.pem --trust trust.json ./mirror',
    ],
  ]).addHelpText('after', MORE);
}
