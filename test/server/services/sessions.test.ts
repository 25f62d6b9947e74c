import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sessionStates, type ControlCode, type WorldSession } from '../../../src/contract/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { createServer } from '../../../src/server/index.ts';
import { assertExtendable } from '../../../src/server/services/sessions.ts';
import { answerOf, EXTEND, extension, HOUR_MS, post, readOperation } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import { id, NOW_MS, ORG, PROJECT, makeRun, makeSession, worlds } from '../make.ts';
import { eachTest, withMembers } from '../each-test.ts';

const SESSION = id('ses', 1);

const plane = eachTest(worlds);

const stored = async (): Promise<WorldSession> =>
  (await plane.store.sessions.find(PROJECT, SESSION))!.resource;

/** Changes the stored session as another part of the platform would. */
const change = (over: Partial<WorldSession>): Promise<void> =>
  plane.store.transaction(async (tx) => {
    const row = (await tx.sessions.lock(PROJECT, SESSION))!;
    await tx.sessions.update({ ...row, resource: { ...row.resource, ...over } });
  });

describe('an extension', () => {
  it('counts the lifetime from the admission, not from the old deadline', async () => {
    const before = await stored();
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
    expect(await stored()).toEqual(session);
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

  it('moves the deadlines of unfinished runs with it, and of no other run', async () => {
    await plane.admin.importResources({
      schemaVersion: 1,
      sessions: [makeSession(2)],
      runs: [makeRun(3, { sessionId: id('ses', 2) }), makeRun(4, { state: 'running' })],
    });
    const deadlines = async () =>
      Promise.all(
        [1, 2, 3, 4].map(async (n) => {
          const { deadlineAtMs, revision } = (await plane.store.runs.find(PROJECT, id('hrun', n)))!.resource;
          return [deadlineAtMs - NOW_MS, revision];
        }),
      );
    await post(plane, EXTEND, extension());
    expect(await deadlines()).toEqual([
      [HOUR_MS, 1], // has ended
      [2 * HOUR_MS, 2],
      [HOUR_MS, 1], // of another session
      [2 * HOUR_MS, 2],
    ]);
  });

  it('moves neither the session nor a run when a run cannot be moved', async () => {
    const before = await stored();
    const store = withMembers(plane.store, ({ runs }) => ({
      runs: { ...runs, update: () => Promise.reject(new Error('on purpose')) },
    }));
    const server = createServer({ store, blobs: plane.blobs, now: () => plane.clock.nowMs });
    await expectEnvelope(post({ ...plane, server }, EXTEND, extension()), 'control.INTERNAL');
    expect(await stored()).toEqual(before);
  });

  it.each([
    ['the least lifetime that is later', { ttlMs: HOUR_MS + 1 }, 200],
    ['a lifetime that ends with the present deadline', { ttlMs: HOUR_MS }, 'control.LIFETIME_NOT_LATER'],
    ['a lifetime that ends before it', { ttlMs: 1 }, 'control.LIFETIME_NOT_LATER'],
    ['the longest lifetime there is', { ttlMs: 604_800_000 }, 200],
    ['a lifetime beyond it', { ttlMs: 604_800_001 }, 'control.REQUEST_INVALID'],
    ['no lifetime', { ttlMs: 0 }, 'control.REQUEST_INVALID'],
    ['half a millisecond', { ttlMs: HOUR_MS + 0.5 }, 'control.REQUEST_INVALID'],
    ['a lower version', { expectedVersion: 0 }, 'control.VERSION_MISMATCH'],
    ['a higher version', { expectedVersion: 2 }, 'control.VERSION_MISMATCH'],
    ['the lowest version', { expectedVersion: Number.MIN_SAFE_INTEGER }, 'control.VERSION_MISMATCH'],
    ['the highest version', { expectedVersion: Number.MAX_SAFE_INTEGER }, 'control.VERSION_MISMATCH'],
    ['a version that is not an integer', { expectedVersion: 1.5 }, 'control.REQUEST_INVALID'],
    ['another lease', { expectedLeaseGeneration: 2 }, 'control.LEASE_GENERATION_MISMATCH'],
    [
      'the highest lease',
      { expectedLeaseGeneration: Number.MAX_SAFE_INTEGER },
      'control.LEASE_GENERATION_MISMATCH',
    ],
    ['no lease', { expectedLeaseGeneration: 0 }, 'control.REQUEST_INVALID'],
    ['a member too many', { force: true }, 'control.REQUEST_INVALID'],
    ['a member too few', { ttlMs: undefined }, 'control.REQUEST_INVALID'],
  ] as const)('by %s', async (_what, over, expected) => {
    const response = await post(plane, EXTEND, extension(over));
    if (expected === 200) expect(response.status).toBe(200);
    else await expectEnvelope(response, expected);
    expect((await stored()).version).toBe(expected === 200 ? 2 : 1);
  });

  it('an extension is refused from the millisecond in which the session expires', async () => {
    plane.clock.nowMs = NOW_MS + HOUR_MS;
    await expectEnvelope(post(plane, EXTEND, extension()), 'control.SESSION_EXPIRED');
    plane.clock.nowMs -= 1;
    expect((await post(plane, EXTEND, extension())).status).toBe(200);
  });

  it.each(sessionStates)('an extension of a session that is %s', async (state) => {
    await change({ state });
    const response = await post(plane, EXTEND, extension());
    const code: Partial<Record<typeof state, ControlCode>> = { expired: 'control.SESSION_EXPIRED' };
    if (state === 'ready') expect(response.status).toBe(200);
    else await expectEnvelope(response, code[state] ?? 'control.SESSION_NOT_READY');
  });

  it.each([
    [2 * HOUR_MS, 200],
    [2 * HOUR_MS - 1, 'control.ENTITLEMENT_EXCEEDED'],
  ] as const)(
    'of two hours where the organization is entitled to %d ms',
    async (maxSessionTtlMs, expected) => {
      await plane.admin.setEntitlement({ organizationId: ORG, maxSessionTtlMs });
      const response = await post(plane, EXTEND, extension());
      if (expected === 200) expect(response.status).toBe(200);
      else await expectEnvelope(response, expected);
    },
  );

  it('is refused when no version follows, and nothing is written', async () => {
    await change({ version: Number.MAX_SAFE_INTEGER });
    const request = extension({ expectedVersion: Number.MAX_SAFE_INTEGER });
    await expectEnvelope(post(plane, EXTEND, request), 'control.INTERNAL');
    expect((await stored()).expiresAtMs).toBe(NOW_MS + HOUR_MS);
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
    expect((await stored()).version).toBe(2);
  });
});

describe('the rules of an extension', () => {
  const ORDER = [
    'control.SESSION_EXPIRED',
    'control.SESSION_NOT_READY',
    'control.LEASE_GENERATION_MISMATCH',
    'control.VERSION_MISMATCH',
    'control.LIFETIME_NOT_LATER',
    'control.ENTITLEMENT_EXCEEDED',
  ] as const;

  it('the rules of extend are checked in their order, whichever are broken together', async () => {
    const session = await stored();
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
        let thrown: unknown;
        try {
          assertExtendable(facts);
        } catch (error) {
          thrown = error;
        }
        expect(thrown instanceof DrillproofError ? thrown.code : undefined).toBe(first);
      }),
    );
  });
});
