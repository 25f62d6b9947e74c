import { parentPort, workerData } from 'node:worker_threads';
import { defined } from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';
import { trustStore } from '../trust/index.ts';
import { type VerifyOptions, verifyPart } from '../verify/index.ts';
import { directorySource } from './evidence/directory-source.ts';
import { secondOpinion } from './second-opinion/index.ts';
import type { PoolAnswer, PoolJob, PoolSettings } from './verify-pool.ts';

if (parentPort === null)
  throw new DrillproofError('internal.BUG', 'this module only runs in a worker thread');
const port = parentPort;
const settings = workerData as PoolSettings;
const options = optionsOf(settings);
const source = directorySource(settings.root);

port.on('message', (jobs: readonly PoolJob[]) => {
  void answerAll(jobs).then((answers) => port.postMessage(answers));
});

async function answerAll(jobs: readonly PoolJob[]): Promise<PoolAnswer[]> {
  const answers: PoolAnswer[] = [];
  for (const job of jobs) answers.push(await answer(job));
  return answers;
}

function optionsOf({
  root: _root,
  trustedKeys,
  secondOpinion: second,
  ...rest
}: PoolSettings): VerifyOptions {
  return {
    ...rest,
    ...defined({
      trust: trustedKeys && trustStore(trustedKeys),
      secondOpinion: second ? secondOpinion : undefined,
    }),
  };
}

async function answer({ path, listed }: PoolJob): Promise<PoolAnswer> {
  try {
    const access = await source.open(path);
    try {
      return { report: await verifyPart(access, { ...options, listed }) };
    } finally {
      await access.close();
    }
  } catch (error) {
    // Anything else ends the thread, and the pool reports it: a bug in this program is never a verdict.
    if (!(error instanceof DrillproofError)) throw error;
    const { code, message, path: where } = error;
    return { error: defined({ code, message, path: where }) };
  }
}
