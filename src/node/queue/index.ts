export { parseQueueAddress } from './connection.ts';
export { type JobResult, openQueue, type QueueItem } from './queue.ts';
export { workThrough } from './work.ts';
