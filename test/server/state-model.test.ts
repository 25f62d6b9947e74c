import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ControlCode } from '../../src/contract/operations/errors.ts';
import { defaultLimits } from '../../src/server/model/limits.ts';
import { tries } from '../support/deep.ts';
import { answerOf, EXTEND, HOUR_MS, inProject, post, RERUNS, sendArchive, TURNS, UPLOADS } from './change.ts';
import { chooseStore, type Prepared } from './each-test.ts';
import { settleDue } from '../../src/server/jobs/settle.ts';
import { expectEnvelope } from './envelope.ts';
import { goodRunner, makeRunner, makeWorker, prepareWork } from './jobs/make.ts';
import {
  ask,
  buildArchive,
  createTenants,
  ENVIRONMENT,
  id,
  NOW_MS,
  ORG,
  PROJECT,
  token,
  type BuildArchive,
} from './make.ts';
import { forAllAsync } from '../support/property.ts';

const RUNS = tries(5, 25);
const MAX_COMMANDS = 25;
const TTL_MS = 7 * 24 * HOUR_MS;

type Upload = {
  readonly attemptId: string;
  readonly url: string;
  readonly expiresAtMs: number;
  readonly expectedVersion: number;
  state: string;
};
type Queued = {
  readonly operationId: string;
  readonly kind: 'turn' | 'rerun';
  readonly resourceId: string;
  readonly deadlineAtMs?: number;
  state: string;
};

type Answered = Record<'path' | 'key' | 'text', string> & { readonly body: unknown; readonly atMs: number };

/** The state that the control plane must store, as simply as possible. */
const makeModel = () => ({
  nowMs: NOW_MS,
  session: { version: 1, expiresAtMs: NOW_MS + HOUR_MS, expired: false },
  environmentVersion: 1,
  activeTurn: undefined as string | undefined,
  turns: 0,
  uploads: [] as Upload[],
  queue: [] as Queued[],
  answers: [] as Answered[],
});
type Model = ReturnType<typeof makeModel>;

/** The control plane itself, and what its requests need. */
type Real = {
  readonly plane: Prepared;
  readonly archive: BuildArchive;
  keys: number;
};

type Command = fc.AsyncCommand<Model, Real>;
const command = (name: string, run: Command['run'], check: Command['check'] = () => true): Command => ({
  check,
  run,
  toString: () => name,
});
/** A command on the nth item of a list of the model, if the list has any that `check` accepts. */
const commandOn = <T>(
  name: string,
  pick: (model: Readonly<Model>) => readonly T[],
  run: (item: T, model: Model, real: Real) => Promise<void>,
  check: (item: T, model: Readonly<Model>) => boolean = () => true,
) => {
  const find = (model: Readonly<Model>, nth: number): T | undefined => pick(model)[nth % pick(model).length];
  return (nth: number): Command =>
    command(
      `${name}(${nth})`,
      (model, real) => run(find(model, nth)!, model, real),
      (model) => {
        const item = find(model, nth);
        return item !== undefined && check(item, model);
      },
    );
};

/** Sends a change and remembers its answer for replays. */
async function change(model: Model, real: Real, path: string, body: unknown): Promise<Response> {
  const key = `model-key-${real.keys++}`;
  const response = await post(real.plane, path, body, key);
  if (response.ok)
    model.answers.push({ path, body, key, text: await response.clone().text(), atMs: model.nowMs });
  return response;
}

/** The refusal of an extension by its rules, which are checked in this order. */
function findRefusal(
  { session, nowMs }: Model,
  version: number,
  lease: number,
  ttlMs: number,
): ControlCode | undefined {
  if (session.expiresAtMs <= nowMs) return 'control.SESSION_EXPIRED';
  if (lease !== 1) return 'control.LEASE_GENERATION_MISMATCH';
  if (version !== session.version) return 'control.VERSION_MISMATCH';
  return nowMs + ttlMs <= session.expiresAtMs ? 'control.LIFETIME_NOT_LATER' : undefined;
}

const extend = (stale: number, lease: number, ttlMs: number): Command =>
  command(`extend(${stale}, ${lease}, ${ttlMs})`, async (model, real) => {
    const expectedVersion = model.session.version - stale;
    const refusal = findRefusal(model, expectedVersion, lease, ttlMs);
    const body = { expectedVersion, expectedLeaseGeneration: lease, ttlMs };
    const response = await change(model, real, EXTEND, body);
    if (refusal !== undefined) {
      await expectEnvelope(response, refusal);
      return;
    }
    const session = { version: model.session.version + 1, expiresAtMs: model.nowMs + ttlMs };
    model.session = { ...session, expired: false };
    const answer = await answerOf('sessions.extend', response);
    expect(answer).toMatchObject({ session, operation: { state: 'succeeded' } });
  });

const createTurn = command('turn', async (model, real) => {
  const response = await change(model, real, TURNS, { prompt: 'continue' });
  if (model.activeTurn !== undefined) {
    await expectEnvelope(response, 'control.AUTHORING_TURN_ACTIVE');
    return;
  }
  const { turn, operation } = await answerOf('authoring.turns.create', response);
  expect(turn.sequence).toBe(++model.turns);
  model.activeTurn = turn.authoringTurnId;
  const { operationId } = operation;
  model.queue.push({ operationId, kind: 'turn', resourceId: turn.authoringTurnId, state: 'pending' });
});

const createRerun = command('rerun', async (model, real) => {
  const { run, operation } = await answerOf('runs.reruns.create', change(model, real, RERUNS, {}));
  const { hostedRunId: resourceId, deadlineAtMs } = run;
  const { operationId } = operation;
  model.queue.push({ operationId, kind: 'rerun', resourceId, deadlineAtMs, state: 'pending' });
});

const beginUpload = (stale: number): Command =>
  command(`upload(${stale})`, async (model, real) => {
    const expectedVersion = model.environmentVersion - stale;
    const advance = { advanceEnvironmentId: ENVIRONMENT, expectedEnvironmentVersion: expectedVersion };
    const body = { ...real.archive.announced, ...advance };
    const answer = change(model, real, UPLOADS, body);
    const { attempt, uploadUrl, expiresAtMs } = await answerOf('builds.uploads.create', answer);
    expect(expiresAtMs).toBe(model.nowMs + defaultLimits.uploadTtlMs);
    model.uploads.push({
      attemptId: attempt.buildAttemptId,
      url: uploadUrl,
      expiresAtMs,
      expectedVersion,
      state: 'awaiting_upload',
    });
  });

/** Moves an attempt and its environment as sending the archive does; returns the refusal. */
function putInModel(model: Model, upload: Upload): ControlCode | undefined {
  if (upload.expiresAtMs <= model.nowMs) {
    if (upload.state === 'awaiting_upload') upload.state = 'failed';
    return 'control.UPLOAD_EXPIRED';
  }
  if (upload.state !== 'awaiting_upload') return undefined;
  const isExpected = upload.expectedVersion === model.environmentVersion;
  upload.state = isExpected ? 'succeeded' : 'failed';
  if (isExpected) model.environmentVersion++;
  return undefined;
}

const put = commandOn(
  'put',
  ({ uploads }) => uploads,
  async (upload, model, { plane, archive }) => {
    const refusal = putInModel(model, upload);
    const response = await sendArchive(plane, upload.url, archive);
    if (refusal !== undefined) await expectEnvelope(response, refusal);
    else expect((await answerOf('builds.uploads.put', response)).state).toBe(upload.state);
  },
);

const replay = commandOn(
  'replay',
  ({ answers }) => answers,
  async ({ path, body, key, text }, _model, { plane }) => {
    const response = await post(plane, path, body, key);
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    // The address of an upload is signed again, with the same result: no part of it depends on the time.
    expect(await response.json()).toEqual(JSON.parse(text));
    await expectEnvelope(post(plane, path, { another: 'request' }, key), 'control.REQUEST_INVALID');
  },
  // A key is kept for at least 24 hours; a later request is a new one.
  ({ atMs }, { nowMs }) => nowMs - atMs < 24 * HOUR_MS,
);

const FAILURE = { code: 'model.REFUSED', message: 'on purpose' };

/** A worker that completes the oldest waiting job. */
const work = (well: boolean): Command =>
  command(`work(${well})`, async (model, { plane }) => {
    const runner = makeRunner((job, context) =>
      well ? goodRunner.run(job, context) : Promise.resolve({ outcome: 'failed', error: FAILURE }),
    );
    const driven = await makeWorker(plane, runner).workOnce();
    const waiting = model.queue.filter(({ state }) => state === 'pending');
    const ended = [];
    for (const queued of waiting)
      if ((await plane.stored.operation(queued.operationId)).state !== 'pending') ended.push(queued);
    expect(ended).toHaveLength(Math.min(1, waiting.length));
    for (const queued of ended) {
      const end = isLate(queued, model) ? 'expired' : 'succeeded';
      queued.state = well || end === 'expired' ? end : 'failed';
      if (queued.resourceId === model.activeTurn) model.activeTurn = undefined;
    }
    expect(driven).toBe(ended[0] && operationStateOf(ended[0].state));
  });

const isLate = ({ deadlineAtMs = Infinity }: Queued, { nowMs }: Model): boolean => deadlineAtMs <= nowMs;

/** The state of the operation of a resource in a state. */
const operationStateOf = (state: string): string => (state === 'expired' ? 'failed' : state);

/** The sweep of deadlines: everything past its deadline ends, and everything else stays as it is. */
const sweep = command('sweep', async (model, { plane }) => {
  const { store, clock } = plane;
  await settleDue({ store, now: () => clock.nowMs }, new AbortController().signal);
  if (model.session.expiresAtMs <= model.nowMs && !model.session.expired)
    model.session = { ...model.session, version: model.session.version + 1, expired: true };
  for (const queued of model.queue)
    if (queued.state === 'pending' && isLate(queued, model)) queued.state = 'expired';
});

const cancel = commandOn(
  'cancel',
  ({ queue }) => queue,
  async (queued, model, { plane }) => {
    if (queued.state === 'pending') {
      queued.state = 'cancelled';
      if (queued.resourceId === model.activeTurn) model.activeTurn = undefined;
    }
    const { operationId } = queued;
    const { state } = await plane.admin.cancelOperation({ organizationId: ORG, operationId });
    expect(state).toBe(operationStateOf(queued.state));
  },
);

const advance = (ms: number): Command =>
  command(`advance(${ms})`, async (model, { plane }) => {
    model.nowMs += ms;
    plane.clock.nowMs = model.nowMs;
  });

/** Compares everything that is stored with the model. */
const compare = command('compare', async (model, { plane }) => {
  const session = await plane.stored.session(id('ses', 1));
  const { version, expiresAtMs } = model.session;
  expect(session).toMatchObject({ version, expiresAtMs, leaseGeneration: 1 });
  // The run that has not ended moves with its session.
  expect((await plane.stored.run(id('hrun', 2))).deadlineAtMs).toBe(model.session.expiresAtMs);
  expect((await plane.store.environments.find(PROJECT, ENVIRONMENT))?.version).toBe(model.environmentVersion);
  expect((await plane.store.authoringSessions.find(PROJECT, id('authsess', 1)))?.resource.activeTurnId).toBe(
    model.activeTurn,
  );
  for (const { operationId, kind, resourceId, state } of model.queue) {
    expect((await plane.stored.operation(operationId)).state).toBe(operationStateOf(state));
    const resource = await (kind === 'turn' ? plane.stored.turn(resourceId) : plane.stored.run(resourceId));
    expect(resource.state).toBe(state === 'pending' ? { turn: 'queued', rerun: 'created' }[kind] : state);
  }
  for (const upload of model.uploads) {
    const path = inProject(`build-attempts/${upload.attemptId}`);
    const attempt = await answerOf('builds.attempts.read', ask(plane, path, plane));
    if (upload.state === 'awaiting_upload' && upload.expiresAtMs <= model.nowMs) upload.state = 'failed';
    expect(attempt.state).toBe(upload.state);
  }
  const pending = model.queue.filter(({ state }) => state === 'pending').length;
  const jobs = await plane.store.jobs.count(0);
  expect(jobs.reduce((sum, { waiting, running }) => sum + waiting + running, 0)).toBe(pending);
});

const stale = fc.constantFrom(0, 0, 0, 1, -1);
const ttlMs = fc.oneof(fc.constantFrom(1, TTL_MS), fc.integer({ min: 1, max: 4 * HOUR_MS }));
const nth = fc.nat(20);
const commands = fc.commands(
  [
    fc.tuple(stale, fc.constantFrom(1, 1, 1, 2), ttlMs).map((drawn) => extend(...drawn)),
    fc.constant(createTurn),
    fc.constant(createRerun),
    fc.constant(sweep),
    stale.map(beginUpload),
    nth.map(put),
    nth.map(replay),
    fc.boolean().map(work),
    nth.map(cancel),
    fc.oneof(fc.constantFrom(1, HOUR_MS), fc.integer({ min: 1, max: 2 * HOUR_MS })).map(advance),
    fc.constant(compare),
  ],
  { maxCommands: MAX_COMMANDS, size: 'max' },
);

const make = await chooseStore();

it('commands in any order give the results of the simple model', { timeout: 300_000 }, async () => {
  await forAllAsync(RUNS, [commands], async (drawn) => {
    const plane = await make();
    try {
      await createTenants(plane);
      await prepareWork(plane);
      const archive = await buildArchive('export const other = 1;\n');
      const real: Real = { plane: { ...plane, token: await token(plane) }, archive, keys: 0 };
      await fc.asyncModelRun(() => ({ model: makeModel(), real }), [...drawn, compare]);
    } finally {
      await plane.close();
    }
  });
});
