import {
  checkArguments,
  compareUtf8,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TEXT,
  withMembers,
} from '../../../bytes/index.ts';
import { DrillproofError } from '../../../errors.ts';
import type { Expected, MirrorSink, MirrorTarget, MirrorView } from '../../../mirror/index.ts';
import { PRIVATE } from '../../mirror/tree.ts';
import { LOCK_WAIT, whenFree, type LockWait } from '../../mirror/lock.ts';
import { PART_STORE, type PartStore } from '../../mirror/part-store.ts';
import { adopt } from './adopt.ts';
import { openBucket, type Bucket, type ObjectFacts } from '../bucket.ts';
import { takeLease } from './lease.ts';
import type { AwsEnvironment, S3Location } from '../location.ts';
import { assertLockable, ensureRetained } from './lock.ts';
import { streamObject } from '../object-stream.ts';
import { openPartial } from './partial.ts';
import { keyIn, writeSmall, type Place } from './place.ts';
import { asksForLock, RETENTION, type Retention } from './retention.ts';
import { loadSdk } from '../sdk.ts';
import { sweepUploads } from './sweep.ts';
import { listTree } from './tree.ts';

/** The options of `mirrorS3`. All are optional. */
export type MirrorS3Options = {
  /** Where the AWS variables are; default `process.env`. */
  readonly env?: AwsEnvironment;
  /** How long the storage is to keep what is written here; default as the bucket does. */
  readonly retention?: Retention;
  /** Files of this machine that need not be fetched; what is fetched is put there, what lies in the bucket is not. */
  readonly store?: PartStore;
  /** How long to wait for another process that writes to the prefix; default: not at all. */
  readonly lock?: LockWait;
};
const S3_OPTIONS: MembersOf<MirrorS3Options> = {
  env: optional(OBJECT),
  retention: optional(optionsOf(RETENTION)),
  store: optional(PART_STORE),
  lock: optional(optionsOf(LOCK_WAIT)),
};

/** A mirror goes on for years: what passes in a minute is waited for. */
const ATTEMPTS = 6;
const CLAIM = `${PRIVATE}/claim.json`;
/** Where the files of an export lie, of a bag too, that can be large enough for an upload in parts (formats §1, Export). */
const LARGE = ['parts/', 'local-reports/', 'data/parts/', 'data/local-reports/'];

/**
 * A prefix of a bucket as the target of a mirror (formats §1, Export). Checked bytes become an object in one
 * conditional step, which fails if another writer made it; a lease on the prefix keeps other processes from writing.
 * @param options.retention how long the storage must keep the objects; default: as the bucket is configured
 * @throws TypeError for an argument of the wrong kind; its methods throw DrillproofError `io.PACKAGE_MISSING` without
 *   the SDK, `io.NOT_FOUND` without the bucket, `io.LOCKED`, `io.KIND`, `io.EXISTS`, `io.CHANGED`, `io.READ_ONLY`,
 *   `io.DISK_FULL`, `io.WRITE_FAILED`, `io.UNREADABLE`
 * @example
 * const to = mirrorS3({ bucket: 'evidence', prefix: 'mirrors/2026/', forcePathStyle: false });
 * await mirrorExport({ projectId, evidenceExportId }, { client, to });
 */
export function mirrorS3(location: S3Location, options: MirrorS3Options = {}): MirrorSink {
  checkArguments(
    { location: withMembers('an S3Location', { bucket: TEXT }), options: optionsOf(S3_OPTIONS) },
    { location, options },
  );
  const { env = process.env, retention = {}, lock, store } = options;
  const { prefix } = location;
  const connect = async (): Promise<Bucket> =>
    openBucket(await loadSdk(), location, { env, attempts: ATTEMPTS });
  const open = async (): Promise<MirrorTarget> => {
    const bucket = await connect();
    try {
      if (asksForLock(retention)) await assertLockable(bucket);
      return await whenFree(() => hold(bucket, prefix, retention, store), lock);
    } catch (cause) {
      bucket.client.destroy();
      throw cause;
    }
  };
  // With a retention, what is there already has to be retained too, which is no mere look.
  if (asksForLock(retention)) return { open };
  return { open, look: async () => lookAt(await connect(), prefix) };
}

async function hold(
  bucket: Bucket,
  prefix: string,
  retention: Retention,
  store: PartStore | undefined,
): Promise<MirrorTarget> {
  const lease = await takeLease(bucket, `${prefix}${PRIVATE}/lease/`);
  try {
    for (const folder of LARGE) await sweepUploads(bucket, prefix + folder);
    return target({ bucket, prefix, tree: await listTree(bucket, prefix), lease, retention }, store);
  } catch (cause) {
    await lease.release();
    throw cause;
  }
}

async function lookAt(bucket: Bucket, prefix: string): Promise<MirrorView | undefined> {
  const tree = await listTree(bucket, prefix);
  return tree.size === 0 ? undefined : view(bucket, prefix, tree);
}

const pathOf = (path: string): string => keyIn('', path);

function view(bucket: Bucket, prefix: string, tree: ReadonlyMap<string, ObjectFacts>): MirrorView {
  const read = async function* (path: string): AsyncGenerator<Uint8Array, void, undefined> {
    const facts = tree.get(path);
    const key = keyIn(prefix, path);
    if (facts === undefined)
      throw new DrillproofError('io.NOT_FOUND', `there is no object ${bucket.nameOf(key)}`, { path });
    yield* streamObject(bucket, { key, ...facts });
  };
  return {
    isEmpty: async () => [...tree.keys()].every((path) => path.startsWith(`${PRIVATE}/`)),
    size: async (path) => tree.get(pathOf(path))?.bytes,
    read,
    async list(folder) {
      const inside = [...tree.keys()].filter((path) => path.startsWith(`${folder}/`));
      return inside.filter((path) => !path.includes('/', folder.length + 1)).toSorted(compareUtf8);
    },
    async readClaim() {
      if (!tree.has(CLAIM)) return undefined;
      const pieces: Uint8Array[] = [];
      for await (const piece of read(CLAIM)) pieces.push(piece);
      return Buffer.concat(pieces);
    },
  };
}

function target(place: Place, store: PartStore | undefined): MirrorTarget {
  const { bucket, prefix, tree, lease, retention } = place;
  const unretained: Place = { ...place, retention: {} };
  return {
    ...view(bucket, prefix, tree),
    write: (path, bytes) => writeSmall(place, path, bytes),
    partial: async (path) => openPartial(place, path, await store?.begin()),
    ...(store !== undefined && {
      adopt: (path: string, expected: Expected) => adopt(place, store, path, expected),
    }),
    writeClaim: (bytes) => writeSmall(unretained, CLAIM, bytes),
    async clean() {
      await bucket.remove(prefix + CLAIM);
      tree.delete(CLAIM);
      if (!asksForLock(retention)) return;
      const files = [...tree.keys()].filter((path) => !path.startsWith(`${PRIVATE}/`));
      for (const path of files) await ensureRetained(bucket, prefix + path, retention);
    },
    async close() {
      await lease.release();
      bucket.client.destroy();
    },
  };
}
