import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { digestAccess, type Digest } from '../bytes/hash.ts';
import type { EvidenceSource, OpenFile } from '../evidence/source.ts';
import type { BundleReport } from '../verify/report.ts';
import { createPartContext } from '../verify/part/context.ts';
import type { PartThreads } from '../verify/part/listed-part.ts';
import type { Settings } from '../verify/options.ts';
import { walkPart } from '../verify/part/part.ts';
import type { PoolJob } from './verify-pool.ts';

/** Files from this size are hashed in threads. */
const LARGE_BYTES = 64 * 2 ** 10;
/** The files that a thread has at once, so that it never waits for the main thread, which hashes too. */
const AHEAD = 2;

/** The code of a thread. It loads no module, and reads files that the main thread opened. */
function hashFiles(): void {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const { readSync } = process.getBuiltinModule('node:fs');
  const port = process.getBuiltinModule('node:worker_threads').parentPort!;
  const buffer = new Uint8Array(2 ** 18);
  const hashFile = (fd: number, size: number): string => {
    const sum = createHash('sha256');
    for (let at = 0; at < size;) {
      const count = readSync(fd, buffer, 0, Math.min(buffer.length, size - at), at);
      if (count === 0) throw new Error('the file became shorter');
      sum.update(buffer.subarray(0, count));
      at += count;
    }
    return `sha256:${sum.digest('hex')}`;
  };
  port.on('message', ([fd, size]: [number, number]) => port.postMessage(hashFile(fd, size)));
}

type Job = { readonly file: OpenFile; readonly settle: (digest?: Digest) => void };
type Thread = { readonly worker: Worker; readonly jobs: Job[] };

/** Verifies a part in this thread. `wrap` can replace the access to its file. */
export async function verifyInThisThread(
  source: EvidenceSource,
  { path, listed }: PoolJob,
  settings: Settings,
  wrap = (file: OpenFile): OpenFile => file,
): Promise<BundleReport> {
  const file = await source.open(path);
  try {
    return (await walkPart(wrap(file), createPartContext(settings, { listed }))).report;
  } finally {
    await file.close();
    await nextTurn(); // so that answers of the threads, signals and timers are handled
  }
}

/**
 * Verifies parts at depth `digest` in this thread, which shares the hashing of large files with up to `threads` others.
 * A file that a thread cannot hash is hashed again in this thread, which reports the reason.
 */
export function createDigestPool(threads: number, source: EvidenceSource, settings: Settings): PartThreads {
  const queue: Job[] = [];
  const running = new Set<Thread>();
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, ...(settings.signal ? [settings.signal] : [])]);
  const end = async (): Promise<void> => {
    await Promise.all([...running].map(({ worker }) => worker.terminate()));
  };
  signal.addEventListener('abort', () => void end());
  let isHashing = false;

  const start = (): void => {
    const worker = new Worker(`(${hashFiles.toString()})()`, { eval: true });
    const thread: Thread = { worker, jobs: [] };
    running.add(thread);
    worker
      .on('message', (digest: Digest) => {
        thread.jobs.shift()?.settle(digest);
        dispatch();
      })
      .on('error', () => undefined)
      .on('exit', () => {
        running.delete(thread);
        for (const { settle } of thread.jobs) settle();
      });
  };
  const dispatch = (): void => {
    const next = isHashing ? undefined : queue.shift();
    while (running.size < threads && running.size < queue.length && !signal.aborted) start();
    for (const { worker, jobs } of running)
      for (const job of queue.splice(0, AHEAD - jobs.length)) {
        jobs.push(job);
        worker.postMessage([job.file.fd, job.file.size]);
      }
    if (next === undefined) return;
    isHashing = true;
    next.settle();
  };
  const digest = async (file: OpenFile): Promise<Digest> => {
    const result = await new Promise<Digest | undefined>((settle) => {
      queue.push({ file, settle });
      setImmediate(dispatch);
    });
    if (result !== undefined) return result;
    try {
      return (await digestAccess(file, signal)).digest;
    } finally {
      isHashing = false;
      setImmediate(dispatch);
    }
  };
  return {
    verifyPart: (path, listed) =>
      verifyInThisThread(source, { path, listed }, settings, (file) =>
        file.size < LARGE_BYTES ? file : { ...file, holdBytes: 0, digest: () => digest(file) },
      ),
    async close() {
      ending.abort();
      await end();
    },
  };
}
