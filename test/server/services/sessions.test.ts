import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { sessionStates, type WorldSession } from '../../../src/contract/resources/session.ts';
import type { ControlCode } from '../../../src/contract/operations/errors.ts';
import { assertExtendable } from '../../../src/server/services/sessions.ts';
import { answerOf, EXTEND, extension, HOUR_MS, post, readOperation } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import { id, NOW_MS, ORG, PROJECT, makeRun, makeSession, serverOn, importWorlds } from '../make.ts';
import { eachTest, withMembers } from '../each-test.ts';

const SESSION = id('ses', 1);

const plane = eachTest(importWorlds);

const readStored = (): Promise<WorldSession> => plane.stored.session(SESSION);

/** Changes the stored session as another part of the platform would. */
const change = (over: Partial<WorldSession>): Promise<void> =>
  plane.store.transaction(async (tx) => {
    const row = (await tx.sessions.lock(PROJECT, SESSION))!;
    await tx.sessions.update({ ...row, resource: { ...row.resource, ...over } });
  });

async function expectOutcome(answer: Promise<Response>, outcome: ControlCode | 200): Promise<void> {
  if (outcome === 200) expect((await answer).status).toBe(200);
  else await expectEnvelope(answer, outcome);
}

it('an extension counts the lifetime from its admission, not from the old deadline', async () => {
  const before = await readStored();
  plane.clock.nowMs += 1000;
  const response = await post(plane, EXTEND, extension());
  expect(response.status).toBe(200);
  expect(response.headers.get('idempotency-replayed')).toBeNull();
  const { session, operation } = await answerOf('sessions.extend', response);
  const admittedAtMs = NOW_MS + 1000;
  expect(session).toEqual({
    ...before,
    expiresAtMs: admittedAtMs + 2 * HOUR_MS,
    version: 2,
    updatedAtMs: admittedAtMs,
  });
  expect(await readStored()).toEqual(session);
  expect(operation).toMatchObject({
    organizationId: ORG,
    projectId: PROJECT,
    kind: 'session.extend',
    state: 'succeeded',
    resourceType: 'session',
    resourceId: SESSION,
    startedAtMs: admittedAtMs,
    finishedAtMs: admittedAtMs,
  });
  expect(await readOperation(plane, operation.operationId)).toEqual(operation);
});

it('an extension moves the deadlines of the unfinished runs of its session only', async () => {
  await plane.admin.importResources({
    schemaVersion: 1,
    sessions: [makeSession(2)],
    runs: [makeRun(3, { sessionId: id('ses', 2) }), makeRun(4, { state: 'running' })],
  });
  const readDeadlines = async () =>
    Promise.all(
      [1, 2, 3, 4].map(async (n) => {
        const { deadlineAtMs, revision } = (await plane.store.runs.find(PROJECT, id('hrun', n)))!.resource;
        return [deadlineAtMs - NOW_MS, revision];
      }),
    );
  await post(plane, EXTEND, extension());
  expect(await readDeadlines()).toEqual([
    [HOUR_MS, 1], // has ended
    [2 * HOUR_MS, 2],
    [HOUR_MS, 1], // of another session
    [2 * HOUR_MS, 2],
  ]);
});

it('an extension changes nothing when a run cannot be updated', async () => {
  const before = await readStored();
  const store = withMembers(plane.store, ({ runs }) => ({
    runs: { ...runs, update: () => Promise.reject(new Error('on purpose')) },
  }));
  const sender = { ...plane, server: serverOn(plane, { store }) };
  await expectEnvelope(post(sender, EXTEND, extension()), 'control.INTERNAL');
  expect(await readStored()).toEqual(before);
});

const VERSION = 'control.VERSION_MISMATCH';
const LEASE = 'control.LEASE_GENERATION_MISMATCH';
it.each<[string, Record<string, unknown>, ControlCode | 200]>([
  ['the shortest later lifetime', { ttlMs: HOUR_MS + 1 }, 200],
  ['a lifetime that ends with the present deadline', { ttlMs: HOUR_MS }, 'control.LIFETIME_NOT_LATER'],
  ['a lifetime that ends before it', { ttlMs: 1 }, 'control.LIFETIME_NOT_LATER'],
  ['the longest lifetime', { ttlMs: 604_800_000 }, 200],
  ['a lower version', { expectedVersion: 0 }, VERSION],
  ['a higher version', { expectedVersion: 2 }, VERSION],
  ['the lowest version', { expectedVersion: Number.MIN_SAFE_INTEGER }, VERSION],
  ['the highest version', { expectedVersion: Number.MAX_SAFE_INTEGER }, VERSION],
  ['another lease', { expectedLeaseGeneration: 2 }, LEASE],
  ['the highest lease', { expectedLeaseGeneration: Number.MAX_SAFE_INTEGER }, LEASE],
])('an extension with %s is answered as specified', async (_, over, expected) => {
  await expectOutcome(post(plane, EXTEND, extension(over)), expected);
  expect((await readStored()).version).toBe(expected === 200 ? 2 : 1);
});

it('an extension is refused from the millisecond in which the session expires', async () => {
  plane.clock.nowMs = NOW_MS + HOUR_MS;
  await expectEnvelope(post(plane, EXTEND, extension()), 'control.SESSION_EXPIRED');
  plane.clock.nowMs -= 1;
  expect((await post(plane, EXTEND, extension())).status).toBe(200);
});

const CODES: Partial<Record<WorldSession['state'], ControlCode | 200>> = {
  ready: 200,
  expired: 'control.SESSION_EXPIRED',
};
it.each(sessionStates)('an extension of a session that is %s is answered as specified', async (state) => {
  await change({ state });
  await expectOutcome(post(plane, EXTEND, extension()), CODES[state] ?? 'control.SESSION_NOT_READY');
});

it.each([
  [2 * HOUR_MS, 200],
  [2 * HOUR_MS - 1, 'control.ENTITLEMENT_EXCEEDED'],
] as const)(
  'an extension by two hours with an entitlement to %d ms gets %s',
  async (maxSessionTtlMs, outcome) => {
    await plane.admin.setEntitlement({ organizationId: ORG, maxSessionTtlMs });
    await expectOutcome(post(plane, EXTEND, extension()), outcome);
  },
);

it('an extension of the highest version is refused, and nothing is written', async () => {
  await change({ version: Number.MAX_SAFE_INTEGER });
  const request = extension({ expectedVersion: Number.MAX_SAFE_INTEGER });
  await expectEnvelope(post(plane, EXTEND, request), 'control.INTERNAL');
  expect((await readStored()).expiresAtMs).toBe(NOW_MS + HOUR_MS);
});

it('an extension does not change the expiry of the token', async () => {
  const before = await plane.store.tokens.list(ORG);
  await post(plane, EXTEND, extension());
  expect(await plane.store.tokens.list(ORG)).toEqual(before);
});

it('one of 50 simultaneous extensions of one version succeeds', async () => {
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, n) => post(plane, EXTEND, extension({ ttlMs: 2 * HOUR_MS + n }))),
  );
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const response of responses)
    if (response.status !== 200) await expectEnvelope(response, 'control.VERSION_MISMATCH');
  expect((await readStored()).version).toBe(2);
});

const ORDER = [
  'control.SESSION_EXPIRED',
  'control.SESSION_NOT_READY',
  'control.LEASE_GENERATION_MISMATCH',
  'control.VERSION_MISMATCH',
  'control.LIFETIME_NOT_LATER',
  'control.ENTITLEMENT_EXCEEDED',
] as const;

it('the rules of extend are checked in their order, whichever are broken together', async () => {
  const session = await readStored();
  fc.assert(
    fc.property(fc.subarray([...ORDER]), (broken) => {
      const has = (code: (typeof ORDER)[number]): boolean => broken.includes(code);
      const expiresAtMs = NOW_MS + (has('control.SESSION_EXPIRED') ? 0 : 1000);
      // A session that has expired can only be given a later deadline: these two exclude each other.
      const notLater = has('control.LIFETIME_NOT_LATER') && !has('control.SESSION_EXPIRED');
      const facts = {
        session: {
          ...session,
          expiresAtMs,
          state: has('control.SESSION_NOT_READY') ? ('degraded' as const) : ('ready' as const),
        },
        request: {
          expectedLeaseGeneration: has('control.LEASE_GENERATION_MISMATCH') ? 2 : 1,
          expectedVersion: has('control.VERSION_MISMATCH') ? 2 : 1,
          ttlMs: notLater ? 1000 : 1001,
        },
        admittedAtMs: NOW_MS,
        maxTtlMs: has('control.ENTITLEMENT_EXCEEDED') ? 999 : 1001,
      };
      const first = ORDER.find((code) => has(code) && (code !== 'control.LIFETIME_NOT_LATER' || notLater));
      const check = () => assertExtendable(facts);
      if (first === undefined) check();
      else expect(check).toThrow(expect.objectContaining({ code: first }));
    }),
  );
});
