import { parentPort, workerData } from 'node:worker_threads';
import { DrillproofError } from '../errors.ts';
import { trustStore } from '../trust/index.ts';
import { verifyPart, type VerifyOptions } from '../verify/index.ts';
import { openFile } from './file-access.ts';
import { secondOpinion } from './second-opinion.ts';
import type { PoolAnswer, PoolJob, PoolSettings } from './verify-messages.ts';

if (parentPort === null)
  throw new DrillproofError('internal.BUG', 'this module runs in a worker thread only');
const port = parentPort;
const options = optionsOf(workerData as PoolSettings);

port.on('message', (job: PoolJob) => {
  void answer(job).then((reply) => port.postMessage(reply));
});

function optionsOf({ trustedKeys, secondOpinion: second, ...settings }: PoolSettings): VerifyOptions {
  return {
    ...settings,
    ...(trustedKeys === undefined ? {} : { trust: trustStore(trustedKeys) }),
    ...(second ? { secondOpinion } : {}),
  };
}

async function answer({ path, listed }: PoolJob): Promise<PoolAnswer> {
  try {
    const access = await openFile(path);
    try {
      return { report: await verifyPart(access, { ...options, listed }) };
    } finally {
      await access.close();
    }
  } catch (error) {
    // Anything else ends the thread, which the pool reports: a fault of ours is never a verdict.
    if (!(error instanceof DrillproofError)) throw error;
    const { code, message, path: where } = error;
    return { error: { code, message, ...(where === undefined ? {} : { path: where }) } };
  }
}
