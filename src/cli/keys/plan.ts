import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import { RETIREMENTS, type Retirement } from '../../trust/index.ts';
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
Every signature is judged twice, with the trust store as it is and with the key
retired, both as of now, or as of --at when that lies ahead. Nothing is written.
Removing a key would do what --as compromised does.

Exit codes: 0 nothing would stop verifying, 1 something would, 2 wrong call,
3 something could not be read or nothing there is signed, 130 interrupted.`;

export function definePlan(command: Command, cli: Cli): void {
  trustOptions(standardOptions(command))
    .description('Rehearse the end of a key: say which evidence would stop verifying, and which would not.')
    .argument('<path...>', 'folder of an export, a prefix s3://…, a ZIP of it, or a part archive')
    .requiredOption('--retire <key>', 'key id, or its beginning as keys list shows it', text)
    .option('--issuer <name>', 'issuer of the key, where several have one of that name')
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
    .option(
      '--replace-with <file>',
      'public keys, as keys add reads them, that are trusted for the same from then on',
    )
    .addOption(
      new Option('--depth <depth>', 'attestations judges signatures only; full verifies every byte, twice')
        .choices(PLAN_DEPTHS)
        .default('attestations'),
    )
    .addOption(
      new Option('--jobs <n>', 'parts judged at once')
        .argParser(wholeNumber(1, 256))
        .default(availableParallelism(), 'processors'),
    )
    .action(async (paths: string[], options: PlanOptions) => {
      // Loaded only now: help needs nothing of what verifies.
      const { plan } = await import('./plan-run.ts');
      await plan(cli, paths, options);
    });
  examples(command, [
    [
      'what if the key were stolen',
      'drillproof keys plan --retire sha256:fc6290a9ccf4 --compromised --trust trust.json ./mirror',
    ],
    [
      'may it end with the year',
      'drillproof keys plan --retire sha256:fc6290a9ccf4 --as expired --at 2026-12-31T23:59:59.999Z --trust trust.json ./mirror-1 ./mirror-2',
    ],
    [
      'has its successor taken over',
      'drillproof keys plan --retire sha256:fc6290a9ccf4 --at 2026-11-01 --replace-with new.pub.pem --trust trust.json ./mirror',
    ],
  ]).addHelpText('after', MORE);
}
