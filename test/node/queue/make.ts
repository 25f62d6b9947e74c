import { afterEach, expect } from 'vitest';
import {
  openQueue,
  parseQueueAddress,
  type QueueOptions,
  type TakenJob,
  type WorkQueue,
} from '../../../src/node/queue/queue.ts';

const open: WorkQueue[] = [];
afterEach(async () => {
  for (const queue of open.splice(0)) await queue.close();
});

/** A worker's end of a queue, closed after the test. */
export async function queueAt(url: string, options: Partial<QueueOptions> = {}): Promise<WorkQueue> {
  const queue = await openQueue(parseQueueAddress(url), { name: 'run', work: 'same', ...options });
  open.push(queue);
  return queue;
}

export const itemsOf = (...keys: string[]) => keys.map((key) => ({ key, data: { key } }));

/** The next piece of work, once it may be tried again. */
export async function nextOf(queue: WorkQueue): Promise<TakenJob> {
  let job: TakenJob | undefined;
  const take = async () => (job = await queue.take());
  await expect.poll(take, { timeout: 30_000, interval: 200 }).toBeDefined();
  if (job === undefined) throw new Error('there is no work');
  return job;
}
