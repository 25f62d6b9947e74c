export { parseQueueAddress } from './connection.ts';
export { type JobResult, openQueue, type QueueItem, type WorkQueue } from './queue.ts';
export { workThrough } from './work.ts';
