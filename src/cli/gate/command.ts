import { type Command, Option } from 'commander';
import { type DecisionFormat, decisionRenderers } from '../../report/decision-renderers.ts';
import type { Cli } from '../cli.ts';
import {
  addEvidenceOptions,
  type EvidenceOptions,
  addExamples,
  collect,
  addParameterOption,
  type PolicyOptions,
  addRemoteOptions,
  type RemoteOptions,
  addStandardOptions,
} from '../shared/options/options.ts';
import { addReportSigningOptions, type ReportSigningOptions } from '../shared/options/signing.ts';
import { parseDuration, parseTarget } from '../shared/options/values.ts';
import type { FormatOptions } from '../shared/output/targets.ts';
import { addSummaryOptions, type SummaryOptions } from './summary.ts';

const MORE = `
Only the policy and the keys that you name are used. The default policy
requires: signed by a trusted key, every byte bound, the drill passed without
contradicting itself, the list pinned or attested.

Exit codes: 0 yes, 1 no, 2 wrong call or configuration, 3 could not tell or
nothing to check, 130 interrupted.`;

export function defineGateCommand(command: Command, cli: Cli): void {
  addGateOptions(addStandardOptions(command, { formats: false }))
    .description('Answer whether evidence satisfies a policy: yes, no or could not tell.')
    .argument(
      '[evidence...]',
      'folder, bag or s3://bucket/prefix of an export, a ZIP of it, a part, or with --url the id of an export',
    )
    .action(async (names: string[], options: GateOptions) => {
      // Loaded only now, because help needs no verification.
      const { gate } = await import('./run.ts');
      await gate(cli, names, options);
    });
  addExamples(command, {
    'a mirror, under a policy': 'drillproof gate ./mirror --policy policy.yaml --trust trust.json',
    'under the default policy': 'drillproof gate ./mirror --trust trust.json',
    'an export at a control plane, once it is generated':
      'drillproof gate evexp_0123456789ab --url http://127.0.0.1:8080 --project prj_0123456789ab --wait 30m --policy policy.yaml --trust trust.json',
    'text in the log, JSON in a file':
      'drillproof gate ./mirror --policy policy.yaml --trust trust.json --format json=decision.json',
    'as it would have been answered then':
      'drillproof gate ./mirror --policy policy.yaml --trust trust.json --as-of 2026-11-01 --allow-past',
  }).addHelpText('after', MORE);
}

export type GateOptions = EvidenceOptions &
  PolicyOptions &
  RemoteOptions &
  SummaryOptions &
  ReportSigningOptions &
  FormatOptions<DecisionFormat> & {
    readonly policy?: string;
    readonly wait?: number;
    readonly allowPast?: boolean;
    readonly reportOnly?: boolean;
    readonly verbose?: boolean;
    readonly stepSummary?: boolean;
    readonly sarifCategory?: string;
  };

const FORMATS = Object.keys(decisionRenderers) as DecisionFormat[];

function addGateOptions(command: Command): Command {
  const verifying = addRemoteOptions(
    addEvidenceOptions(
      addParameterOption(
        command.option(
          '--policy <file>',
          'apply this policy: file, https://…#sha256:… or git:REVISION:PATH#sha256:… (default: the default policy)',
        ),
      ),
    ),
    'for exports named by id: ',
  )
    .addOption(
      new Option('--wait [duration]', 'with --url: wait for an export that is still being generated')
        .argParser(parseDuration)
        .preset('1h'),
    )
    .option(
      '--format <kind[=file]>',
      `${FORMATS.join(', ')}: to standard output or a file (repeatable)`,
      collect(parseTarget(FORMATS)),
    )
    .option('--allow-past', 'with --as-of: allow a past time, at which expired waivers and keys count')
    .option('--report-only', 'end with 0 for every answer, if the policy could be evaluated')
    .option('-v, --verbose', 'also print the basis of the answer: each bundle, signer, envelope and summary')
    .option('--sarif-category <name>', 'in SARIF: category of this gate, if a repository has several')
    .option('--no-step-summary', 'with --format github: do not append to the summary of the step');
  return addSummaryOptions(addReportSigningOptions(verifying)).option('--force', 'replace existing files');
}
