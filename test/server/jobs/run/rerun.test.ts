import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { digestOf } from '../../../../src/bytes/hash.ts';
import { memoryAccess } from '../../../../src/bytes/random-access.ts';
import { toUtf8 } from '../../../../src/bytes/text/encoding.ts';
import type { HostedRun } from '../../../../src/contract/resources/run.ts';
import type { RerunJob, RunnerOutcome } from '../../../../src/server/jobs/run/runner.ts';
import { makeRunResult } from '../../../support/evidence.ts';
import { answerOf, inProject, post, RERUNS } from '../../change.ts';
import { eachTest, storeBuild } from '../../each-test.ts';
import { ask, HASH, id, makeRun, NOW_MS, ORG, part, PROJECT, signer, importWorlds } from '../../make.ts';
import { makeRunner, makeWorker } from '../make.ts';

const plane = eachTest(importWorlds, storeBuild);
const ORIGINAL = id('hrun', 3);
const OTHER = `sha256:${'0'.repeat(64)}`;

const { identity: IDENTITY } = makeRunResult(3, { identity: { ...makeRun(3).request, buildHash: HASH } });

/** Imports the original and requests a rerun of a run. */
async function queue(over: Partial<HostedRun> = { identity: IDENTITY }, hostedRunId = ORIGINAL) {
  const runs = [makeRun(3, { state: 'succeeded', ...over })];
  if (hostedRunId === ORIGINAL) await plane.admin.importResources({ schemaVersion: 1, runs });
  return answerOf('runs.reruns.create', post(plane, RERUNS.replace(id('hrun', 1), hostedRunId), {}));
}

/** The result in the part of a rerun. */
const makeResult = ({ identity }: RerunJob, over: object = {}) =>
  makeRunResult(3, {
    identity: { ...IDENTITY, ...identity, worldInstanceId: 'world-2', ...over },
    evidenceHash: digestOf(toUtf8('journal 3')),
    stateHash: digestOf(toUtf8('state 3')),
    trajectoryHash: digestOf(toUtf8('trajectory 3')),
  });

async function work(answer: (job: RerunJob) => unknown, report?: (job: RerunJob) => object) {
  const runner = makeRunner(async (job, { progress }) => {
    if (job.kind !== 'run.rerun') throw new TypeError(job.kind);
    if (report !== undefined) await progress(report(job));
    return (await answer(job)) as RunnerOutcome;
  });
  return makeWorker(plane, runner).workOnce();
}
const succeed = (job: RerunJob, over = {}) => ({ outcome: 'succeeded', result: makeResult(job, over) });

const codeOfOperation = async ({ operation }: { operation: { operationId: string } }) =>
  (await plane.stored.operation(operation.operationId)).error?.code;

/** Packs the signed part of a rerun. */
const packEvidence = (job: RerunJob, over: object = {}): Promise<Uint8Array> => {
  const { evidenceBundleId, hostedRunId, rerunOfHostedRunId, request } = job.run;
  const ids = { evidenceBundleId, hostedRunId, ...(rerunOfHostedRunId && { rerunOfHostedRunId }) };
  const facts = { ...ids, runId: request.runId, runResult: makeResult(job), createdAtMs: NOW_MS - 1 };
  return part(3, { key: signer(), ...facts, ...over });
};

it('a runner gets the whole identity of the original, with the id of the new run', async () => {
  const { run } = await queue();
  const { worldInstanceId: _world, ...inputs } = IDENTITY;
  const answer = (job: RerunJob) => {
    expect(job.identity).toEqual({ ...inputs, runId: run.request.runId });
    return succeed(job);
  };
  expect(await work(answer)).toBe('succeeded');
  expect((await plane.stored.run(run.hostedRunId)).identity).toMatchObject({ worldInstanceId: 'world-2' });
});

it.each([
  ['runId', 'run_another-1'],
  ['drillId', 'other'],
  ['targetId', 'other'],
  ['buildHash', OTHER],
  ['packageLockHash', OTHER],
  ['seed', '77'],
  ['trial', 9],
  ['trialCount', 9],
  ['attempt', 9],
  ['attemptLimit', 9],
  ['scenarioId', 'other'],
  ['scenarioId', undefined],
  ['setupHash', OTHER],
  ['setupHash', undefined],
])('a rerun whose %s is %s in its result or its progress fails', async (member, other) => {
  for (const path of [['result', 'identity'], ['identity']]) {
    const { run, operation } = await queue();
    const over = { [member]: other };
    const outcome = await (path.length === 2
      ? work((job) => succeed(job, over))
      : work(succeed, (job) => ({ identity: makeResult(job, over).identity })));
    expect(outcome).toBe('failed');
    const { error } = await plane.stored.operation(operation.operationId);
    expect(error).toMatchObject({ code: 'control.RERUN_INPUTS_DIFFER', retryable: false });
    expect(error?.issues.map((issue) => issue.path)).toEqual([[...path, member]]);
    const stored = await plane.stored.run(run.hostedRunId);
    expect(stored).toMatchObject({ state: 'failed', failure: { code: 'control.RERUN_INPUTS_DIFFER' } });
    expect([stored.result, stored.identity]).toEqual([undefined, undefined]);
  }
});

it('an original without an identity pins its request and its build only', async () => {
  await queue({});
  expect(await work((job) => succeed(job, { targetId: 'any', scenarioId: 'any' }))).toBe('succeeded');
});

it('a rerun of a rerun that failed is held to the identity of the first run', async () => {
  const { run } = await queue();
  const error = { code: 'drill.BROKEN', message: 'it broke' };
  expect(await work(() => ({ outcome: 'failed', error }))).toBe('failed');
  const again = await queue({}, run.hostedRunId);
  expect(await work((job) => succeed(job, { targetId: 'other' }))).toBe('failed');
  expect(await codeOfOperation(again)).toBe('control.RERUN_INPUTS_DIFFER');
});

const readBundle = (evidenceBundleId: string) => ask(plane, inProject(`evidence/${evidenceBundleId}`), plane);

const INVALID = 'control.RERUN_EVIDENCE_INVALID';
const workWith = (pack: (job: RerunJob) => Promise<Uint8Array>) =>
  work(async (job) => {
    const evidence = join(plane.folder, 'part.zip');
    await writeFile(evidence, await pack(job));
    return { ...succeed(job), evidence };
  });

it('the signed part that a runner returns is readable and is exported', async () => {
  const { run } = await queue();
  expect((await readBundle(run.evidenceBundleId)).status).toBe(404);
  expect(await workWith((job) => packEvidence(job))).toBe('succeeded');
  expect(await answerOf('evidence.bundles.read', readBundle(run.evidenceBundleId))).toMatchObject({
    hostedRunId: run.hostedRunId,
    runId: run.request.runId,
    signed: true,
    deleteAtMs: NOW_MS + run.evidenceRetentionMs,
  });
  const scope = { kind: 'project' as const, projectId: PROJECT };
  const window = { fromAtMs: NOW_MS - 10, throughAtMs: NOW_MS };
  const { resource } = await plane.admin.createExport({ organizationId: ORG, scope, ...window });
  await plane.admin.workOff();
  const path = inProject(`evidence-exports/${resource.evidenceExportId}/parts/${run.evidenceBundleId}`);
  expect((await ask(plane, path, plane)).status).toBe(200);
});

it.each([
  ['is not signed', { key: undefined }],
  ['names another bundle', { evidenceBundleId: id('evidence', 77) }],
  ['names another run', { hostedRunId: id('hrun', 77) }],
  ['names another original', { rerunOfHostedRunId: id('hrun', 77) }],
  ['names another organization', { organizationId: id('org', 2) }],
  ['names another project', { projectId: id('prj', 2) }],
])('a rerun whose part %s fails, and nothing of it is stored', async (_name, over) => {
  const rerun = await queue();
  expect(await workWith((job) => packEvidence(job, over))).toBe('failed');
  expect(await codeOfOperation(rerun)).toBe(INVALID);
  expect((await plane.stored.run(rerun.run.hostedRunId)).state).toBe('failed');
  expect((await readBundle(rerun.run.evidenceBundleId)).status).toBe(404);
});

it('a rerun whose part states another result, or is damaged, fails', async () => {
  for (const change of [
    async (job: RerunJob) => packEvidence({ ...job, identity: { ...job.identity, trial: 2 } }),
    async (job: RerunJob) => (await packEvidence(job)).fill(0, 100, 120),
  ]) {
    const rerun = await queue();
    expect(await workWith(change)).toBe('failed');
    expect(await codeOfOperation(rerun)).toBe(INVALID);
  }
});

it('a part that cannot be read now is tried again', async () => {
  await queue();
  const evidence = `${plane.folder}/absent.zip`;
  expect(await work((job) => ({ ...succeed(job), evidence }))).toBe('retried');
});

it('the run of an ingested bundle can be read and rerun, and an import replaces it', async () => {
  const bytes = await part(5, { key: signer() });
  await plane.admin.ingestBundle(PROJECT, memoryAccess(bytes));
  await plane.admin.ingestBundle(PROJECT, memoryAccess(bytes));
  const run = await answerOf('runs.read', ask(plane, inProject(`runs/${id('hrun', 5)}`), plane));
  expect(run).toMatchObject({ state: 'succeeded', evidenceBundleId: id('evidence', 5) });
  expect(run.identity).toEqual(run.result?.identity);
  const rerun = await queue({}, id('hrun', 5));
  expect(await work((job) => succeed(job, { targetId: 'other' }))).toBe('failed');
  expect(await codeOfOperation(rerun)).toBe('control.RERUN_INPUTS_DIFFER');
  const runs = [makeRun(5, { state: 'failed' })];
  for (const result of ['created', 'unchanged']) {
    expect(await plane.admin.importResources({ schemaVersion: 1, runs })).toMatchObject([{ result }]);
    expect(await plane.stored.run(id('hrun', 5))).toMatchObject({ state: 'failed', sessionId: id('ses', 1) });
  }
});

it('a stored run stays as it is when its evidence is ingested', async () => {
  await plane.admin.importResources({ schemaVersion: 1, runs: [makeRun(5, { state: 'failed' })] });
  await plane.admin.ingestBundle(PROJECT, memoryAccess(await part(5)));
  expect(await plane.stored.run(id('hrun', 5))).not.toHaveProperty('result');
});

it.each([
  ['succeeds', 'succeeded', succeed],
  ['fails', 'failed', () => ({ outcome: 'failed', error: { code: 'run.ERROR', message: 'it failed' } })],
] as const)('a rerun that %s ends the world that it made, and no other', async (_, state, answer) => {
  const before = await plane.stored.session(id('ses', 1));
  const { run } = await queue();
  await work(answer, () => ({ session: 'ready' }));
  expect((await plane.stored.run(run.hostedRunId)).state).toBe(state);
  expect((await plane.stored.session(run.sessionId)).state).toBe('destroyed');
  expect(await plane.stored.session(id('ses', 1))).toEqual(before);
});

it('a rerun that is cancelled while it waits ends the world that it made', async () => {
  const { run, operation } = await queue();
  await plane.admin.cancelOperation({ organizationId: ORG, operationId: operation.operationId });
  expect((await plane.stored.session(run.sessionId)).state).toBe('destroyed');
});

it('a rerun whose time has passed leaves a world that expires', async () => {
  const { run } = await queue();
  plane.clock.nowMs = run.deadlineAtMs;
  await ask(plane, inProject(`runs/${run.hostedRunId}`), { token: plane.token });
  expect((await plane.stored.run(run.hostedRunId)).state).toBe('expired');
  await ask(plane, inProject(`sessions/${run.sessionId}`), { token: plane.token });
  expect((await plane.stored.session(run.sessionId)).state).toBe('expired');
});

it('an imported run that expires ends no world, because it made none', async () => {
  const runs = [makeRun(5, { rerunOfHostedRunId: id('hrun', 1), deadlineAtMs: NOW_MS + 10 })];
  await plane.admin.importResources({ schemaVersion: 1, runs });
  plane.clock.nowMs = NOW_MS + 10;
  await ask(plane, inProject(`runs/${id('hrun', 5)}`), { token: plane.token });
  expect((await plane.stored.run(id('hrun', 5))).state).toBe('expired');
  expect((await plane.stored.session(id('ses', 1))).state).toBe('ready');
});
