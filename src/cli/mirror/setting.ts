import type { Digest } from '../../bytes/index.ts';
import { createPacer, type MirrorClient, type MirrorOptions } from '../../mirror/index.ts';
import { type MirrorDirectoryOptions, openPartStore } from '../../node/index.ts';
import { isS3Url } from '../../node/s3/index.ts';
import type { Shard } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import { sinkOf, type SinkOptions } from './sink.ts';
import { assertQueue, type QueueOptions } from '../shared/options/queue.ts';
import type { RemoteOptions } from '../shared/input/remote.ts';
import { usageError } from '../shared/options/usage.ts';
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
