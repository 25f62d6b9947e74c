export { parseQueueAddress } from './address.ts';
export type { JobResult, QueueItem } from './job.ts';
export { openQueue, type WorkQueue } from './queue.ts';
export { workThrough } from './work.ts';
