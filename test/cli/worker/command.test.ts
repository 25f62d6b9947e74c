import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createClient } from '../../../src/client/index.ts';
import { generateSigningKey, writeSigningKeyPem } from '../../../src/node/index.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { createAdmin, openEmbedded } from '../../../src/server/index.ts';
import { runResult } from '../../contract/resources.ts';
import { buildArchive, id, PROJECT, tenants, token, worlds } from '../../server/make.ts';
import { call, drillproof, scratch, start } from '../make.ts';

const RUNNER = fileURLToPath(new URL('../../../docs/examples/runner.js', import.meta.url));

/** The data of a control plane with worlds, whose ended run has a result to be reproduced. */
async function prepare(folder: string): Promise<string> {
  const { store, blobs } = await openEmbedded(folder);
  const admin = createAdmin({ store, blobs });
  await tenants({ admin });
  const { bytes, buildHash } = await buildArchive();
  await admin.ingestBuild(PROJECT, memoryAccess(bytes));
  await worlds({ admin }, buildHash);
  await store.transaction(async (tx) => {
    const row = (await tx.runs.lock(PROJECT, id('hrun', 1)))!;
    await tx.runs.update({ ...row, resource: { ...row.resource, result: runResult } });
  });
  const bearer = await token({ admin });
  await store.close();
  return bearer;
}

/** A program that has said its first line. */
async function started(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = start([...args, '--json'], { env });
  const chunks: string[] = [];
  child.stderr.on('data', (chunk) => chunks.push(String(chunk)));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };
  return { said: JSON.parse(String(line)) as Record<string, unknown>, stop, stderr: () => chunks.join('') };
}

it('serve, the example runner in a worker, and a client that waits: a turn and a rerun come to their end', async () => {
  await using folder = await scratch();
  const data = folder.path('data');
  const bearer = await prepare(data);
  const server = await started(['serve', '--data', data, '--port', '0']);
  const key = folder.path('key.pem');
  await writeFile(key, writeSigningKeyPem(generateSigningKey().scalar));
  const args = ['worker', '--data', data, '--runner', RUNNER, '--concurrency', '2', '--health-port', '0'];
  const worker = await started(args, { RUNNER_KEY: key });
  expect(worker.said).toMatchObject({ kind: 'working', concurrency: 2 });
  expect(worker.said['kinds']).toEqual(expect.arrayContaining(['authoring.turn', 'run.rerun']));

  const client = createClient({ baseUrl: String(server.said['url']), token: bearer });
  const inProject = { projectId: PROJECT };
  const talk = { ...inProject, authoringSessionId: id('authsess', 1) };
  const wait = { timeoutMs: 30_000 };
  const { turn, operation } = await client.authoring.turns.create({ ...talk, prompt: 'say this louder' });
  const rerun = await client.runs.reruns.create({ ...inProject, hostedRunId: id('hrun', 1) });
  await client.operations.wait({ ...inProject, operationId: operation.operationId }, wait);
  await client.operations.wait({ ...inProject, operationId: rerun.operation.operationId }, wait);
  const { authoringTurnId } = turn;
  expect(await client.authoring.turns.read({ ...talk, authoringTurnId })).toMatchObject({
    state: 'succeeded',
    resultText: 'SAY THIS LOUDER',
    actualModel: 'capitals-1',
  });
  expect(await client.runs.read({ ...inProject, hostedRunId: rerun.run.hostedRunId })).toMatchObject({
    state: 'succeeded',
    identity: { runId: rerun.run.request.runId },
  });
  const { evidenceBundleId } = rerun.run;
  expect(await client.evidence.bundles.read({ ...inProject, evidenceBundleId })).toMatchObject({
    hostedRunId: rerun.run.hostedRunId,
    signed: true,
  });

  const failing = await client.authoring.turns.create({ ...talk, prompt: '  ' });
  const failure = client.operations.wait({ ...inProject, operationId: failing.operation.operationId }, wait);
  await expect(failure).rejects.toMatchObject({
    code: 'client.OPERATION_FAILED',
    details: { error: { code: 'author.PROMPT_EMPTY' } },
  });
  const shown = async (path: string) => {
    const response = await fetch(String(worker.said['healthUrl']) + path);
    return `${response.status} ${await response.text()}`;
  };
  expect(await shown('/healthz')).toMatch(/^200 /);
  expect(await shown('/readyz')).toMatch(/^200 .*"status":"ready"/);
  expect(await shown('/v1/projects')).toMatch(/^404 .*control\.NOT_FOUND/);
  expect(await shown('/openapi.json')).toMatch(/^404 /);
  await expect
    .poll(() => shown('/metrics'))
    .toContain('drillproof_worker_jobs_total{kind="authoring.turn",outcome="failed"} 1');
  expect(await shown('/metrics')).toContain(
    'drillproof_worker_jobs_total{kind="run.rerun",outcome="succeeded"} 1',
  );
  expect(await worker.stop()).toBe(0);
  expect(await server.stop()).toBe(0);
});

it('a runner that cannot be used stops the worker at its start, with one line and before anything is made', async () => {
  await using folder = await scratch();
  const { code, stderr, stdout } = await call([
    'worker',
    '--data',
    folder.path('none'),
    '--runner',
    folder.path('none.js'),
  ]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('server.CONFIG_INVALID');
});

it('a concurrency that is none is refused', async () => {
  const { code } = await drillproof(['worker', '--concurrency', '0']);
  expect(code).toBe(2);
});
