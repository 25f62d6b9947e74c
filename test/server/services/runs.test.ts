import { describe, expect, it } from 'vitest';
import { hostedRunStates, terminalRunStates } from '../../../src/contract/index.ts';
import { answerOf, HOUR_MS, inProject, post, readOperation, RERUNS } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import {
  ask,
  ENVIRONMENT,
  HASH,
  id,
  NOW_MS,
  ORG,
  OTHER_ORG,
  PROJECT,
  makeRun,
  SECOND_PROJECT,
  makeSession,
  token,
  importWorlds,
} from '../make.ts';
import { eachTest, storeBuild } from '../each-test.ts';

const ORIGINAL = id('hrun', 1);

const plane = eachTest(importWorlds, storeBuild);

const rerun = (path = RERUNS) => answerOf('runs.reruns.create', post(plane, path, {}));
const runOf = async (hostedRunId: string) => (await plane.store.runs.find(PROJECT, hostedRunId))!.resource;

const rerunOf = (hostedRunId: string) => post(plane, RERUNS.replace(ORIGINAL, hostedRunId), {});

describe('a rerun', () => {
  it('a rerun has new ids and the pinned inputs of the original', async () => {
    plane.clock.nowMs += 7 * HOUR_MS; // the world of the original has expired
    const original = await runOf(ORIGINAL);
    const { run, operation } = await rerun();
    expect(run).toEqual({
      schemaVersion: 1,
      hostedRunId: run.hostedRunId,
      evidenceBundleId: run.evidenceBundleId,
      organizationId: ORG,
      projectId: PROJECT,
      environmentId: ENVIRONMENT,
      sessionId: run.sessionId,
      buildHash: HASH,
      request: {
        runId: run.request.runId,
        drillId: 'restore',
        seed: '1',
        trial: 2,
        trialCount: 3,
        attempt: 4,
        attemptLimit: 5,
      },
      leaseGeneration: 1,
      revision: 1,
      state: 'created',
      deadlineAtMs: plane.clock.nowMs + HOUR_MS,
      evidenceRetentionMs: original.evidenceRetentionMs,
      createdAtMs: plane.clock.nowMs,
      updatedAtMs: plane.clock.nowMs,
      rerunOfHostedRunId: ORIGINAL,
    });
    const ids = ({ hostedRunId, evidenceBundleId, sessionId, request }: typeof run) => [
      hostedRunId,
      evidenceBundleId,
      sessionId,
      request.runId,
    ];
    expect(new Set([...ids(run), ...ids(original)]).size).toBe(8);
    expect(await runOf(run.hostedRunId)).toEqual(run);
    expect(await runOf(ORIGINAL)).toEqual(original);
    expect(operation).toMatchObject({
      kind: 'run.rerun',
      state: 'pending',
      resourceType: 'hosted_run',
      resourceId: run.hostedRunId,
    });
    expect(await readOperation(plane, operation.operationId)).toEqual(operation);
    expect(await plane.store.jobs.count(NOW_MS)).toEqual([{ kind: 'run.rerun', waiting: 1, running: 0 }]);
  });

  it('a rerun gets a new world with the inputs of the original world', async () => {
    const { run } = await rerun();
    const answer = ask(plane, inProject(`sessions/${run.sessionId}`), plane);
    expect(await answerOf('sessions.read', answer)).toEqual({
      schemaVersion: 1,
      organizationId: ORG,
      projectId: PROJECT,
      environmentId: ENVIRONMENT,
      sessionId: run.sessionId,
      buildHash: HASH,
      drillId: 'restore',
      seed: '1',
      callbackReceiverBindingIds: [],
      state: 'creating',
      leaseGeneration: 1,
      parentSessionId: id('ses', 1),
      createdAtMs: NOW_MS,
      updatedAtMs: NOW_MS,
      expiresAtMs: NOW_MS + HOUR_MS,
      version: 1,
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
    const second = await rerun(RERUNS.replace(ORIGINAL, run.hostedRunId));
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

  it('a rerun of a run that the token may not see answers 404', async () => {
    const foreign = { ...plane, token: await token(plane, { organizationId: OTHER_ORG }) };
    const narrow = { ...plane, token: await token(plane, { projects: [SECOND_PROJECT] }) };
    for (const response of [
      await post(foreign, RERUNS, {}),
      await post(narrow, RERUNS, {}),
      await post(plane, RERUNS.replace(PROJECT, SECOND_PROJECT), {}),
      await post(plane, RERUNS.replace(ORIGINAL, id('hrun', 99)), {}),
      await ask(plane, `/v1/projects/${PROJECT}/runs/${ORIGINAL}`, foreign),
      await ask(plane, `/v1/projects/${SECOND_PROJECT}/runs/${ORIGINAL}`, plane),
    ])
      await expectEnvelope(response, 'control.NOT_FOUND');
  });
});

it('an operation is visible through its own project only', async () => {
  const { operation } = await rerun();
  const path = (projectId: string) => `/v1/projects/${projectId}/operations/${operation.operationId}`;
  expect((await ask(plane, path(PROJECT), plane)).status).toBe(200);
  const foreign = await token(plane, { organizationId: OTHER_ORG });
  for (const [target, bearer] of [
    [path(SECOND_PROJECT), plane.token],
    [path(PROJECT), foreign],
    [path(id('prj', 3)), foreign],
    [path(PROJECT), await token(plane, { projects: [SECOND_PROJECT] })],
    [path(PROJECT).replace(operation.operationId, id('op', 9)), plane.token],
  ] as const)
    await expectEnvelope(ask(plane, target, { token: bearer }), 'control.NOT_FOUND');
});

it('an operation of the whole organization is visible to a token for all projects', async () => {
  const { operation } = await rerun();
  const { projectId: _projectId, ...whole } = { ...operation, operationId: id('op', 5) };
  await plane.store.transaction((tx) =>
    tx.operations.insert({ organizationId: ORG, operationId: whole.operationId, resource: whole }),
  );
  const path = `/v1/projects/${PROJECT}/operations/${whole.operationId}`;
  expect(await (await ask(plane, path, plane)).json()).toEqual(whole);
  const narrow = await token(plane, { projects: [PROJECT] });
  await expectEnvelope(ask(plane, path, { token: narrow }), 'control.NOT_FOUND');
});
