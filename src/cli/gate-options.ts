import { availableParallelism } from 'node:os';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Digest } from '../bytes/hash.ts';
import { decisionRenderers, type DecisionFormat } from '../report/decision-renderers.ts';
import { digest, many, text, time, wholeNumber } from './options.ts';
import { summaryOptions, type SummaryOptions } from './gate-summary.ts';
import { duration } from './quantities.ts';
import { trustOptions, type TrustOptions } from './trust-options.ts';
import type { PathList } from './verify-list.ts';

/** Where a rendering of the decision goes: to a file, or to standard output. */
export type DecisionTarget = { readonly format: DecisionFormat; readonly file?: string };

/** What the command line says, parsed. */
export type GateOptions = TrustOptions &
  PathList &
  SummaryOptions & {
    readonly policy?: string;
    readonly url?: string;
    readonly project?: string;
    readonly tokenFile?: string;
    readonly caFile?: string;
    readonly wait?: number;
    readonly expectManifest?: Digest;
    readonly expectExport?: string;
    readonly expectOrganization?: string;
    readonly expectProject?: string;
    readonly expectBundles?: number;
    readonly asOf?: number;
    readonly depth?: string;
    readonly jobs: number;
    readonly secondOpinion?: boolean;
    readonly dsse?: readonly string[];
    readonly receipts?: string;
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
  const judging = trustOptions(
    command.option('--policy <file>', 'policy in JSON or YAML; without it the default one'),
  )
    .option('--list <file>', 'judge what a file names too, one on each line; - for standard input')
    .option('-0, --null', 'the names of the list end with NUL, as "find -print0" writes them')
    .option('--url <url>', 'control plane at which exports that are named by their id are read')
    .option('--project <id>', 'with --url: project through which to read')
    .option('--token-file <file>', 'file that holds the token; without it DRILLPROOF_TOKEN is read')
    .option('--ca-file <file>', 'certificate authorities (PEM) to trust beside those of the platform')
    .addOption(
      new Option('--wait [duration]', 'with --url: wait for an export that is still being generated')
        .argParser(duration)
        .preset('1h'),
    )
    .option(
      '--expect-manifest <digest>',
      'SHA-256 that manifest.json must have: pins the list of bundles',
      digest,
    )
    .option('--expect-export <id>', 'id that the export must have')
    .option('--expect-organization <id>', 'organization that the evidence must belong to')
    .option('--expect-project <id>', 'project that every bundle must belong to')
    .option('--expect-bundles <n>', 'number of bundles that there must be', wholeNumber(0, 10_000))
    .option('--as-of <time>', 'judge as of this time instead of now', time)
    .addOption(new Option('--depth <depth>').hideHelp())
    .addOption(
      new Option('--jobs <n>', 'parts judged at once')
        .argParser(wholeNumber(1, 256))
        .default(availableParallelism(), 'processors'),
    )
    .option('--second-opinion', 'read and check everything by a second implementation too')
    .option(
      '--dsse <file>',
      'envelope that vouches for a part, or for an export or a bundle in it (may be given again)',
      many(text),
    )
    .option(
      '--receipts <path>',
      'a mirror, a folder of them, or a receipt: signed receipts say when the export was there',
    )
    .option(
      '--format <kind[=file]>',
      `${FORMATS.join(', ')}: to standard output or a file (may be given again)`,
      many(target),
    );
  return summaryOptions(judging).option('--force', 'replace files that exist');
}
