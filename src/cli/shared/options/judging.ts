import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import type { Digest } from '../../../bytes/hash.ts';
import { digest, many, text, time, wholeNumber } from './options.ts';
import { trustOptions, type TrustOptions } from './trust.ts';
import type { PathList } from '../../verify/list.ts';

/** What every command that judges evidence is told: by which keys, of what, as of when. */
export type JudgingOptions = TrustOptions &
  PathList & {
    readonly expectManifest?: Digest;
    readonly expectExport?: string;
    readonly expectOrganization?: string;
    readonly expectProject?: string;
    readonly expectBundles?: number;
    readonly asOf?: number;
    readonly jobs: number;
    readonly secondOpinion?: boolean;
    readonly dsse?: readonly string[];
  };

export function judgingOptions(command: Command): Command {
  return trustOptions(command)
    .option('--list <file>', 'judge what a file names too, one on each line; - for standard input')
    .option('-0, --null', 'the names of the list end with NUL, as "find -print0" writes them')
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
    .addOption(
      new Option('--jobs <n>', 'parts judged at once')
        .argParser(wholeNumber(1, 256))
        .default(availableParallelism(), 'processors'),
    )
    .option(
      '--second-opinion',
      'read and check everything by a second implementation too; any difference is a finding',
    )
    .option(
      '--dsse <file>',
      'envelope that vouches for a part, or for an export or a bundle in it, beside or in place of its attestation (may be given again)',
      many(text),
    );
}
