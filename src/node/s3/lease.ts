import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { parseJson, toUtf8 } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { isAlive } from '../volume/lock.ts';
import type { Bucket, ListedObject } from './bucket.ts';
import { readObject } from './objects.ts';

/** The sole right to write below a prefix while it is renewed. */
export type Lease = {
  /** Checks that it is still ours, before anything gets a final name. @throws DrillproofError `io.LOCKED` */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
};

export type LeaseOptions = {
  /** How long after its last renewal it can be taken over; default a minute. It is renewed four times in this time. */
  readonly ttlMs?: number;
  /** A clock that only goes forward; default `performance.now`. */
  readonly elapsedMs?: () => number;
};

const holderSchema = z.object({
  nonce: z.string(),
  host: z.string(),
  machine: z.optional(z.string()),
  pid: z.int().check(z.positive()),
});
type Holder = z.infer<typeof holderSchema>;
type Generation = { readonly number: number; readonly object: ListedObject };

const MAX_HOLDER_BYTES = 4096;
const TRIES = 5;
/** Longer than the request of a process that has looked and is about to write. */
const SETTLE_MS = 2_000;

/**
 * Takes the lease of a prefix. It is a series of numbered objects, and the holder is the one of the highest number. Each
 * is created only if there is none, so only one of several processes can take over a dead lease. A holder that sees a
 * higher number, or not its own, has lost the lease. Ages are measured by the clock of the storage.
 * @throws DrillproofError `io.LOCKED`
 */
export async function takeLease(bucket: Bucket, folder: string, options: LeaseOptions = {}): Promise<Lease> {
  const { ttlMs = 60_000, elapsedMs = () => performance.now() } = options;
  const nonce = randomBytes(8).toString('hex');
  for (let tries = 0; tries < TRIES; tries++) {
    const row = await generations(bucket, folder);
    const last = row.at(-1);
    if (last !== undefined) await assertDead(bucket, last.object, ttlMs);
    const key = keyOf(folder, (last?.number ?? 0) + 1);
    const takenAtMs = elapsedMs();
    if (!(await create(bucket, key, nonce))) continue;
    if (!(await isOurs(bucket, folder, key, nonce))) break;
    for (const { object } of row) await bucket.remove(object.key);
    return keepLease({ bucket, folder, key, nonce, ttlMs, elapsedMs }, takenAtMs);
  }
  throw lockedError(bucket, folder, 'another process');
}

type OwnLease = Required<LeaseOptions> & {
  readonly bucket: Bucket;
  readonly folder: string;
  readonly key: string;
  readonly nonce: string;
};

function keepLease(current: OwnLease, takenAtMs: number): Lease {
  const { bucket, folder, key, nonce, ttlMs, elapsedMs } = current;
  let renewedAtMs = takenAtMs;
  let lost = false;
  const renew = async (): Promise<void> => {
    const startedAtMs = elapsedMs();
    lost ||= !(await isOurs(bucket, folder, key, nonce));
    if (lost) throw lockedError(bucket, folder, 'another process, which took it over');
    await bucket.put(key, holderBytes(nonce));
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
      // Renewed first, so that it cannot be taken over before its object is removed.
      if (!lost)
        await renew()
          .then(() => bucket.remove(key))
          .catch(ignoreFailure);
    },
  };
}

function ignoreFailure(cause: unknown): void {
  if (!(cause instanceof DrillproofError)) throw cause;
  // A lease that cannot be removed expires; the work is done.
}

const keyOf = (folder: string, number: number): string => `${folder}${String(number).padStart(9, '0')}`;

async function generations(bucket: Bucket, folder: string): Promise<Generation[]> {
  const row: Generation[] = [];
  for await (const object of bucket.list(folder)) {
    const digits = object.key.slice(folder.length);
    if (/^\d{9}$/.test(digits)) row.push({ number: Number(digits), object });
  }
  return row.toSorted((a, b) => a.number - b.number);
}

/** Creates the object of a generation; `false` if another process was first. */
async function create(bucket: Bucket, key: string, nonce: string): Promise<boolean> {
  const bytes = holderBytes(nonce);
  const when = { ifAbsent: true } as const;
  const first = await bucket.put(key, bytes, { when });
  // The conflict may be with an earlier attempt of this request, whose answer was lost.
  if (first.outcome === 'conflict') return (await holderOf(bucket, key))?.nonce === nonce;
  // A server that creates it twice ignores the condition. Then the last process to create it holds the lease.
  if ((await bucket.put(key, bytes, { when })).outcome === 'written') await pause(SETTLE_MS);
  return true;
}

async function isOurs(bucket: Bucket, folder: string, key: string, nonce: string): Promise<boolean> {
  const last = (await generations(bucket, folder)).at(-1);
  return last?.object.key === key && (await holderOf(bucket, key))?.nonce === nonce;
}

async function holderOf(bucket: Bucket, key: string): Promise<Holder | undefined> {
  const facts = await bucket.facts(key);
  if (facts === undefined || facts.bytes > MAX_HOLDER_BYTES) return undefined;
  try {
    return parseHolder(await readObject(bucket, { key, ...facts }));
  } catch (cause) {
    if (cause instanceof DrillproofError && cause.code === 'io.CHANGED') return undefined; // it was renewed or released
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
  const holder = await holderOf(bucket, key);
  const isLocal = holder?.machine !== undefined && holder.machine === machineId();
  if (isLocal && !isAlive(holder.pid)) return;
  const ageMs = (bucket.serverTimeMs() ?? 0) - modifiedMs;
  if (ageMs > ttlMs) return;
  throw lockedError(
    bucket,
    key,
    holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`,
  );
}

const holderBytes = (nonce: string): Uint8Array => {
  const holder: Holder = { nonce, host: hostname(), machine: machineId(), pid: process.pid };
  return toUtf8(JSON.stringify(holder));
};

/** Equal for processes that can see each other: the same boot of the same Linux, and the same namespace of pids. */
function machineId(): string | undefined {
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
