import { builtInJobs } from '../jobs/built-in.ts';
import type { ExportJobOptions } from '../jobs/export/export.ts';
import { deleteDue, removeReleased } from '../jobs/delete/retention.ts';
import type { Log } from '../log.ts';
import { createWorker } from '../worker.ts';
import type { AdminContext } from './context.ts';

/** What was done: bundles whose time had come, pieces of queued work, and blobs that nobody needs any more. */
export type WorkedOff = {
  readonly bundlesDue: number;
  readonly jobs: number;
  readonly blobsRemoved: number;
};

export type WorkOffOptions = Pick<ExportJobOptions, 'signing'> & {
  readonly signal?: AbortSignal;
  readonly log?: Log;
};

/**
 * Does here and now what a worker without a runner would do: deletes what is due, generates exports and deletes, and
 * removes the bytes that nobody needs any more. Work that a worker is at is left to it.
 */
export async function workOff(
  { store, blobs, now }: AdminContext,
  options: WorkOffOptions = {},
): Promise<WorkedOff> {
  const { signal = new AbortController().signal, log = () => undefined, signing } = options;
  const context = { store, blobs, now, log };
  const bundlesDue = await deleteDue(context, signal);
  const worker = createWorker({ store, handlers: builtInJobs({ ...context, signing }), now, log });
  let jobs = 0;
  while (!signal.aborted && (await worker.workOnce()) !== undefined) jobs++;
  return { bundlesDue, jobs, blobsRemoved: await removeReleased(context, signal) };
}
