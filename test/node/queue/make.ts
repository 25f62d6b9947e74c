import { afterEach, vi } from 'vitest';
import {
  openQueue,
  parseQueueAddress,
  type QueueSettings,
  type TakenJob,
  type WorkQueue,
} from '../../../src/node/queue/queue.ts';

const open: WorkQueue[] = [];
afterEach(async () => {
  for (const queue of open.splice(0)) await queue.close();
});

const DEFAULTS = { name: 'run', work: 'same', retries: 4, lostAfterMs: 60_000 };

/** Opens a queue that is closed after the test. */
export async function connectQueue(url: string, options: Partial<QueueSettings> = {}): Promise<WorkQueue> {
  const queue = await openQueue(parseQueueAddress(url), { ...DEFAULTS, ...options });
  open.push(queue);
  return queue;
}

export const makeItems = (...keys: string[]) => keys.map((key) => ({ key, data: { key } }));

/** Takes the next job when it may be retried. */
export async function takeNext(queue: WorkQueue): Promise<TakenJob> {
  return vi.waitFor(
    async () => {
      const job = await queue.take();
      if (job === undefined) throw new Error('there is no job');
      return job;
    },
    { timeout: 30_000, interval: 200 },
  );
}
