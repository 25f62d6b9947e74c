import { resolve, sep } from 'node:path';
import { defined } from '../../bytes/arguments.ts';
import { bagSink } from '../../mirror/bag-sink.ts';
import { createPacer } from '../../mirror/pace.ts';
import type { MirrorOptions } from '../../mirror/run.ts';
import type { MirrorSink } from '../../mirror/sink.ts';
import { isS3Url, parseS3Location, type Retention } from '../../node/s3/location.ts';
import { mirrorDirectory, type MirrorDirectoryOptions } from '../../node/volume/mirror.ts';
import { openPartStore } from '../../node/volume/part-store.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import { assertQueue } from '../shared/options/queue.ts';
import { usageError } from '../shared/options/values.ts';
import { readToolName } from '../shared/output/product.ts';
import type { MirrorCommandOptions, SinkOptions } from './options.ts';

/** With a queue, the lease of a dead worker in S3 expires within a minute. */
const LEASE_WAIT_MS = 120_000;
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

export async function openSetting(cli: Cli, options: MirrorCommandOptions) {
  const { manifest: file, limitRate, concurrency, wait, expectManifest } = options;
  const manifest = file === undefined ? undefined : await readInput(file, MAX_MANIFEST_BYTES, cli);
  const tool = await readToolName();
  const openSink = await openSinks(cli, options);
  const common = {
    pacer: createPacer({ concurrency, ...defined({ bytesPerSecond: limitRate }) }),
    concurrency,
    withoutLocalReports: options.withoutLocalReports === true,
    tool,
    signal: cli.signal,
    now: cli.now,
    ...defined({ waitMs: wait, expectManifest, manifest }),
  };
  return async (evidenceExportId: string, to: string): Promise<Omit<MirrorOptions, 'client'>> => {
    const sink = openSink(to);
    const { bagit, bagInfo: info = [] } = options;
    return { ...common, to: bagit === true ? bagSink(sink, { tool, evidenceExportId, info }) : sink };
  };
}

async function openShared(
  cli: Cli,
  { to, store, queue, waitLock = queue === undefined ? undefined : LEASE_WAIT_MS }: MirrorCommandOptions,
): Promise<MirrorDirectoryOptions> {
  if (store !== undefined && (isS3Url(store) || isS3Url(to)))
    throw usageError(
      '--store is for mirrors in folders, and is a folder itself',
      'Copy between archives with --from.',
    );
  if (store !== undefined && `${resolve(store)}${sep}`.startsWith(`${resolve(to)}${sep}`))
    throw usageError('--store is inside --to', 'Name a folder outside the mirrors, on the same file system.');
  return defined({
    store: store === undefined ? undefined : await openPartStore(store),
    lock: waitLock === undefined ? undefined : { waitMs: waitLock, signal: cli.signal },
  });
}

/** Requires --from, or exactly one of an id, --list and --all. */
export function assertOneSelection(
  evidenceExportId: string | undefined,
  options: MirrorCommandOptions,
): void {
  const { list, all, from, to } = options;
  const labels = (options.bagInfo ?? []).map(([label]) => label.toLowerCase());
  const twice = ONCE.find((once) => labels.indexOf(once) !== labels.lastIndexOf(once));
  if (twice !== undefined || labels.length > MAX_FIELDS)
    throw usageError(
      twice === undefined ? `more than ${MAX_FIELDS} --bag-info` : `two --bag-info ${twice}`,
      'Omit some.',
    );
  if (from !== undefined && list === undefined && all === undefined) return;
  const ways = [evidenceExportId, list, all].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw usageError('one of these is needed: the id of an export, --list FILE, --all', 'Pass exactly one.');
  if (options.deleted === 'follow' && options.followAfter === undefined)
    throw usageError('--deleted follow needs --follow-after', 'Pass the time to wait, such as 90d.');
  assertQueue(options, to);
}

/** Fields of a bag that should not repeat (RFC 8493 §2.2.2). */
const ONCE = ['bagging-date', 'bag-size', 'bag-group-identifier', 'bag-count'];
const MAX_FIELDS = 64;

/** Opens the targets of a run: folders, or prefixes of one bucket. */
async function openSinks(cli: Cli, options: MirrorCommandOptions): Promise<(to: string) => MirrorSink> {
  const directory = await openShared(cli, options);
  const retention = readRetention(cli, options);
  if (!isS3Url(options.to)) {
    if (Object.keys(retention).length === 0) return (to) => mirrorDirectory(to, directory);
    throw usageError('the options --s3-… are for mirrors in S3', 'Omit them, or name s3://bucket/prefix.');
  }
  const { mirrorBucket } = await import('../../node/s3/mirror.ts');
  const openPrefix = mirrorBucket(parsePlace(options.to), {
    env: cli.env,
    retention,
    ...defined({ lock: directory.lock }),
  });
  return (to) => openPrefix(parsePlace(to).prefix);
}

const parsePlace = (to: string) => parseS3Location(to, { name: 'the address in S3', code: 'usage.INVALID' });

const MODES = { governance: 'GOVERNANCE', compliance: 'COMPLIANCE' } as const;

function readRetention(cli: Cli, { s3RetainUntil, s3LockMode, s3LegalHold }: SinkOptions): Retention {
  if (s3RetainUntil !== undefined && s3RetainUntil <= cli.now())
    throw usageError('--s3-retain-until is in the past');
  const mode = MODES[s3LockMode ?? 'governance'];
  return defined({
    retain: s3RetainUntil === undefined ? undefined : { mode, untilMs: s3RetainUntil },
    legalHold: s3LegalHold,
  });
}
