import { type Command, Option } from 'commander';
import { defined } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { bagSink } from '../../mirror/bag-sink.ts';
import { createPacer } from '../../mirror/pace.ts';
import { type MirrorClient, replicaClient } from '../../mirror/replica.ts';
import type { MirrorOptions } from '../../mirror/run.ts';
import type { MirrorSink } from '../../mirror/sink.ts';
import { isS3Url, parseS3Location, type Retention } from '../../node/s3/location.ts';
import { mirrorDirectory, type MirrorDirectoryOptions } from '../../node/volume/mirror.ts';
import { openPartStore } from '../../node/volume/part-store.ts';
import { openScrubArchive, type ScrubArchive } from '../../node/scrub-archive.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import { findSetOption, type RemoteOptions, parseTime } from '../shared/options/options.ts';
import { assertQueue, type QueueOptions } from '../shared/options/queue.ts';
import { usageError } from '../shared/options/values.ts';
import { readVersion } from '../shared/output/product.ts';
import { pathToFileURL } from 'node:url';
import type { ExportRef } from '../../client/client.ts';
import { DrillproofError } from '../../errors.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { type EvidenceSource, readFile } from '../../evidence/source.ts';
import { EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../evidence/export/pack-export.ts';
import { parseExportManifest, parseExportResource } from '../../evidence/export/manifest.ts';

/** With a queue, the lease of a dead worker in S3 expires within a minute. */
const LEASE_WAIT_MS = 120_000;
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

export type MirrorCommandOptions = RemoteOptions &
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
  };

export async function openSetting(cli: Cli, client: MirrorClient, options: MirrorCommandOptions) {
  const { manifest: file, limitRate, concurrency, wait, expectManifest } = options;
  const manifest = file === undefined ? undefined : await readInput(file, MAX_MANIFEST_BYTES, cli);
  const tool = await readToolName();
  const directory = await openShared(cli, options);
  const common = {
    client,
    pacer: createPacer({ concurrency, ...defined({ bytesPerSecond: limitRate }) }),
    concurrency,
    withoutLocalReports: options.withoutLocalReports === true,
    tool,
    signal: cli.signal,
    now: cli.now,
    ...defined({ waitMs: wait, expectManifest, manifest }),
  };
  return async (evidenceExportId: string, to: string): Promise<MirrorOptions> => {
    const sink = await openSink(cli, to, options, directory);
    return { ...common, to: options.bagit === true ? bagSink(sink, { tool, evidenceExportId }) : sink };
  };
}

export const readToolName = async (): Promise<string> => `drillproof/${await readVersion()}`;

async function openShared(
  cli: Cli,
  { store, queue, waitLock = queue === undefined ? undefined : LEASE_WAIT_MS }: MirrorCommandOptions,
): Promise<MirrorDirectoryOptions> {
  if (store !== undefined && isS3Url(store)) throw usageError('--store is a folder of this machine');
  return defined({
    store: store === undefined ? undefined : await openPartStore(store),
    lock: waitLock === undefined ? undefined : { waitMs: waitLock, signal: cli.signal },
  });
}

/** Requires an id, --list or --all, and refuses options that do not apply to it. */
export function assertOneSelection(
  evidenceExportId: string | undefined,
  options: MirrorCommandOptions,
): void {
  const { list, all, since, from } = options;
  if (from !== undefined) return assertFrom(options);
  const ways = [evidenceExportId, list, all].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw usageError('one of these is needed: the id of an export, --list FILE, --all', 'Pass exactly one.');
  if (since !== undefined && all === undefined) throw usageError('--since needs --all', 'Add --all.');
  assertQueue(options, options.to);
  const [stray, hint] =
    evidenceExportId === undefined
      ? [findSetOption(options, ['manifest', 'expectManifest']), 'Name the export by its id.']
      : [findSetOption(options, ['queue']), 'Name the exports with --list FILE or --all.'];
  if (stray !== undefined)
    throw usageError(
      `${stray} is for ${evidenceExportId === undefined ? 'one export' : 'many exports'}`,
      hint,
    );
}

function assertFrom(options: MirrorCommandOptions): void {
  const other = findSetOption(options, [
    ...(['url', 'tokenFile', 'caFile', 'timeout', 'list', 'all', 'since'] as const),
    ...(['queue', 'wait', 'manifest'] as const),
  ]);
  if (other !== undefined)
    throw usageError(`--from copies one mirror and cannot be combined with ${other}`, `Omit ${other}.`);
}

export function refuseWriting(options: MirrorCommandOptions): void {
  const stray = findSetOption(options, ['store', 'waitLock', 's3RetainUntil', 's3LegalHold', 'queue']);
  if (stray !== undefined)
    throw usageError(`${stray} is for writing, and --check writes nothing`, 'Omit one of them.');
}

type SinkOptions = {
  readonly s3RetainUntil?: number;
  readonly s3LockMode?: 'governance' | 'compliance';
  readonly s3LegalHold?: boolean;
  readonly bagit?: boolean;
};

export function addSinkOptions(command: Command): Command {
  return command
    .option('--bagit', 'write a BagIt bag (RFC 8493), with the export under data/')
    .option(
      '--s3-retain-until <time>',
      'retain every object until then with the object lock of the bucket',
      parseTime,
    )
    .addOption(
      new Option(
        '--s3-lock-mode <mode>',
        'who may remove the lock early: governance, users with a special permission; compliance, no user (default: governance)',
      ).choices(['governance', 'compliance']),
    )
    .option('--s3-legal-hold', 'put a legal hold on every object');
}

async function openSink(
  cli: Cli,
  to: string,
  options: SinkOptions,
  directory: MirrorDirectoryOptions,
): Promise<MirrorSink> {
  const retention = readRetention(cli, options);
  if (!isS3Url(to)) {
    if (Object.keys(retention).length === 0) return mirrorDirectory(to, directory);
    throw usageError('the options --s3-… are for mirrors in S3', 'Omit them, or name s3://bucket/prefix.');
  }
  const { mirrorS3 } = await import('../../node/s3/mirror.ts');
  return mirrorS3(parseS3Location(to, { name: 'the address in S3', code: 'usage.INVALID' }), {
    env: cli.env,
    retention,
    ...directory,
  });
}

const MODES = { governance: 'GOVERNANCE', compliance: 'COMPLIANCE' } as const;

function readRetention(cli: Cli, { s3RetainUntil, s3LockMode, s3LegalHold }: SinkOptions): Retention {
  if (s3RetainUntil === undefined && s3LockMode !== undefined) {
    throw usageError('--s3-lock-mode needs --s3-retain-until', 'Add --s3-retain-until TIME.');
  }
  if (s3RetainUntil !== undefined && s3RetainUntil <= cli.now()) {
    throw usageError('--s3-retain-until is in the past');
  }
  const mode = MODES[s3LockMode ?? 'governance'];
  return defined({
    retain: s3RetainUntil === undefined ? undefined : { mode, untilMs: s3RetainUntil },
    legalHold: s3LegalHold,
  });
}

/** A second mirror as the source of files. Nothing in it is trusted: each file is verified like a download. */
type Replica = { readonly source: EvidenceSource; readonly client: MirrorClient };

export async function openReplicas(cli: Cli, place: string) {
  const archive = await openScrubArchive(place, { env: cli.env });
  return {
    /** Opens the mirror of that name in the archive, or the only mirror. */
    async open(name: string | undefined): Promise<Replica> {
      const mirror = archive.open(selectMirror(archive, name, place));
      const { source } = await mirror.look();
      return { source, client: replicaClient(source, formatAddress(mirror.place)) };
    },
    close: () => archive.close(),
  };
}

function selectMirror({ single, mirrors }: ScrubArchive, name: string | undefined, place: string): string {
  const [only] = mirrors;
  if (single && only !== undefined) return only;
  if (name !== undefined && mirrors.includes(name)) return name;
  const what = name === undefined ? 'is not a mirror' : `contains no mirror ${name}`;
  throw new DrillproofError('scrub.REPLICA_UNREADABLE', `${place} ${what}`, { path: place });
}

/** Formats a place for receipts, without secrets. */
const formatAddress = (place: string): string => (isS3Url(place) ? place : pathToFileURL(place).href);

export async function readExportRef(
  { source }: Replica,
  { evidenceExportId, projectId }: Partial<ExportRef>,
): Promise<ExportRef> {
  const { documentBytes, manifestBytes } = DEFAULT_LIMITS;
  const resource = parseExportResource(await readFile(source, EXPORT_RESOURCE, documentBytes));
  const exportId = evidenceExportId ?? resource.evidenceExportId;
  if (projectId !== undefined) return { evidenceExportId: exportId, projectId };
  if (resource.scope.kind === 'project')
    return { evidenceExportId: exportId, projectId: resource.scope.projectId };
  const manifest = parseExportManifest(await readFile(source, EXPORT_MANIFEST, manifestBytes));
  const [row] = [...manifest.parts, ...manifest.localReports];
  if (row !== undefined) return { evidenceExportId: exportId, projectId: row.projectId };
  throw new DrillproofError('usage.INVALID', 'the second mirror names no project', {
    details: { hint: 'Name the project for the receipt with --project ID.' },
  });
}
