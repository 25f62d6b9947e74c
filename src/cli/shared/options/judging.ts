import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import type { Digest } from '../../../bytes/index.ts';
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
    .option('--list <file>', 'also read paths from a file, one per line; - for standard input')
    .option('-0, --null', 'read a NUL-separated list, as "find -print0" writes it')
    .option(
      '--expect-manifest <digest>',
      'require this SHA-256 of manifest.json, which pins the list of bundles',
      digest,
    )
    .option('--expect-export <id>', 'require this id of the export')
    .option('--expect-organization <id>', 'require this organization')
    .option('--expect-project <id>', 'require this project for every bundle')
    .option('--expect-bundles <n>', 'require this number of bundles', wholeNumber(0, 10_000))
    .option('--as-of <time>', 'verify as of this time (default: now)', time)
    .addOption(
      new Option('--jobs <n>', 'verify this many parts at once')
        .argParser(wholeNumber(1, 256))
        .default(availableParallelism(), 'number of cores'),
    )
    .option('--second-opinion', 'verify everything with a second implementation too, and report differences')
    .option('--dsse <file>', 'also verify this DSSE envelope about the evidence (repeatable)', many(text));
}
