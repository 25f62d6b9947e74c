import type { Digest } from '../../bytes/hash.ts';
import type { Code } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { BlobRef, Store } from '../store/store.ts';

export type CheckFinding = { readonly code: Code; readonly digest: Digest; readonly bytes: number };

export type CheckReport = {
  /** The number of blobs that rows name, and their bytes. */
  readonly blobs: number;
  readonly bytes: number;
  readonly intact: number;
  /** Blobs that no row names and that will be removed. */
  readonly awaitingRemoval: number;
  /** Sorted by digest; orphans come last. */
  readonly findings: readonly CheckFinding[];
};

export type CheckOptions = {
  readonly signal?: AbortSignal;
  readonly onProgress?: (state: Readonly<Record<'done' | 'of' | 'bytes' | 'totalBytes', number>>) => void;
};

const PAGE = 500;
const CODES: Readonly<Record<'corrupt' | 'missing', Code>> = {
  corrupt: 'server.BLOB_CORRUPT',
  missing: 'server.BLOB_MISSING',
};

/** Lists all items of a list that is read in pages, each after the last key of the page before it. */
async function* listAll<T>(
  read: (after: string, limit: number) => Promise<readonly T[]>,
  keyOf: (item: T) => string,
  signal?: AbortSignal,
): AsyncGenerator<T> {
  for (let page = await read('', PAGE); page.length > 0; page = await read(keyOf(page.at(-1)!), PAGE)) {
    for (const item of page) {
      signal?.throwIfAborted();
      yield item;
    }
  }
}

const listReferenced = ({ blobs }: Store, signal: AbortSignal | undefined): AsyncGenerator<BlobRef> =>
  listAll(blobs.referenced, ({ digest }) => digest, signal);

async function sumBlobs(store: Store, signal: AbortSignal | undefined) {
  const sum = { of: 0, totalBytes: 0 };
  for await (const { bytes } of listReferenced(store, signal)) {
    sum.of++;
    sum.totalBytes += bytes;
  }
  return sum;
}

async function checkBlob(store: Store, blobs: Blobs, blob: BlobRef): Promise<Code | undefined> {
  try {
    const state = await blobs.verify(blob);
    if (state === 'intact') return undefined;
    // It may have been deleted since its row was read.
    return (await store.blobs.isReferenced(blob.digest)) ? CODES[state] : undefined;
  } catch (error) {
    if (error instanceof DrillproofError && error.code.startsWith('io.')) return error.code;
    throw error;
  }
}

async function findOrphans(store: Store, blobs: Blobs, signal: AbortSignal | undefined) {
  // Blobs that are queued for removal are not orphans.
  const removals = new Set<Digest>();
  for await (const digest of listAll(store.blobs.removals, (item) => item)) removals.add(digest);
  const findings: CheckFinding[] = [];
  let awaitingRemoval = 0;
  for await (const { digest, bytes } of blobs.list()) {
    signal?.throwIfAborted();
    if (await store.blobs.isReferenced(digest)) continue;
    if (removals.has(digest)) awaitingRemoval++;
    else findings.push({ code: 'server.BLOB_ORPHAN', digest, bytes });
  }
  return { findings: findings.toSorted((a, b) => (a.digest < b.digest ? -1 : 1)), awaitingRemoval };
}

/**
 * Checks the SHA-256 and the size of every blob that a row names, then lists the blobs that no row names. It changes
 * nothing and may run next to a server.
 * @throws DrillproofError `control.UNAVAILABLE` when store or blobs do not answer; the reason of `signal`
 */
export async function checkStores(
  { store, blobs }: { readonly store: Store; readonly blobs: Blobs },
  options: CheckOptions = {},
): Promise<CheckReport> {
  const { signal, onProgress } = options;
  const total = await sumBlobs(store, signal);
  const findings: CheckFinding[] = [];
  let done = 0;
  let checkedBytes = 0;
  for await (const blob of listReferenced(store, signal)) {
    const code = await checkBlob(store, blobs, blob);
    if (code !== undefined) findings.push({ code, ...blob });
    done++;
    checkedBytes += blob.bytes;
    onProgress?.({ ...total, done, bytes: checkedBytes });
  }
  const { findings: orphans, awaitingRemoval } = await findOrphans(store, blobs, signal);
  const intact = done - findings.length;
  return { blobs: done, bytes: checkedBytes, intact, awaitingRemoval, findings: [...findings, ...orphans] };
}
