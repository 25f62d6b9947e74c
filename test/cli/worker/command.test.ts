import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { generateSigningKey, writeSigningKeyPem } from '../../../src/node/keys/keys.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import { openEmbedded } from '../../../src/server/open-stores.ts';
import { runResult } from '../../contract/resources.ts';
import { buildArchive, id, PROJECT, createTenants, token, importWorlds } from '../../server/make.ts';
import { drillproof, expectExit, scratch, start } from '../make.ts';

const RUNNER = fileURLToPath(new URL('../../../docs/examples/runner.js', import.meta.url));

/** Makes a control plane with worlds and a finished run, and returns a token. */
async function prepare(folder: string): Promise<string> {
  const { store, blobs } = await openEmbedded(folder);
  const admin = createAdmin({ store, blobs });
  await createTenants({ admin });
  const { bytes, buildHash } = await buildArchive();
  await admin.ingestBuild(PROJECT, memoryAccess(bytes));
  await importWorlds({ admin }, buildHash);
  await store.transaction(async (tx) => {
    const row = (await tx.runs.lock(PROJECT, id('hrun', 1)))!;
    await tx.runs.update({ ...row, resource: { ...row.resource, result: runResult } });
  });
  const bearer = await token({ admin });
  await store.close();
  return bearer;
}

/** Starts a program, and waits for its first line. */
async function startAndWait(line: string, env: Readonly<Record<string, string>> = {}) {
  const child = start(`${line} --json`, { env });
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };
  return { output: JSON.parse(String(output)) as Record<string, unknown>, stop };
}

it('serve, the example runner in a worker, and a client that waits complete a turn and a rerun', async () => {
  await using folder = await scratch();
  const data = folder.path('data');
  const bearer = await prepare(data);
  const server = await startAndWait(`serve --data ${data} --port 0`);
  const key = folder.path('key.pem');
  await writeFile(key, writeSigningKeyPem(generateSigningKey().scalar));
  const line = `worker --data ${data} --runner ${RUNNER} --concurrency 2 --health-port 0`;
  const worker = await startAndWait(line, { RUNNER_KEY: key });
  expect(worker.output).toMatchObject({ kind: 'working', concurrency: 2 });
  expect(worker.output['kinds']).toEqual(expect.arrayContaining(['authoring.turn', 'run.rerun']));

  const client = createClient({ baseUrl: String(server.output['url']), token: bearer });
  const inProject = { projectId: PROJECT };
  const session = { ...inProject, authoringSessionId: id('authsess', 1) };
  const wait = { timeoutMs: 30_000 };
  const { turn, operation } = await client.authoring.turns.create({ ...session, prompt: 'say this louder' });
  const rerun = await client.runs.reruns.create({ ...inProject, hostedRunId: id('hrun', 1) });
  await client.operations.wait({ ...inProject, operationId: operation.operationId }, wait);
  await client.operations.wait({ ...inProject, operationId: rerun.operation.operationId }, wait);
  const { authoringTurnId } = turn;
  expect(await client.authoring.turns.read({ ...session, authoringTurnId })).toMatchObject({
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

  const failing = await client.authoring.turns.create({ ...session, prompt: '  ' });
  const failure = client.operations.wait({ ...inProject, operationId: failing.operation.operationId }, wait);
  await expect(failure).rejects.toMatchObject({
    code: 'client.OPERATION_FAILED',
    details: { error: { code: 'author.PROMPT_EMPTY' } },
  });
  const fetchText = async (path: string) => {
    const response = await fetch(String(worker.output['healthUrl']) + path);
    return `${response.status} ${await response.text()}`;
  };
  expect(await fetchText('/healthz')).toMatch(/^200 /);
  expect(await fetchText('/readyz')).toMatch(/^200 .*"status":"ready"/);
  expect(await fetchText('/v1/projects')).toMatch(/^404 .*control\.NOT_FOUND/);
  expect(await fetchText('/openapi.json')).toMatch(/^404 /);
  await expect
    .poll(() => fetchText('/metrics'))
    .toContain('drillproof_worker_jobs_total{kind="authoring.turn",outcome="failed"} 1');
  expect(await fetchText('/metrics')).toContain(
    'drillproof_worker_jobs_total{kind="run.rerun",outcome="succeeded"} 1',
  );
  expect(await worker.stop()).toBe(0);
  expect(await server.stop()).toBe(0);
});

it('worker ends with 2 and writes nothing for a runner that cannot be loaded', async () => {
  await using folder = await scratch();
  const line = `worker --data ${folder.path('none')} --runner ${folder.path('none.js')}`;
  await expectExit(line, 2, 'server.CONFIG_INVALID');
  expect(await readdir(folder.root)).toEqual([]);
});

it('worker refuses the concurrency 0', async () => {
  expect(await drillproof('worker --concurrency 0')).toMatchObject({ code: 2 });
});
