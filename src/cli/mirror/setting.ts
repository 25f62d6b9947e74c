import { type Command, Option } from 'commander';
import type { Digest } from '../../bytes/index.ts';
import {
  type BagOptions,
  bagSink,
  createPacer,
  type MirrorClient,
  type MirrorOptions,
  type MirrorSink,
} from '../../mirror/index.ts';
import { mirrorDirectory, type MirrorDirectoryOptions, openPartStore } from '../../node/index.ts';
import { isS3Url, parseS3Location, type Retention } from '../../node/s3/index.ts';
import type { Shard } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import type { RemoteOptions } from '../shared/input/remote.ts';
import { time } from '../shared/options/options.ts';
import { assertQueue, type QueueOptions } from '../shared/options/queue.ts';
import { usageError } from '../shared/options/values.ts';
import { ownVersion } from '../shared/output/version.ts';

/** In a queue, a place may be held by a worker that is dead; its lease in S3 ends within a minute. */
const LEASE_WAIT_MS = 120_000;
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

/** What the command line says, parsed. */
export type MirrorCommandOptions = Partial<RemoteOptions> &
  SinkOptions &
  QueueOptions & {
    readonly to: string;
    readonly from?: string;
    readonly concurrency: number;
    readonly limitRate?: number;
    readonly store?: string;
    readonly wait?: number;
    readonly waitLock?: number;
    readonly check?: boolean;
    readonly list?: string;
    readonly all?: boolean;
    readonly since?: number;
    readonly expectManifest?: Digest;
    readonly manifest?: string;
    readonly withoutLocalReports?: boolean;
    readonly shard?: Shard;
  };

/** How each export is mirrored: what all share is opened once. */
export async function settingOf(cli: Cli, client: MirrorClient, options: MirrorCommandOptions) {
  const { manifest: file, limitRate, concurrency } = options;
  const manifest = file === undefined ? undefined : await readInput(file, MAX_MANIFEST_BYTES, cli);
  const tool = await toolName();
  const shared = await sharedOf(cli, options);
  const common = {
    client,
    pacer: createPacer({ concurrency, ...(limitRate !== undefined && { bytesPerSecond: limitRate }) }),
    ...limitsOf(options),
    tool,
    signal: cli.signal,
    now: cli.now,
    ...(manifest !== undefined && { manifest }),
  };
  return async (evidenceExportId: string, to: string): Promise<MirrorOptions> => ({
    ...common,
    to: await sinkOf(cli, to, options, { tool, evidenceExportId }, shared),
  });
}

/** As receipts and events name it. */
export const toolName = async (): Promise<string> => `drillproof/${await ownVersion()}`;

const limitsOf = ({ concurrency, wait, expectManifest, withoutLocalReports }: MirrorCommandOptions) => ({
  concurrency,
  withoutLocalReports: withoutLocalReports === true,
  ...(wait !== undefined && { waitMs: wait }),
  ...(expectManifest !== undefined && { expectManifest }),
});

/** What the mirror shares with others on this machine. */
async function sharedOf(
  cli: Cli,
  { store, queue, waitLock = queue === undefined ? undefined : LEASE_WAIT_MS }: MirrorCommandOptions,
): Promise<MirrorDirectoryOptions> {
  if (store !== undefined && isS3Url(store)) throw usageError('--store is a folder of this machine');
  return {
    ...(store !== undefined && { store: await openPartStore(store) }),
    ...(waitLock !== undefined && { lock: { waitMs: waitLock, signal: cli.signal } }),
  };
}

/** One export, a list, or all of a project; and what speaks of one export alone goes with the first. */
export function assertOneWay(evidenceExportId: string | undefined, options: MirrorCommandOptions): void {
  const { list, all, since, manifest, expectManifest, from } = options;
  if (from !== undefined) return assertFrom(options);
  const ways = [evidenceExportId, list, all].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw usageError('one of these is needed: the id of an export, --list FILE, --all', 'Give exactly one.');
  if (since !== undefined && all === undefined) throw usageError('--since is for --all');
  assertShared(options);
  if (evidenceExportId !== undefined) return;
  const single = Object.entries({ manifest, 'expect-manifest': expectManifest }).find(
    ([, value]) => value !== undefined,
  );
  if (single !== undefined) throw usageError(`--${single[0]} is about one export`, 'Name it by its id.');
}

/** A second mirror has one export, and nothing to wait for. */
function assertFrom(options: MirrorCommandOptions): void {
  const { url, tokenFile, caFile, list, all, since, shard, queue, wait, manifest } = options;
  const others = {
    url,
    'token-file': tokenFile,
    'ca-file': caFile,
    list,
    all,
    since,
    shard,
    queue,
    wait,
    manifest,
  };
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined)
    throw usageError(`--from copies one mirror and cannot be combined with --${other}`, `Omit --${other}.`);
}

/** A share is one of many exports, and one way to share is enough. */
function assertShared(options: MirrorCommandOptions): void {
  const { list, all, shard, queue, to } = options;
  const many = list !== undefined || all !== undefined;
  assertQueue(options, to);
  const one = Object.entries({ shard, queue }).find(([, value]) => value !== undefined);
  if (one !== undefined && !many)
    throw usageError(`--${one[0]} is for many exports`, 'Name them with --list FILE or --all.');
  if (shard !== undefined && queue !== undefined)
    throw usageError('--shard and --queue both share the work', 'Leave one of them out.');
}

/** A look writes nothing, so it has no store to fill, no lock to take and nothing to retain. */
export function refuseWriting(options: MirrorCommandOptions): void {
  const { store, waitLock, s3RetainUntil, s3LegalHold, queue } = options;
  const given = Object.entries({
    '--store': store,
    '--wait-lock': waitLock,
    '--s3-retain-until': s3RetainUntil,
    '--s3-legal-hold': s3LegalHold,
    '--queue': queue,
  }).find(([, value]) => value !== undefined);
  if (given !== undefined)
    throw usageError(`${given[0]} is for writing, and --check writes nothing`, 'Leave one of them out.');
}

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
