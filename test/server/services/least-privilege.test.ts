import { expect, it } from 'vitest';
import { type Permission, permissions } from '../../../src/contract/operations/operations.ts';
import {
  answerOf,
  EXTEND,
  extension,
  inProject,
  post,
  RERUNS,
  type Sender,
  TURNS,
  UPLOADS,
} from '../change.ts';
import { eachTest, storeBuild } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, ENVIRONMENT, HASH, id, ORG, PROJECT, token, importWorlds } from '../make.ts';

const plane = eachTest(importWorlds, storeBuild);

const createTurn = (sender: Sender, prompt: string) =>
  answerOf('authoring.turns.create', post(sender, TURNS, { prompt }));
const only = async (permission: Permission): Promise<Sender> => ({
  server: plane.server,
  token: await token(plane, { permissions: [permission] }),
});

/** Starts work with a permission and returns the paths that the permission may then read. */
const STARTS: Partial<Record<Permission, (sender: Sender) => Promise<string[]>>> = {
  'session.control': async (sender) => {
    const { session, operation } = await answerOf('sessions.extend', post(sender, EXTEND, extension()));
    return [`sessions/${session.sessionId}`, `operations/${operation.operationId}`];
  },
  'run.write': async (sender) => {
    const { run, operation } = await answerOf('runs.reruns.create', post(sender, RERUNS, {}));
    return [`runs/${run.hostedRunId}`, `sessions/${run.sessionId}`, `operations/${operation.operationId}`];
  },
  'authoring.write': async (sender) => {
    const { turn, operation } = await createTurn(sender, 'continue');
    const session = `authoring-sessions/${turn.authoringSessionId}`;
    const turns = `${session}/turns`;
    return [session, turns, `${turns}/${turn.authoringTurnId}`, `operations/${operation.operationId}`];
  },
  'build.write': async (sender) => {
    const body = { buildHash: HASH, artifactDigest: HASH, bytes: 1 };
    const { attempt } = await answerOf('builds.uploads.create', post(sender, UPLOADS, body));
    return [`build-attempts/${attempt.buildAttemptId}`, `environments/${ENVIRONMENT}`];
  },
};

it.each(Object.entries(STARTS))(
  '%s reads the work that it started, unlike others',
  async (starter, start) => {
    const sender = await only(starter as Permission);
    for (const started of await start(sender)) {
      const read = (bearer: string) => ask(plane, inProject(started), { token: bearer });
      expect((await read(sender.token)).status, started).toBe(200);
      for (const other of permissions.filter((each) => each !== starter && STARTS[each] !== undefined)) {
        const shared =
          started.startsWith('sessions/') && other !== 'authoring.write' && other !== 'build.write';
        if (!shared) await expectEnvelope(read((await only(other)).token), 'control.PERMISSION_DENIED');
      }
    }
  },
);

const cancel = (sender: Sender, operationId: string) =>
  post(sender, inProject(`operations/${operationId}/cancel`), {});

it.each(['run.write', 'authoring.write'] as const)(
  'waiting work that %s started is cancelled at once, and only by that permission',
  async (permission) => {
    const sender = await only(permission);
    const paths = await STARTS[permission]?.(sender);
    const operationId = paths?.at(-1)?.split('/')[1] ?? '';
    const other = permission === 'run.write' ? 'authoring.write' : 'run.write';
    for (const insufficient of [other, 'evidence.read'] as const)
      await expectEnvelope(cancel(await only(insufficient), operationId), 'control.PERMISSION_DENIED');
    const cancelled = await answerOf('operations.cancel', cancel(sender, operationId));
    expect(cancelled).toMatchObject({ state: 'cancelled', cancelRequestedAtMs: plane.clock.nowMs });
    expect(await answerOf('operations.cancel', cancel(sender, operationId))).toEqual(cancelled);
  },
);

it('work of an operator cannot be cancelled over HTTP', async () => {
  const scope = { kind: 'project' as const, projectId: PROJECT };
  const window = { fromAtMs: 0, throughAtMs: plane.clock.nowMs };
  const { operation } = await plane.admin.createExport({ organizationId: ORG, scope, ...window });
  await expectEnvelope(cancel(plane, operation.operationId), 'control.PERMISSION_DENIED');
  await expectEnvelope(cancel(plane, id('op', 99)), 'control.NOT_FOUND');
});

const path = inProject(`authoring-sessions/${id('authsess', 1)}`);
const close = (sender: Sender) => post(sender, `${path}/close`, {});

it('an authoring session closes only without an unfinished turn, and then refuses turns', async () => {
  const sender = await only('authoring.write');
  const paths = await STARTS['authoring.write']?.(sender);
  await expectEnvelope(close(sender), 'control.AUTHORING_TURN_ACTIVE');
  await post(sender, inProject(`${paths?.at(-1) ?? ''}/cancel`), {});
  const { session, operation } = await answerOf('authoring.sessions.close', close(sender));
  expect(session).toMatchObject({ state: 'closed', closedAtMs: plane.clock.nowMs });
  expect(operation).toMatchObject({ kind: 'authoring.session.close', state: 'succeeded' });
  expect(await (await ask(plane, path, sender)).json()).toEqual(session);
  await expectEnvelope(close(sender), 'control.AUTHORING_SESSION_NOT_ACTIVE');
  await expectEnvelope(post(sender, TURNS, { prompt: 'on' }), 'control.AUTHORING_SESSION_NOT_ACTIVE');
  await expectEnvelope(close(await only('run.write')), 'control.PERMISSION_DENIED');
});

it('an authoring session lists its turns in order on pages, whose cursors other sessions refuse', async () => {
  for (let n = 0; n < 3; n++) {
    const { operation } = await createTurn(plane, `turn ${n}`);
    await cancel(plane, operation.operationId);
  }
  const read = (query: string) =>
    answerOf('authoring.turns.list', ask(plane, `${path}/turns?${query}`, plane));
  const first = await read('limit=2');
  const second = await read(`limit=2&cursor=${first.nextCursor}`);
  const prompts = [...first.items, ...second.items].map(({ prompt }) => prompt);
  expect(prompts).toEqual(['turn 0', 'turn 1', 'turn 2']);

  expect(second.nextCursor).toBeUndefined();
  const other = path.replace(id('authsess', 1), id('authsess', 2));
  const answer = ask(plane, `${other}/turns?cursor=${first.nextCursor}`, plane);
  await expectEnvelope(answer, 'control.CURSOR_INVALID');
});
