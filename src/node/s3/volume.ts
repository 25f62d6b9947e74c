import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { PRIVATE } from '../../evidence/export/receipt.ts';
import type { OpenFile } from '../../evidence/source.ts';
import type { LogFile } from '../../mirror/inventory.ts';
import { CLAIM, MAX_LOG_BYTES, type VolumeFiles, type Hold, type Volume } from '../volume/volume.ts';
import { openBucket, type Bucket, type ObjectFacts } from './bucket.ts';
import { takeLease } from './lease.ts';
import {
  objectKey,
  parseS3Location,
  type AwsEnvironment,
  type Retention,
  type S3Location,
} from './location.ts';
import {
  listObjects,
  listTree,
  missingObject,
  objectAccess,
  readObject,
  s3Source,
  streamObject,
} from './objects.ts';
import { keyIn, writeSmall, type Place } from './place.ts';
import { needsLock, assertLockable, assertUnlocked, ensureRetained } from './retention.ts';
import { loadSdk } from './sdk.ts';
import { abortUploads, openUpload } from './upload.ts';

/** Mirrors run for years, so a failure of up to a minute is retried. */
const ATTEMPTS = 6;
const UPDATE_TRIES = 10;
const UPDATE_PAUSE_MS = 20;
const LEASE = `${PRIVATE}/lease/`;
/** The folders of an export or a bag with files that can be uploaded in parts (formats §1, Export). */
const LARGE = /^(?:data\/)?(?:parts|local-reports)\//;

export async function openS3Volume(url: string, env: AwsEnvironment): Promise<Volume> {
  const location = parseS3Location(url, { name: 'the address in S3', code: 'usage.INVALID' });
  const key = objectKey(url, location);
  return s3Volume(await connectTo(location, env), location.prefix, defined({ key }));
}

export const connectTo = async (location: S3Location, env: AwsEnvironment): Promise<Bucket> =>
  openBucket(await loadSdk(), location, { env, attempts: ATTEMPTS });

type PrefixOptions = {
  /** The retention of objects below the prefix; default: as the bucket does. */
  readonly retention?: Retention;
  /** The key of an object with the name of the prefix without its slash, if the address can name one. */
  readonly key?: string;
};

/** Uses a prefix of a bucket, empty or with a slash at its end, as a volume. */
export const s3Volume = (bucket: Bucket, prefix: string, options: PrefixOptions = {}): Volume => ({
  name: bucket.nameOf(prefix),
  list: () => bucket.listLevel(prefix),
  source: () => s3Source(bucket, prefix),
  openFile: async () => (options.key === undefined ? undefined : openObject(bucket, prefix, options.key)),
  async look() {
    const tree = await listTree(bucket, prefix);
    return tree.size === 0 ? undefined : openFiles(bucket, prefix, tree);
  },
  hold: () => holdPrefix(bucket, prefix, options.retention ?? {}),
  log: (path) => openLog(bucket, `${prefix}${path}`),
  stamps: (names) => stampPrefixes(bucket, prefix, names),
  async assertRemovable() {
    for await (const { key } of bucket.list(prefix)) await assertUnlocked(bucket, key);
  },
  async remove() {
    const lease = await takeLease(bucket, prefix + LEASE, { prefix });
    try {
      for (const path of lease.tree.keys())
        if (!path.startsWith(LEASE)) {
          await lease.assertHeld();
          await bucket.remove(prefix + path);
        }
    } finally {
      await lease.release();
    }
  },
  child: (name) => s3Volume(bucket, `${prefix}${name}/`),
  split() {
    const [, parent = '', name = ''] = /^(.*?)([^/]*)\/?$/s.exec(prefix) ?? [];
    return { parent: s3Volume(bucket, parent), name: name === '' ? 'bucket' : name };
  },
  close: async () => bucket.client.destroy(),
});

// The prefix is listed first, because only the error of a list states the reason.
async function openObject(bucket: Bucket, prefix: string, key: string): Promise<OpenFile | undefined> {
  const { folders, files } = await bucket.listLevel(prefix);
  const facts = await bucket.facts(key);
  if (facts === undefined) return undefined;
  if (folders.length + files.length === 0) return objectAccess(bucket, { key, ...facts });
  const path = bucket.nameOf(key);
  const message = `${path} is an object and a prefix; end the address with a slash to read the prefix`;
  throw new DrillproofError('io.KIND', message, { path });
}

function openFiles(bucket: Bucket, prefix: string, tree: ReadonlyMap<string, ObjectFacts>): VolumeFiles {
  return {
    isEmpty: async () => [...tree.keys()].every((path) => path.startsWith(`${PRIVATE}/`)),
    size: async (path) => tree.get(keyIn('', path))?.bytes,
    async *read(path) {
      const key = keyIn(prefix, path);
      const facts = tree.get(path);
      if (facts === undefined) throw missingObject(bucket, key, path);
      yield* streamObject(bucket, { key, ...facts });
    },
    list: async (folder) =>
      listObjects(tree).filter(({ path }) => folder === '' || path.startsWith(`${folder}/`)),
  };
}

async function holdPrefix(bucket: Bucket, prefix: string, retention: Retention): Promise<Hold> {
  if (needsLock(retention)) await assertLockable(bucket);
  const lease = await takeLease(bucket, prefix + LEASE, { prefix });
  try {
    // A killed run leaves its claim or a mirror next to its uploads.
    if ([...lease.tree.keys()].some((path) => !path.startsWith(LEASE)))
      await abortUploads(bucket, prefix, LARGE);
    return createHold({ bucket, prefix, tree: lease.tree, lease, retention });
  } catch (cause) {
    await lease.release();
    throw cause;
  }
}

function createHold(place: Place): Hold {
  const { bucket, prefix, tree, lease, retention } = place;
  return {
    ...openFiles(bucket, prefix, tree),
    write: (path, bytes) => writeSmall(place, path, bytes),
    partial: async (path) => openUpload(place, path),
    async clean() {
      if (tree.delete(CLAIM)) await bucket.remove(prefix + CLAIM);
      if (!needsLock(retention)) return;
      const files = [...tree.keys()].filter((path) => !path.startsWith(`${PRIVATE}/`));
      for (const path of files) await ensureRetained(bucket, prefix + path, retention);
    },
    release: () => lease.release(),
  };
}

/** Opens a log. An update writes a new object if the old one was not replaced since it was read. */
function openLog(bucket: Bucket, key: string): LogFile {
  const readAll = async (
    tries = UPDATE_TRIES,
  ): Promise<{ facts: ObjectFacts | undefined; bytes: Uint8Array }> => {
    const facts = await bucket.facts(key);
    if (facts === undefined || facts.bytes > MAX_LOG_BYTES) return { facts, bytes: new Uint8Array() };
    try {
      return { facts, bytes: await readObject(bucket, { key, ...facts }) };
    } catch (error) {
      // Another process wrote to it between the two requests.
      if (tries > 1 && hasCode(error, 'io.CHANGED')) return readAll(tries - 1);
      throw error;
    }
  };
  return {
    async read() {
      const { facts, bytes } = await readAll();
      return facts === undefined ? undefined : bytes;
    },
    async update(change) {
      for (let tries = 0; tries < UPDATE_TRIES; tries++) {
        const { facts, bytes } = await readAll();
        const written = await bucket.replace(key, change(bytes), facts?.etag);
        if (written.outcome === 'written') return;
        await sleep(Math.random() * UPDATE_PAUSE_MS * 2 ** tries);
      }
      const path = bucket.nameOf(key);
      const message = `cannot write ${path}: other processes keep writing to it`;
      throw new DrillproofError('io.WRITE_FAILED', message, { path });
    },
  };
}

/** Digests the names, sizes and entity tags below each of these prefixes, without the private files of a mirror. */
async function stampPrefixes(bucket: Bucket, prefix: string, names: readonly string[]) {
  const lines = new Map(names.map((name) => [name, [] as string[]]));
  const [only = ''] = names;
  const below = names.length === 1 ? `${only}/` : '';
  for await (const { key, bytes, etag } of bucket.list(prefix + below)) {
    const path = key.slice(prefix.length);
    const end = path.indexOf('/');
    if (!path.startsWith(`${PRIVATE}/`, end + 1))
      lines.get(path.slice(0, end))?.push(`${path} ${bytes} ${etag}`);
  }
  return new Map(
    [...lines].map(([name, all]) => [name, all.length === 0 ? '' : digestOf(toUtf8(all.join('\n')))]),
  );
}
