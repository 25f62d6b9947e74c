import { parentPort, workerData } from 'node:worker_threads';
import { defined } from '../bytes/arguments.ts';
import { DrillproofError } from '../errors.ts';
import { trustStore } from '../trust/store.ts';
import { createPartContext } from '../verify/part/context.ts';
import { type Settings, resolveSettings } from '../verify/options.ts';
import { walkPart } from '../verify/part/part.ts';
import { directorySource } from './evidence/directory-source.ts';
import type { PoolAnswer, PoolJob, PoolSettings } from './verify-pool.ts';

if (parentPort === null)
  throw new DrillproofError('internal.BUG', 'this module only runs in a worker thread');
const port = parentPort;
const reading = readSettings(workerData as PoolSettings);
const source = directorySource((workerData as PoolSettings).root);

port.on('message', (jobs: readonly PoolJob[]) => {
  void answerAll(jobs).then((answers) => port.postMessage(answers));
});

async function answerAll(jobs: readonly PoolJob[]): Promise<PoolAnswer[]> {
  const settings = await reading;
  const answers: PoolAnswer[] = [];
  for (const job of jobs) answers.push(await answer(job, settings));
  return answers;
}

async function readSettings({
  root: _root,
  trusted,
  secondOpinion: isRequested,
  ...rest
}: PoolSettings): Promise<Settings> {
  const second = isRequested ? await import('./second-opinion/second-opinion.ts') : undefined;
  const trust = trusted && trustStore(...trusted);
  return resolveSettings({ ...rest, ...defined({ trust, secondOpinion: second?.secondOpinion }) });
}

async function answer({ path, listed }: PoolJob, settings: Settings): Promise<PoolAnswer> {
  try {
    const access = await source.open(path);
    try {
      const { report } = await walkPart(access, createPartContext(settings, { listed }));
      return { report };
    } finally {
      await access.close();
    }
  } catch (error) {
    // Any other error ends the thread, and the pool reports it. A bug in this program is never a verdict.
    if (!(error instanceof DrillproofError)) throw error;
    const { code, message, path: errorPath } = error;
    return { error: defined({ code, message, path: errorPath }) };
  }
}
