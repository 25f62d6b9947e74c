// A thread that verifies parts and runs out of memory at the second one.
import { parentPort } from 'node:worker_threads';
import type { PoolJob } from '../../src/node/verify-pool.ts';

await import('../../src/node/verify-worker.ts');
parentPort?.on('message', (jobs: readonly PoolJob[]) => {
  if (!jobs.some(({ path }) => path === 'parts/evidence_000000000002.zip')) return;
  // Small objects, because V8 gives a thread 16 MB more while it ends, and one large value would end the process.
  for (const values: object[] = []; ;) values.push({ count: values.length });
});
