import { Option, type Command } from 'commander';
import { type BagOptions, bagSink, type MirrorSink } from '../../mirror/index.ts';
import { mirrorDirectory, type MirrorDirectoryOptions } from '../../node/index.ts';
import { isS3Url, parseS3Location, type Retention } from '../../node/s3/index.ts';
import type { Cli } from '../cli.ts';
import { time } from '../shared/options/options.ts';
import { usageError } from '../shared/options/usage.ts';

/** How the storage is to keep what is written to it. */
export type SinkOptions = {
  readonly s3RetainUntil?: number;
  readonly s3LockMode?: 'governance' | 'compliance';
  readonly s3LegalHold?: boolean;
  /** As the payload of a BagIt bag. */
  readonly bagit?: boolean;
};

/** The options of a command that writes to an archive. */
export function sinkOptions(command: Command): Command {
  return command
    .option('--bagit', 'write a BagIt bag (RFC 8493), with the export under data/')
    .option(
      '--s3-retain-until <time>',
      'retain every object until then with the object lock of the bucket',
      time,
    )
    .addOption(
      new Option(
        '--s3-lock-mode <mode>',
        'who may lift it before: those with a right of their own, or nobody (default: governance)',
      ).choices(['governance', 'compliance']),
    )
    .option('--s3-legal-hold', 'put a legal hold on every object');
}

/**
 * Where a mirror goes: a folder, which may share a store with others, or `s3://bucket/prefix`, for which the SDK is
 * loaded when it is opened. With `bagit` the sink makes a bag there.
 * @throws DrillproofError `usage.INVALID`
 */
export async function sinkOf(
  cli: Cli,
  to: string,
  options: SinkOptions,
  bag: BagOptions,
  directory: MirrorDirectoryOptions = {},
): Promise<MirrorSink> {
  const sink = await placeOf(cli, to, options, directory);
  return options.bagit === true ? bagSink(sink, bag) : sink;
}

async function placeOf(
  cli: Cli,
  to: string,
  options: SinkOptions,
  directory: MirrorDirectoryOptions,
): Promise<MirrorSink> {
  const retention = retentionOf(cli, options);
  if (!isS3Url(to)) {
    if (Object.keys(retention).length === 0) return mirrorDirectory(to, directory);
    throw usageError(
      'the options --s3-… are for mirrors in S3',
      'Leave them out, or name s3://bucket/prefix.',
    );
  }
  const { mirrorS3 } = await import('../../node/s3/index.ts');
  return mirrorS3(parseS3Location(to, { name: 'the address in S3', code: 'usage.INVALID' }), {
    env: cli.env,
    retention,
    ...directory,
  });
}

const MODES = { governance: 'GOVERNANCE', compliance: 'COMPLIANCE' } as const;

function retentionOf(cli: Cli, { s3RetainUntil, s3LockMode, s3LegalHold }: SinkOptions): Retention {
  if (s3RetainUntil === undefined && s3LockMode !== undefined) {
    throw usageError(
      '--s3-lock-mode is for --s3-retain-until',
      'Say until when with --s3-retain-until TIME.',
    );
  }
  if (s3RetainUntil !== undefined && s3RetainUntil <= cli.now()) {
    throw usageError('--s3-retain-until is a time that has passed');
  }
  return {
    ...(s3RetainUntil !== undefined && {
      retain: { mode: MODES[s3LockMode ?? 'governance'], untilMs: s3RetainUntil },
    }),
    ...(s3LegalHold === true && { legalHold: true }),
  };
}
