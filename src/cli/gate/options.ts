import { InvalidArgumentError, Option, type Command } from 'commander';
import { type DecisionFormat, decisionRenderers } from '../../report/index.ts';
import { many } from '../shared/options/options.ts';
import { judgingOptions, type JudgingOptions } from '../shared/options/judging.ts';
import { summaryOptions, type SummaryOptions } from './summary.ts';
import { duration } from '../shared/options/quantities.ts';

/** Where a rendering of the decision goes: to a file, or to standard output. */
export type DecisionTarget = { readonly format: DecisionFormat; readonly file?: string };

/** What the command line says, parsed. */
export type GateOptions = JudgingOptions &
  SummaryOptions & {
    readonly policy?: string;
    readonly url?: string;
    readonly project?: string;
    readonly tokenFile?: string;
    readonly caFile?: string;
    readonly wait?: number;
    readonly depth?: string;
    readonly format?: readonly DecisionTarget[];
    readonly json?: boolean;
    readonly force?: boolean;
  };

const FORMATS = Object.keys(decisionRenderers) as DecisionFormat[];

/** `KIND` or `KIND=FILE`. */
function target(value: string): DecisionTarget {
  const [kind, ...rest] = value.split('=');
  const format = FORMATS.find((one) => one === kind);
  if (format === undefined || (rest.length > 0 && rest.join('=') === ''))
    throw new InvalidArgumentError(`It must be one of ${FORMATS.join(', ')}, or one of them with =FILE.`);
  return rest.length === 0 ? { format } : { format, file: rest.join('=') };
}

export function gateOptions(command: Command): Command {
  const judging = judgingOptions(
    command.option('--policy <file>', 'apply this policy, JSON or YAML (default: the default policy)'),
  )
    .option('--url <url>', 'read exports named by id from this control plane')
    .option('--project <id>', 'with --url: project through which to read')
    .option('--token-file <file>', 'read the token from this file (default: DRILLPROOF_TOKEN)')
    .option('--ca-file <file>', 'also trust the certificate authorities in this PEM file')
    .addOption(
      new Option('--wait [duration]', 'with --url: wait for an export that is still being generated')
        .argParser(duration)
        .preset('1h'),
    )
    .addOption(new Option('--depth <depth>').hideHelp())
    .option(
      '--format <kind[=file]>',
      `${FORMATS.join(', ')}: to standard output or a file (may be given again)`,
      many(target),
    );
  return summaryOptions(judging).option('--force', 'replace existing files');
}
