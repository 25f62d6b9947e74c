// A worker with short leases, whose runner takes a moment: `node worker-child.ts DATA`.
import { setTimeout as sleep } from 'node:timers/promises';
import { createWorker } from '../../../src/server/jobs/worker.ts';
import { openStores } from '../../../src/server/open-stores.ts';
import { goodRunner, makeRunner } from '../jobs/make.ts';

const { store, blobs } = await openStores(process.env, process.argv[2] ?? '');
const runner = makeRunner(async (job, context) => {
  process.send?.({ operationId: job.operationId, attempt: job.attempt });
  await sleep(60);
  return goodRunner.run(job, context);
});
createWorker({ store, blobs, runner, concurrency: 2, pollMs: 20, leaseMs: 1_000, heartbeatMs: 200 }).start();
process.send?.('working');
