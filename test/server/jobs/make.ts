import type {
  AuthoringTurn,
  HostedRun,
  OperationResource,
  WorldSession,
} from '../../../src/contract/index.ts';
import {
  createWorker,
  type Runner,
  type RunnerContext,
  type RunnerJob,
  type RunnerOutcome,
  type Worker,
  type WorkerOptions,
} from '../../../src/server/index.ts';
import { runResult } from '../../contract/resources.ts';
import { answerOf, post, RERUNS, TURNS, type Sender } from '../change.ts';
import { buildArchive, ORG, PROJECT, tenants, token, worlds, type World } from '../make.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';

export type Run = (job: RunnerJob, context: RunnerContext) => Promise<RunnerOutcome>;

/** A promise, resolved by hand. */
class Gate<T> {
  resolve: (value: T) => void = () => undefined;
  readonly promise = new Promise<T>((done) => {
    this.resolve = done;
  });
}
export const gate = <T = void>(): Gate<T> => new Gate<T>();

/** A runner of both kinds from one function. */
export const runnerOf = (run: Run): Runner => ({ kinds: ['authoring.turn', 'run.rerun'], run });

/** The good result of a rerun, with the identity that its run pins. */
export function resultOf({ request, buildHash }: HostedRun): unknown {
  const { runId, drillId, seed, trial, trialCount, attempt, attemptLimit } = request;
  const pinned = { runId, drillId, seed, trial, trialCount, attempt, attemptLimit, buildHash };
  return { ...runResult, identity: { ...runResult.identity, ...pinned } };
}

/** Does every kind of work well. */
export const goodRunner = runnerOf(async (job) =>
  job.kind === 'authoring.turn'
    ? { outcome: 'succeeded', resultText: job.turn.prompt, proposalId: 'prop_000000000001' }
    : ({ outcome: 'succeeded', result: resultOf(job.run) } as RunnerOutcome),
);

/** Two organizations with their worlds, a build to rerun from, and a token. */
export async function workplace(here: World): Promise<Sender> {
  await tenants(here);
  const { bytes, buildHash } = await buildArchive();
  await here.admin.ingestBuild(PROJECT, memoryAccess(bytes));
  await worlds(here, buildHash);
  return { server: here.server, token: await token(here) };
}

/** A worker as it is shipped, whose pauses are as short as they may be. */
export const workerOf = (
  here: World,
  runner: Runner | undefined,
  over: Partial<WorkerOptions> = {},
): Worker =>
  createWorker({
    store: here.store,
    blobs: here.blobs,
    now: () => here.clock.nowMs,
    log: (entry) => here.log.push(entry),
    random: () => 0,
    ...(runner && { runner }),
    ...over,
  });

export const queueTurn = async (sender: Sender) =>
  answerOf('authoring.turns.create', await post(sender, TURNS, { prompt: 'hello' }));
export const queueRerun = async (sender: Sender) =>
  answerOf('runs.reruns.create', await post(sender, RERUNS, {}));

export const operationOf = async ({ store }: World, operationId: string): Promise<OperationResource> =>
  (await store.operations.find(ORG, operationId))!.resource;
export const turnOf = async ({ store }: World, turnId: string): Promise<AuthoringTurn> =>
  (await store.turns.find(PROJECT, turnId))!.resource;
export const runOf = async ({ store }: World, runId: string): Promise<HostedRun> =>
  (await store.runs.find(PROJECT, runId))!.resource;
export const sessionOf = async ({ store }: World, sessionId: string): Promise<WorldSession> =>
  (await store.sessions.find(PROJECT, sessionId))!.resource;
