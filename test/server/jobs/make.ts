import type { HostedRun } from '../../../src/contract/resources/run.ts';
import { createWorker, type Worker, type WorkerOptions } from '../../../src/server/jobs/worker.ts';
import type { Runner, RunnerContext, RunnerJob, RunnerOutcome } from '../../../src/server/jobs/run/runner.ts';
import { runResult } from '../../contract/resources.ts';
import { answerOf, post, RERUNS, TURNS, type Sender } from '../change.ts';
import { buildArchive, PROJECT, importWorlds, type Plane } from '../make.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';

export type Run = (job: RunnerJob, context: RunnerContext) => Promise<RunnerOutcome>;

/** A promise, resolved by hand. */
class Gate<T> {
  resolve: (value: T) => void = () => undefined;
  readonly promise = new Promise<T>((done) => {
    this.resolve = done;
  });
}
export const createGate = <T = void>(): Gate<T> => new Gate<T>();

export const makeRunner = (run: Run): Runner => ({ kinds: ['authoring.turn', 'run.rerun'], run });

/** The result of a rerun, with the identity that its run pins. */
const makeResult = ({ request, buildHash }: HostedRun) => ({
  ...runResult,
  identity: { ...runResult.identity, ...request, buildHash },
});

export const goodRunner = makeRunner(async (job) =>
  job.kind === 'authoring.turn'
    ? { outcome: 'succeeded', resultText: job.turn.prompt, proposalId: 'prop_000000000001' }
    : { outcome: 'succeeded', result: makeResult(job.run) },
);

/** A runner that answers when it is released, even after its signal; `begun` resolves when `act` has ended. */
export function makeHeldRunner(
  answer: Run = goodRunner.run,
  act: (context: RunnerContext) => Promise<unknown> = async () => undefined,
) {
  const [begun, released] = [createGate<RunnerContext>(), createGate()];
  const runner = makeRunner(async (job, context) => {
    await act(context);
    begun.resolve(context);
    await released.promise;
    return answer(job, context);
  });
  return { runner, begun: begun.promise, release: () => released.resolve() };
}

/** Creates worlds, and a build to rerun from. */
export async function prepareWork(
  plane: Pick<Plane, 'admin'> & Partial<Pick<Plane, 'clock'>>,
): Promise<void> {
  const { bytes, buildHash } = await buildArchive();
  await plane.admin.ingestBuild(PROJECT, memoryAccess(bytes));
  await importWorlds(plane, buildHash);
}

/** A worker with the shipped defaults, whose pauses are as short as allowed. */
export const makeWorker = (
  plane: Plane,
  runner: Runner | undefined,
  over: Partial<WorkerOptions> = {},
): Worker =>
  createWorker({
    store: plane.store,
    blobs: plane.blobs,
    now: () => plane.clock.nowMs,
    log: (entry) => plane.log.push(entry),
    random: () => 0,
    ...(runner && { runner }),
    ...over,
  });

export const queueTurn = (sender: Sender, over: object = {}) =>
  answerOf('authoring.turns.create', post(sender, TURNS, { prompt: 'hello', ...over }));
export const queueRerun = (sender: Sender) => answerOf('runs.reruns.create', post(sender, RERUNS, {}));
