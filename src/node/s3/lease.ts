import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json/parse.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { isAlive } from '../volume/lock.ts';
import type { Bucket, ListedObject, Written } from './bucket.ts';
import { listTree, readObject } from './objects.ts';

/** A lock on a prefix that lasts while it is renewed. */
export type Lease = {
  /** The objects below `prefix` at the time when this process got it. */
  readonly tree: Tree;
  /** Checks that this process still has it, before a file gets its final name. @throws DrillproofError `io.LOCKED` */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
};

export type LeaseOptions = {
  /** The prefix that it protects; default the folder of the lease. */
  readonly prefix?: string;
  /** The time that it lasts after a renewal; default a minute. It is renewed four times in that time. */
  readonly ttlMs?: number;
  /** A clock that is never set back; default `performance.now`. */
  readonly elapsedMs?: () => number;
};

const holderSchema = z.object({
  nonce: z.string(),
  host: z.string(),
  machine: z.optional(z.string()),
  pid: z.int().check(z.positive()),
});
type Holder = z.infer<typeof holderSchema>;
type Tree = Awaited<ReturnType<typeof listTree>>;
type Generation = { readonly number: number; readonly object: ListedObject };

const MAX_HOLDER_BYTES = 4096;
const TRIES = 5;
/** Longer than the request of a process that has listed the lease and is about to write. */
const SETTLE_MS = 2_000;

/**
 * Takes the lease of a prefix. It is a series of numbered objects, and the process that wrote the highest number holds the
 * lease. Each number is created only if it is missing, so only one of several processes can take over a dead lease. A
 * holder that finds a higher number, or that its number is missing, has lost the lease. The clock of the storage measures
 * ages.
 * @throws DrillproofError `io.LOCKED`
 */
export async function takeLease(bucket: Bucket, folder: string, options: LeaseOptions = {}): Promise<Lease> {
  const { ttlMs = 60_000, elapsedMs = () => performance.now(), prefix = folder } = options;
  const nonce = randomBytes(8).toString('hex');
  let generations: readonly Generation[] = [];
  for (let tries = 0; tries < TRIES; tries++) {
    const last = generations.at(-1);
    if (last !== undefined) await assertDead(bucket, last.object, ttlMs);
    const name = { bucket, folder, nonce, key: formatKey(folder, (last?.number ?? 0) + 1) };
    const takenAtMs = elapsedMs();
    // The first try expects no other lease, so that it needs no list before.
    const etag = await create(name);
    const tree = await listTree(bucket, prefix);
    const others = findGenerations(folder, tree).filter(({ object }) => object.key !== name.key);
    if (etag !== undefined && (await isHolder(name, etag, tree))) {
      for (const { object } of others) await bucket.remove(object.key);
      return { ...keepLease({ ...name, etag, ttlMs, elapsedMs }, takenAtMs), tree };
    }
    generations = etag === undefined ? findGenerations(folder, tree) : others;
    if (etag === undefined) continue;
    // Without a higher number, another process overwrote ours.
    if (tries > 0 || others.length === 0) break;
    await bucket.remove(name.key);
  }
  throw lockedError(bucket, folder, 'another process');
}

type LeaseName = {
  readonly bucket: Bucket;
  readonly folder: string;
  readonly key: string;
  readonly nonce: string;
};
type HeldLease = LeaseName & Required<Omit<LeaseOptions, 'prefix'>> & { readonly etag: string };

function keepLease(current: HeldLease, takenAtMs: number): Omit<Lease, 'tree'> {
  const { bucket, folder, key, nonce, ttlMs, elapsedMs } = current;
  let renewedAtMs = takenAtMs;
  let { etag } = current;
  let lost = false;
  const renew = async (): Promise<void> => {
    const startedAtMs = elapsedMs();
    lost ||= !(await isHolder(current, etag, await listTree(bucket, folder)));
    if (lost) throw lockedError(bucket, folder, 'another process, which took it over');
    const written = await bucket.put(key, formatHolder(nonce));
    etag = readTag(written);
    renewedAtMs = startedAtMs;
  };
  // A failed renewal is repeated when the lease is needed.
  const timer = setInterval(() => void renew().catch(() => undefined), ttlMs / 4).unref();
  return {
    async assertHeld() {
      if (lost || elapsedMs() - renewedAtMs > ttlMs / 2) await renew();
    },
    async release() {
      clearInterval(timer);
      if (lost) return;
      try {
        // Soon after a renewal, no other process takes it over before its object is removed.
        if (elapsedMs() - renewedAtMs > ttlMs / 4) await renew();
        await bucket.remove(key);
      } catch (cause) {
        // The work is done, and a lease that cannot be removed expires.
        if (!(cause instanceof DrillproofError)) throw cause;
      }
    },
  };
}

const formatKey = (folder: string, number: number): string => `${folder}${String(number).padStart(9, '0')}`;

function findGenerations(folder: string, tree: Tree): Generation[] {
  return [...tree.values()]
    .filter(({ key }) => key.startsWith(folder) && /^\d{9}$/.test(key.slice(folder.length)))
    .map((object) => ({ number: Number(object.key.slice(folder.length)), object }))
    .toSorted((a, b) => a.number - b.number);
}

/** Buckets of servers that refused to create an object twice. */
const honouring = new WeakSet<Bucket>();

const readTag = (written: Written): string => (written.outcome === 'written' && written.etag) || '';

/** Creates the object of a generation, and returns its entity tag; `undefined` if another process was first. */
async function create({ bucket, key, nonce }: LeaseName): Promise<string | undefined> {
  const bytes = formatHolder(nonce);
  const options = { when: { ifAbsent: true }, checksums: true } as const;
  const first = await bucket.put(key, bytes, options);
  // The conflict may be with an earlier attempt of this request, whose answer was lost.
  if (first.outcome === 'conflict')
    return (await readHolder(bucket, key))?.nonce === nonce ? readTag(first) : undefined;
  if (honouring.has(bucket)) return readTag(first);
  // A server that creates it twice ignores the condition. Then the last process to create it holds the lease.
  if ((await bucket.put(key, bytes, options)).outcome === 'written') await pause(SETTLE_MS);
  else honouring.add(bucket);
  return readTag(first);
}

/** Checks if the newest generation is ours: by its entity tag, or by reading it if the server does not keep tags. */
async function isHolder(
  { bucket, folder, key, nonce }: LeaseName,
  etag: string,
  tree: Tree,
): Promise<boolean> {
  const last = findGenerations(folder, tree).at(-1)?.object;
  return last?.key === key && (last.etag === etag || (await readHolder(bucket, key))?.nonce === nonce);
}

async function readHolder(bucket: Bucket, key: string): Promise<Holder | undefined> {
  const facts = await bucket.facts(key);
  if (facts === undefined || facts.bytes > MAX_HOLDER_BYTES) return undefined;
  try {
    return parseHolder(await readObject(bucket, { key, ...facts }));
  } catch (cause) {
    if (hasCode(cause, 'io.CHANGED')) return undefined; // it was renewed or released
    throw cause;
  }
}

function parseHolder(bytes: Uint8Array): Holder | undefined {
  try {
    return holderSchema.safeParse(parseJson(bytes)).data;
  } catch {
    return undefined;
  }
}

/** @throws DrillproofError `io.LOCKED` while the holder of a lease may be alive */
async function assertDead(bucket: Bucket, { key, modifiedMs }: ListedObject, ttlMs: number): Promise<void> {
  const holder = await readHolder(bucket, key);
  const isLocal = holder?.machine !== undefined && holder.machine === readMachineId();
  if (isLocal && !isAlive(holder.pid)) return;
  const ageMs = (bucket.serverTimeMs() ?? 0) - modifiedMs;
  if (ageMs > ttlMs) return;
  throw lockedError(
    bucket,
    key,
    holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`,
  );
}

const formatHolder = (nonce: string): Uint8Array => {
  const holder: Holder = { nonce, host: hostname(), machine: readMachineId(), pid: process.pid };
  return toUtf8(JSON.stringify(holder));
};

/** Identifies the boot of a Linux and its namespace of pids, in which processes can see each other. */
function readMachineId(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

function lockedError(bucket: Bucket, key: string, holder: string): DrillproofError {
  const path = bucket.nameOf(key);
  return new DrillproofError('io.LOCKED', `the target is in use by ${holder}`, { path });
}
