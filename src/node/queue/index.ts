export { type JobResult, openQueue, parseQueueAddress, type QueueItem } from './queue.ts';
export { workThrough } from './work.ts';
