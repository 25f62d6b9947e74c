import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json/parse.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';
import { isAlive } from '../volume/lock.ts';
import type { Bucket, ListedObject } from './bucket.ts';
import { readObject } from './objects.ts';

/** A lock on a prefix that lasts while it is renewed. */
export type Lease = {
  /** Checks that this process still has it, before a file gets its final name. @throws DrillproofError `io.LOCKED` */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
};

export type LeaseOptions = {
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
  const { ttlMs = 60_000, elapsedMs = () => performance.now() } = options;
  const nonce = randomBytes(8).toString('hex');
  for (let tries = 0; tries < TRIES; tries++) {
    const generations = await listGenerations(bucket, folder);
    const last = generations.at(-1);
    if (last !== undefined) await assertDead(bucket, last.object, ttlMs);
    const key = formatKey(folder, (last?.number ?? 0) + 1);
    const takenAtMs = elapsedMs();
    if (!(await create(bucket, key, nonce))) continue;
    if (!(await isHolder(bucket, folder, key, nonce))) break;
    for (const { object } of generations) await bucket.remove(object.key);
    return keepLease({ bucket, folder, key, nonce, ttlMs, elapsedMs }, takenAtMs);
  }
  throw lockedError(bucket, folder, 'another process');
}

type HeldLease = Required<LeaseOptions> & {
  readonly bucket: Bucket;
  readonly folder: string;
  readonly key: string;
  readonly nonce: string;
};

function keepLease(current: HeldLease, takenAtMs: number): Lease {
  const { bucket, folder, key, nonce, ttlMs, elapsedMs } = current;
  let renewedAtMs = takenAtMs;
  let lost = false;
  const renew = async (): Promise<void> => {
    const startedAtMs = elapsedMs();
    lost ||= !(await isHolder(bucket, folder, key, nonce));
    if (lost) throw lockedError(bucket, folder, 'another process, which took it over');
    await bucket.put(key, formatHolder(nonce));
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
      // After a renewal, no other process takes it over before its object is removed.
      if (!lost)
        await renew()
          .then(() => bucket.remove(key))
          .catch((cause: unknown) => {
            // The work is done, and a lease that cannot be removed expires.
            if (!(cause instanceof DrillproofError)) throw cause;
          });
    },
  };
}

const formatKey = (folder: string, number: number): string => `${folder}${String(number).padStart(9, '0')}`;

async function listGenerations(bucket: Bucket, folder: string): Promise<Generation[]> {
  const generations: Generation[] = [];
  for await (const object of bucket.list(folder)) {
    const digits = object.key.slice(folder.length);
    if (/^\d{9}$/.test(digits)) generations.push({ number: Number(digits), object });
  }
  return generations.toSorted((a, b) => a.number - b.number);
}

/** Creates the object of a generation; `false` if another process was first. */
async function create(bucket: Bucket, key: string, nonce: string): Promise<boolean> {
  const bytes = formatHolder(nonce);
  const when = { ifAbsent: true } as const;
  const first = await bucket.put(key, bytes, { when });
  // The conflict may be with an earlier attempt of this request, whose answer was lost.
  if (first.outcome === 'conflict') return (await readHolder(bucket, key))?.nonce === nonce;
  // A server that creates it twice ignores the condition. Then the last process to create it holds the lease.
  if ((await bucket.put(key, bytes, { when })).outcome === 'written') await pause(SETTLE_MS);
  return true;
}

async function isHolder(bucket: Bucket, folder: string, key: string, nonce: string): Promise<boolean> {
  const last = (await listGenerations(bucket, folder)).at(-1);
  return last?.object.key === key && (await readHolder(bucket, key))?.nonce === nonce;
}

async function readHolder(bucket: Bucket, key: string): Promise<Holder | undefined> {
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
