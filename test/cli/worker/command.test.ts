import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { access, chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { generateSigningKey, writeSigningKeyPem } from '../../../src/node/keys/keys.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import { openEmbedded } from '../../../src/server/open-stores.ts';
import { runResult } from '../../contract/resources.ts';
import { buildArchive, id, ORG, PROJECT, createTenants, token, importWorlds } from '../../server/make.ts';
import { writeFiles } from '../../support/folder.ts';
import { drillproof, expectExit, PROGRAM, scratch, start } from '../make.ts';

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
  const kill = () => child.kill('SIGKILL');
  return { output: JSON.parse(String(output)) as Record<string, unknown>, stop, kill };
}

it('serve, the example runner in a worker, and a client that waits complete a turn and a rerun', async () => {
  await using folder = await scratch();
  const data = folder.path('data');
  const bearer = await prepare(data);
  const server = await startAndWait(`serve --data ${data} --port 0`);
  const key = folder.path('key.pem');
  await writeFile(key, writeSigningKeyPem(generateSigningKey().scalar));
  const line = `worker --data ${data} --runner ${RUNNER} --concurrency 2 --health-port 0`;
  const worker = await startAndWait(line, { RUNNER_KEY_FILE: key });
  expect(worker.output).toMatchObject({ kind: 'working', concurrency: 2 });
  expect(worker.output['kinds']).toEqual(expect.arrayContaining(['authoring.turn', 'run.rerun']));

  const client = createClient({ baseUrl: String(server.output['url']), token: bearer });
  const { turn, operation } = await client.authoring.turns.create({ ...session, prompt: 'say this louder' });
  const rerun = await client.runs.reruns.create({ ...inProject, hostedRunId: id('hrun', 1) });
  await client.operations.wait({ ...inProject, operationId: operation.operationId }, WAIT);
  await client.operations.wait({ ...inProject, operationId: rerun.operation.operationId }, WAIT);
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
  const failure = client.operations.wait({ ...inProject, operationId: failing.operation.operationId }, WAIT);
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
  const metrics = await fetchText('/metrics');
  expect(metrics).toContain('drillproof_worker_jobs_total{kind="run.rerun",outcome="succeeded"} 1');
  expect(metrics).toMatch(
    /^drillproof_storage_call_duration_seconds_count\{storage="blobs",call="put\w*"\} [1-9]/m,
  );
  expect(await worker.stop()).toBe(0);
  expect(await server.stop()).toBe(0);
});

const WAIT = { timeoutMs: 30_000 };

/** Starts a server over prepared data, and returns a client. */
async function serveWith(data: string) {
  const bearer = await prepare(data);
  const server = await startAndWait(`serve --data ${data} --port 0`);
  return { server, client: createClient({ baseUrl: String(server.output['url']), token: bearer }) };
}

const inProject = { projectId: PROJECT };
const session = { ...inProject, authoringSessionId: id('authsess', 1) };

it.each(['python', 'typescript'])(
  'the example runner in %s completes a turn and a rerun',
  async (language) => {
    await using folder = await scratch();
    const data = folder.path('data');
    const { server, client } = await serveWith(data);
    await writeFiles(folder.root, {
      'bin/drillproof': `#!/bin/sh\nexec ${process.execPath} ${PROGRAM.join(' ')} "$@"\n`,
    });
    await chmod(folder.path('bin/drillproof'), 0o755);
    const path = fileURLToPath(new URL(`../../../docs/examples/runner-${language}`, import.meta.url));
    const key = writeSigningKeyPem(generateSigningKey().scalar);
    const env = {
      RUNNER_KEY: key,
      PATH: `${folder.path('bin')}:${process.env['PATH']}`,
      TMPDIR: folder.root,
    };
    const worker = await startAndWait(
      `worker --data ${data} --runner ${path} --label project=${PROJECT}`,
      env,
    );
    expect(worker.output).toMatchObject({ labels: [`project=${PROJECT}`] });

    const { turn, operation } = await client.authoring.turns.create({
      ...session,
      prompt: 'say this louder',
    });
    const rerun = await client.runs.reruns.create({ ...inProject, hostedRunId: id('hrun', 1) });
    for (const { operationId } of [operation, rerun.operation])
      await client.operations.wait({ ...inProject, operationId }, WAIT);
    const { authoringTurnId } = turn;
    expect(await client.authoring.turns.read({ ...session, authoringTurnId })).toMatchObject({
      resultText: 'SAY THIS LOUDER',
      actualModel: 'capitals-1',
      turnsUsed: 1,
    });
    const { evidenceBundleId, hostedRunId, sessionId } = rerun.run;
    expect(await client.runs.read({ ...inProject, hostedRunId })).toMatchObject({ state: 'succeeded' });
    const bundle = await client.evidence.bundles.read({ ...inProject, evidenceBundleId });
    expect(bundle).toMatchObject({ hostedRunId, signed: true });
    expect(await client.sessions.read({ ...inProject, sessionId })).toMatchObject({ state: 'destroyed' });

    const failing = await client.authoring.turns.create({ ...session, prompt: '  ' });
    const failure = client.operations.wait(
      { ...inProject, operationId: failing.operation.operationId },
      WAIT,
    );
    await expect(failure).rejects.toMatchObject({ details: { error: { code: 'author.PROMPT_EMPTY' } } });
    const logOf = (operationId: string, organization = ORG) =>
      drillproof(`admin operation log ${operationId} --organization ${organization} --data ${data}`);
    const log = await logOf(rerun.operation.operationId);
    expect(log).toMatchObject({ code: 0, stderr: '' });
    expect(log.stdout).toMatch(new RegExp(`^attempt 1 of ${rerun.operation.operationId}\n`));
    for (const [operationId, organization] of [
      [rerun.operation.operationId, id('org', 2)],
      [id('op', 77), ORG],
    ] as const)
      expect(await logOf(operationId, organization)).toMatchObject({ code: 2, stdout: '' });
    expect(await worker.stop()).toBe(0);
    expect(await server.stop()).toBe(0);
    expect((await readdir(folder.root)).filter((name) => name.startsWith('drillproof-job-'))).toEqual([]);
  },
);

const SLOW = `echo '{"v":[1],"kinds":["authoring.turn"]}' >&3; read -r job || exit 0
  echo "$TMPDIR" > place; echo $$ > pid; sleep 600 & wait`;

const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

it('the program of a worker that is killed ends, and the folder of its job is removed', async () => {
  await using folder = await scratch();
  const data = folder.path('data');
  const { server, client } = await serveWith(data);
  const runner = { command: ['/bin/sh', '-c', SLOW], secrets: ['API_KEY'] };
  await writeFiles(folder.root, { 'runner/runner.json': JSON.stringify(runner) });
  const env = { API_KEY: 'a key of a test', TMPDIR: folder.root };
  const worker = await startAndWait(`worker --data ${data} --runner ${folder.path('runner')}`, env);
  await client.authoring.turns.create({ ...session, prompt: 'x' });
  const readLine = (name: string) =>
    readFile(folder.path(`runner/${name}`), 'utf8').then((text) => text.trim());
  await expect.poll(() => readLine('pid').catch(() => ''), { timeout: 30_000 }).not.toBe('');
  const [pid, place] = [Number(await readLine('pid')), await readLine('place')];
  await access(`${place}/secrets.json`);
  worker.kill();
  await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
  await expect.poll(() => readdir(place).catch(() => 'removed'), { timeout: 30_000 }).toBe('removed');
  await server.stop();
});

it('a worker with labels leaves the jobs that have none of them to others', async () => {
  await using folder = await scratch();
  const data = folder.path('data');
  const { server, client } = await serveWith(data);
  const line = `worker --data ${data} --runner ${RUNNER}`;
  const rerun = await client.runs.reruns.create({ ...inProject, hostedRunId: id('hrun', 1) });
  const { operation } = await client.authoring.turns.create({ ...session, prompt: 'x' });
  const first = await startAndWait(`${line} --label project=${PROJECT} --label model=model_tier_2`);
  await client.operations.wait({ ...inProject, operationId: operation.operationId }, WAIT);
  const { operationId } = rerun.operation;
  expect(await client.operations.read({ ...inProject, operationId })).toMatchObject({ state: 'pending' });
  await first.stop();
  const second = await startAndWait(`${line} --label drill=other --label drill=restore`);
  await client.operations.wait({ ...inProject, operationId }, WAIT);
  await second.stop();
  await server.stop();
});

it.each(['other=x', 'drill', 'drill=', '=x'])('worker refuses the label %s', async (label) => {
  expect(await drillproof(`worker --runner x --label ${label}`)).toMatchObject({ code: 2 });
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
