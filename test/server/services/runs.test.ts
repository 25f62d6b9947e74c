import { expect, it } from 'vitest';
import { hostedRunStates, terminalRunStates } from '../../../src/contract/resources/run.ts';
import { answerOf, HOUR_MS, inProject, post, readOperation, RERUNS } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import {
  ask,
  ENVIRONMENT,
  HASH,
  id,
  NOW_MS,
  ORG,
  PROJECT,
  makeRun,
  SECOND_PROJECT,
  makeSession,
  importWorlds,
} from '../make.ts';
import { eachTest, storeBuild } from '../each-test.ts';

const ORIGINAL = id('hrun', 1);

const plane = eachTest(importWorlds, storeBuild);

const runOf = async (hostedRunId: string) => (await plane.store.runs.find(PROJECT, hostedRunId))!.resource;
const rerunOf = (hostedRunId: string) => post(plane, RERUNS.replace(ORIGINAL, hostedRunId), {});
const rerun = (hostedRunId = ORIGINAL) => answerOf('runs.reruns.create', rerunOf(hostedRunId));

it('a rerun has new ids and the pinned inputs of the original', async () => {
  plane.clock.nowMs += 7 * HOUR_MS; // the world of the original has expired
  const original = await runOf(ORIGINAL);
  const { finishedAtMs: _finishedAtMs, ...pinned } = original;
  const { run, operation } = await rerun();
  expect(run).toEqual({
    ...pinned,
    hostedRunId: run.hostedRunId,
    evidenceBundleId: run.evidenceBundleId,
    sessionId: run.sessionId,
    request: { ...pinned.request, runId: run.request.runId },
    state: 'created',
    deadlineAtMs: plane.clock.nowMs + HOUR_MS,
    createdAtMs: plane.clock.nowMs,
    updatedAtMs: plane.clock.nowMs,
    rerunOfHostedRunId: ORIGINAL,
  });
  expect(run.request).toMatchObject({ trial: 2, trialCount: 3, attempt: 4, attemptLimit: 5 });
  for (const member of ['hostedRunId', 'evidenceBundleId', 'sessionId'] as const)
    expect(run[member]).not.toBe(original[member]);
  expect(run.request.runId).not.toBe(original.request.runId);
  expect(await runOf(run.hostedRunId)).toEqual(run);
  expect(await runOf(ORIGINAL)).toEqual(original);
  expect(operation).toMatchObject({
    kind: 'run.rerun',
    state: 'pending',
    resourceType: 'hosted_run',
    resourceId: run.hostedRunId,
  });
  expect(await readOperation(plane, operation.operationId)).toEqual(operation);
  const elsewhere = ask(plane, inProject(`operations/${operation.operationId}`, SECOND_PROJECT), plane);
  await expectEnvelope(elsewhere, 'control.NOT_FOUND');
  expect(await plane.store.jobs.count(NOW_MS)).toEqual([
    { kind: 'run.rerun', waiting: 1, running: 0, oldestMs: 0 },
  ]);
});

it('a rerun gets a new world with the inputs of the original world', async () => {
  const original = (await plane.store.sessions.find(PROJECT, id('ses', 1)))!.resource;
  const { run } = await rerun();
  const answer = ask(plane, inProject(`sessions/${run.sessionId}`), plane);
  expect(await answerOf('sessions.read', answer)).toEqual({
    ...original,
    sessionId: run.sessionId,
    state: 'creating',
    parentSessionId: original.sessionId,
  });
});

it('a rerun keeps the build of the original when the environment has advanced', async () => {
  await plane.store.transaction(async (tx) => {
    const row = (await tx.environments.lock(PROJECT, ENVIRONMENT))!;
    await tx.environments.update({ ...row, buildHash: `sha256:${'cd'.repeat(32)}`, version: 2 });
  });
  expect((await rerun()).run.buildHash).toBe(HASH);
});

it('the world of a rerun lives no longer than the entitlement allows', async () => {
  await plane.admin.setEntitlement({ organizationId: ORG, maxSessionTtlMs: 1000 });
  expect((await rerun()).run.deadlineAtMs).toBe(NOW_MS + 1000);
});

it('a rerun of a rerun names that rerun', async () => {
  const { run } = await rerun();
  await plane.store.transaction(async (tx) => {
    const row = (await tx.runs.lock(PROJECT, run.hostedRunId))!;
    await tx.runs.update({ ...row, resource: { ...row.resource, state: 'succeeded' } });
  });
  const second = await rerun(run.hostedRunId);
  expect(second.run.rerunOfHostedRunId).toBe(run.hostedRunId);
  expect(second.run.request).toMatchObject({ trial: 2, attempt: 4 });
});

it.each(hostedRunStates)(
  'a rerun of a run that is %s is accepted only if the run has ended',
  async (state) => {
    await plane.admin.importResources({ schemaVersion: 1, runs: [makeRun(7, { state })] });
    const response = await rerunOf(id('hrun', 7));
    if (terminalRunStates.some((terminal) => terminal === state)) expect(response.status).toBe(202);
    else await expectEnvelope(response, 'control.RUN_NOT_TERMINAL');
  },
);

it('a rerun needs the build, and is first refused because the run has not ended', async () => {
  const over = { sessionId: id('ses', 8), buildHash: `sha256:${'ef'.repeat(32)}` };
  const runs = [makeRun(8, { ...over, state: 'failed' }), makeRun(9, { ...over, state: 'running' })];
  const sessions = [makeSession(8, { buildHash: over.buildHash })];
  await plane.admin.importResources({ schemaVersion: 1, sessions, runs });

  await expectEnvelope(rerunOf(id('hrun', 8)), 'control.BUILD_NOT_AVAILABLE');
  await expectEnvelope(rerunOf(id('hrun', 9)), 'control.RUN_NOT_TERMINAL');
  expect(await plane.store.jobs.count(NOW_MS)).toEqual([]);
});
