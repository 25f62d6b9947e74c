import { afterEach, beforeEach, expect, it } from 'vitest';
import { assertClock, recordTime, startClock } from '../../../src/server/model/clock.ts';
import type { LogEntry } from '../../../src/server/model/log.ts';
import { openEmbedded } from '../../../src/server/open-stores.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { makeTestFolder } from '../../support/folder.ts';
import { DrillproofError } from '../../../src/errors.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 10, 21, 12);

let store: Store;
let running: AbortController;
// The clock of the machine, and the time since it was started.
let [wallMs, steadyMs] = [START_MS, 1_000_000];
const log: LogEntry[] = [];
beforeEach(async () => {
  [wallMs, steadyMs] = [START_MS, 1_000_000];
  log.length = 0;
  running = new AbortController();
  ({ store } = await openEmbedded(await makeTestFolder()));
});
afterEach(async () => {
  running.abort();
  await store.close();
});

const pass = (ms: number): void => {
  wallMs += ms;
  steadyMs += ms;
};
const begin = async (beatMs = DAY_MS) => {
  const options = {
    now: () => wallMs,
    steady: () => steadyMs,
    log: (entry: LogEntry) => void log.push(entry),
    beatMs,
    signal: running.signal,
  };
  return startClock(store, options);
};
/** The code of a refusal, if there is one. */
const codeOf = async (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof DrillproofError ? error.code : String(error)),
  );
const check = () => codeOf(assertClock(store, wallMs, steadyMs));
/** Ends every process, and starts the machine again. */
const reboot = async (offMs: number) => {
  const record = (await store.meta.clock())!;
  const boot = 'an earlier start of this machine';
  await store.transaction(({ meta }) => meta.recordClock({ ...record, boot }));
  wallMs += offMs;
  steadyMs = 5_000;
};

it('the clock follows the machine, and small corrections of it', async () => {
  const now = await begin();
  expect(now()).toBe(START_MS);
  for (const correctionMs of [0, 1, 49, 5_000, 30_000, -30_000]) {
    pass(60_000);
    wallMs += correctionMs;
    expect(now()).toBe(wallMs);
  }
});

it.each([30_001, -30_001, HOUR_MS, -HOUR_MS, DAY_MS, 400 * DAY_MS])(
  'a jump of %i ms while it runs changes no time that is used, and ends when the machine is right again',
  async (jumpMs) => {
    const now = await begin();
    pass(60_000);
    expect(now()).toBe(wallMs);
    wallMs += jumpMs;
    expect(now()).toBe(wallMs - jumpMs);
    pass(60_000);
    expect(now()).toBe(wallMs - jumpMs);
    wallMs -= jumpMs;
    expect(now()).toBe(wallMs);
  },
);

it('a jump is logged once, is not recorded, and its end is logged', async () => {
  await begin(5);
  wallMs += HOUR_MS;
  await expect
    .poll(() => log)
    .toMatchObject([{ level: 'error', event: 'server.CLOCK_JUMPED', facts: { byMs: HOUR_MS } }]);
  pass(1_000);
  await expect.poll(async () => (await store.meta.clock())?.seenMs).toBe(wallMs - HOUR_MS);
  wallMs -= HOUR_MS;
  await expect.poll(() => log).toMatchObject([{ event: 'server.CLOCK_JUMPED' }, { event: 'clock.right' }]);
});

it('a running process follows a time that an operator or another process recorded', async () => {
  const now = await begin(5);
  wallMs += HOUR_MS;
  expect(now()).toBe(START_MS);
  await recordTime(store, wallMs, steadyMs);
  await expect.poll(now).toBe(wallMs);
});

it('a process that starts without an earlier time accepts any clock', async () => {
  expect(await check()).toBeUndefined();
});

it.each([
  [0, undefined],
  [30_000, undefined],
  [30_001, 'server.CLOCK_JUMPED'],
  [-30_001, 'server.CLOCK_JUMPED'],
  [HOUR_MS, 'server.CLOCK_JUMPED'],
])(
  'after months off on a machine that was not restarted, an error of %i ms gives %s',
  async (errorMs, code) => {
    await begin();
    pass(100 * DAY_MS);
    wallMs += errorMs;
    expect(await check()).toBe(code);
  },
);

it.each([
  [HOUR_MS, undefined],
  [DAY_MS, undefined],
  [DAY_MS + 1, 'server.CLOCK_JUMPED'],
  [-30_000, undefined],
  [-30_001, 'server.CLOCK_JUMPED'],
  [-30 * 365 * DAY_MS, 'server.CLOCK_JUMPED'],
])('after the machine was restarted, a clock that is %i ms later gives %s', async (laterMs, code) => {
  await begin();
  await reboot(laterMs);
  expect(await check()).toBe(code);
  expect(await codeOf(begin())).toBe(code);
});

it('an operator confirms the time after a long time off, also a time before the recorded one', async () => {
  await begin();
  for (const offMs of [100 * DAY_MS, -200 * DAY_MS]) {
    await reboot(offMs);
    expect(await check()).toBe('server.CLOCK_JUMPED');
    await recordTime(store, wallMs, steadyMs);
    expect(await check()).toBeUndefined();
  }
});

it('the clock of a shared database must agree', async () => {
  for (const [databaseMs, code] of [
    [wallMs + 30_000, undefined],
    [wallMs + 30_001, 'server.CLOCK_JUMPED'],
    [wallMs - 30_001, 'server.CLOCK_JUMPED'],
  ] as const) {
    const shared = { ...store, databaseMs: async () => databaseMs };
    expect(await codeOf(assertClock(shared, wallMs, steadyMs))).toBe(code);
  }
});
