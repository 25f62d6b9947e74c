import { describe, expect, it } from 'vitest';
import { digestOf, memoryAccess, toUtf8 } from '../../../../src/bytes/index.ts';
import { type HostedRun, operations } from '../../../../src/contract/index.ts';
import type { RerunJob, RunnerOutcome } from '../../../../src/server/index.ts';
import { makeRunResult } from '../../../support/evidence.ts';
import { answerOf, post, RERUNS } from '../../change.ts';
import { eachTest, storeBuild } from '../../each-test.ts';
import { ask, HASH, id, makeRun, NOW_MS, ORG, part, PROJECT, signer, worlds } from '../../make.ts';
import { operationOf, runnerOf, runOf, workerOf } from '../make.ts';

const here = eachTest(worlds, storeBuild);
const ORIGINAL = id('hrun', 3);
const OTHER = `sha256:${'0'.repeat(64)}`;

const IDENTITY = {
  runId: 'run_number-3',
  worldInstanceId: 'world-1',
  drillId: 'restore',
  targetId: 'backup-agent',
  buildHash: HASH,
  packageLockHash: `sha256:${'2'.repeat(64)}`,
  seed: '1',
  trial: 1,
  trialCount: 1,
  attempt: 1,
  attemptLimit: 1,
  scenarioId: 'outage',
  setupHash: `sha256:${'3'.repeat(64)}`,
};

/** Imports the original, asks for a rerun of a run, and returns the rerun. */
async function queue(over: Partial<HostedRun> = { identity: IDENTITY }, hostedRunId = ORIGINAL) {
  const original = makeRun(3, { state: 'succeeded', ...over });
  if (hostedRunId === ORIGINAL) await here.admin.importResources({ schemaVersion: 1, runs: [original] });
  const path = RERUNS.replace(id('hrun', 1), hostedRunId);
  return answerOf('runs.reruns.create', await post(here, path, {}));
}

/** The result that its part holds. */
const resultOf = ({ identity }: RerunJob, over: object = {}) =>
  makeRunResult(3, {
    identity: { ...IDENTITY, ...identity, worldInstanceId: 'world-2', ...over },
    evidenceHash: digestOf(toUtf8('journal 3')),
    stateHash: digestOf(toUtf8('state 3')),
    trajectoryHash: digestOf(toUtf8('trajectory 3')),
  });

type Answer = (job: RerunJob) => unknown;
async function work(answer: Answer, report?: (job: RerunJob) => object) {
  const runner = runnerOf(async (job, { progress }) => {
    if (job.kind !== 'run.rerun') throw new TypeError(job.kind);
    if (report !== undefined) await progress(report(job));
    return (await answer(job)) as RunnerOutcome;
  });
  return workerOf(here, runner).workOnce();
}
const succeeded = (job: RerunJob, over: object = {}) => ({
  outcome: 'succeeded',
  result: resultOf(job, over),
});

/** The signed part of a rerun. */
const evidenceOf = (job: RerunJob, over: object = {}): Promise<Uint8Array> => {
  const { evidenceBundleId, hostedRunId, rerunOfHostedRunId, request } = job.run;
  const ids = { evidenceBundleId, hostedRunId, ...(rerunOfHostedRunId && { rerunOfHostedRunId }) };
  const facts = { ...ids, runId: request.runId, runResult: resultOf(job), createdAtMs: NOW_MS - 1 };
  return part(3, { key: signer(), ...facts, ...over });
};

describe('the inputs of a rerun', () => {
  it('a runner is handed the whole identity of the original, with the id of the new run', async () => {
    const { run } = await queue();
    let handed: unknown;
    expect(await work((job) => ((handed = job.identity), succeeded(job)))).toBe('succeeded');
    const { worldInstanceId: _world, ...inputs } = IDENTITY;
    expect(handed).toEqual({ ...inputs, runId: run.request.runId });
    expect((await runOf(here, run.hostedRunId)).identity).toMatchObject({ worldInstanceId: 'world-2' });
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
      const identity = (job: RerunJob) => resultOf(job, { [member]: other }).identity;
      const ended = await (path.length === 2
        ? work((job) => succeeded(job, { [member]: other }))
        : work(succeeded, (job) => ({ identity: identity(job) })));
      expect(ended).toBe('failed');
      const { error } = await operationOf(here, operation.operationId);
      expect(error).toMatchObject({ code: 'control.RERUN_INPUTS_DIFFER', retryable: false });
      expect(error?.issues.map((issue) => issue.path)).toEqual([[...path, member]]);
      const stored = await runOf(here, run.hostedRunId);
      expect(stored).toMatchObject({ state: 'failed', failure: { code: 'control.RERUN_INPUTS_DIFFER' } });
      expect([stored.result, stored.identity]).toEqual([undefined, undefined]);
    }
  });

  it('an original without an identity pins its request and its build only', async () => {
    await queue({});
    expect(await work((job) => succeeded(job, { targetId: 'any', scenarioId: 'any' }))).toBe('succeeded');
  });

  it('a rerun of a rerun that failed is held to the identity of the first run', async () => {
    const { run } = await queue();
    const error = { code: 'drill.BROKEN', message: 'it broke' };
    expect(await work(() => ({ outcome: 'failed', error }))).toBe('failed');
    const again = await queue({}, run.hostedRunId);
    expect(await work((job) => succeeded(job, { targetId: 'other' }))).toBe('failed');
    expect((await operationOf(here, again.operation.operationId)).error?.code).toBe(
      'control.RERUN_INPUTS_DIFFER',
    );
  });
});

const readBundle = (evidenceBundleId: string) =>
  ask(here, `/v1/projects/${PROJECT}/evidence/${evidenceBundleId}`, here);

describe('the evidence of a rerun', () => {
  it('the signed part that a runner hands in is readable and is exported', async () => {
    const { run } = await queue();
    expect((await readBundle(run.evidenceBundleId)).status).toBe(404);
    expect(await work(async (job) => ({ ...succeeded(job), evidence: await evidenceOf(job) }))).toBe(
      'succeeded',
    );
    const bundle = operations['evidence.bundles.read'].success.schema.parse(
      await (await readBundle(run.evidenceBundleId)).json(),
    );
    expect(bundle).toMatchObject({
      hostedRunId: run.hostedRunId,
      runId: run.request.runId,
      signed: true,
      deleteAtMs: NOW_MS + run.evidenceRetentionMs,
    });
    const scope = { kind: 'project' as const, projectId: PROJECT };
    const window = { fromAtMs: NOW_MS - 10, throughAtMs: NOW_MS };
    const { resource } = await here.admin.createExport({ organizationId: ORG, scope, ...window });
    await here.admin.workOff();
    const path = `/v1/projects/${PROJECT}/evidence-exports/${resource.evidenceExportId}/parts/`;
    expect((await ask(here, path + run.evidenceBundleId, here)).status).toBe(200);
  });

  it.each([
    ['is not signed', { key: undefined }],
    ['names another bundle', { evidenceBundleId: id('evidence', 77) }],
    ['names another run', { hostedRunId: id('hrun', 77) }],
    ['names another original', { rerunOfHostedRunId: id('hrun', 77) }],
    ['names another organization', { organizationId: id('org', 2) }],
    ['names another project', { projectId: id('prj', 2) }],
  ])('a rerun whose part %s fails, and nothing of it is stored', async (_name, over) => {
    const { run, operation } = await queue();
    const ended = await work(async (job) => ({ ...succeeded(job), evidence: await evidenceOf(job, over) }));
    expect(ended).toBe('failed');
    const code = 'control.RERUN_EVIDENCE_INVALID';
    expect((await operationOf(here, operation.operationId)).error?.code).toBe(code);
    expect((await runOf(here, run.hostedRunId)).state).toBe('failed');
    expect((await readBundle(run.evidenceBundleId)).status).toBe(404);
  });

  it('a rerun whose part states another result, or is damaged, fails', async () => {
    for (const change of [
      async (job: RerunJob) => evidenceOf({ ...job, identity: { ...job.identity, trial: 2 } }),
      async (job: RerunJob) => (await evidenceOf(job)).fill(0, 100, 120),
    ]) {
      const { operation } = await queue();
      expect(await work(async (job) => ({ ...succeeded(job), evidence: await change(job) }))).toBe('failed');
      const code = 'control.RERUN_EVIDENCE_INVALID';
      expect((await operationOf(here, operation.operationId)).error?.code).toBe(code);
    }
  });

  it('a part that cannot be read now is tried again', async () => {
    await queue();
    const evidence = `${here.folder}/absent.zip`;
    expect(await work((job) => ({ ...succeeded(job), evidence }))).toBe('retried');
  });
});

describe('a run whose evidence is ingested', () => {
  const runPath = `/v1/projects/${PROJECT}/runs/${id('hrun', 5)}`;

  it('the run of an ingested bundle can be read and rerun, and an import replaces it', async () => {
    const bytes = await part(5, { key: signer() });
    await here.admin.ingestBundle(PROJECT, memoryAccess(bytes));
    await here.admin.ingestBundle(PROJECT, memoryAccess(bytes));
    const run = operations['runs.read'].success.schema.parse(await (await ask(here, runPath, here)).json());
    expect(run).toMatchObject({ state: 'succeeded', evidenceBundleId: id('evidence', 5) });
    expect(run.identity).toEqual(run.result?.identity);
    const rerun = await queue({}, id('hrun', 5));
    expect(
      await work((job) => ({ outcome: 'succeeded', result: resultOf(job, { targetId: 'other' }) })),
    ).toBe('failed');
    expect((await operationOf(here, rerun.operation.operationId)).error?.code).toBe(
      'control.RERUN_INPUTS_DIFFER',
    );
    const whole = makeRun(5, { state: 'failed' });
    const imported = await here.admin.importResources({ schemaVersion: 1, runs: [whole] });
    expect(imported).toMatchObject([{ result: 'created' }]);
    expect(await runOf(here, id('hrun', 5))).toMatchObject({ state: 'failed', sessionId: id('ses', 1) });
    expect(await here.admin.importResources({ schemaVersion: 1, runs: [whole] })).toMatchObject([
      { result: 'unchanged' },
    ]);
  });

  it('a stored run stays as it is when its evidence is ingested', async () => {
    await here.admin.importResources({ schemaVersion: 1, runs: [makeRun(5, { state: 'failed' })] });
    await here.admin.ingestBundle(PROJECT, memoryAccess(await part(5)));
    expect(await runOf(here, id('hrun', 5))).not.toHaveProperty('result');
  });
});
