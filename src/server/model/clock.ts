import { existsSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { isoTime } from '../../bytes/text/wording.ts';
import { DrillproofError } from '../../errors.ts';
import type { Store } from '../store/store.ts';
import type { Log } from './log.ts';

/** Clocks that differ by up to this agree. It is less than a lease, so that no worker takes the work of another. */
const SKEW_MS = 30_000;
/** After a longer time off, and a restart of the machine, an operator must confirm the time. */
const GAP_MS = 24 * 60 * 60 * 1000;
const BEAT_MS = 10_000;
/** A time this near the last good one is good without another look. */
const NEAR_MS = 50;

const BOOT_FILE = '/proc/sys/kernel/random/boot_id';
/** Names the start of this machine; '' if unknown. The steady times of its processes are comparable. */
const boot = existsSync(BOOT_FILE) ? readFileSync(BOOT_FILE, 'utf8').trim() : '';
/** The time since the start of this machine, which no correction of the clock changes. */
const readSteadyMs = (): number => uptime() * 1000;

const differ = (a: number, b: number): boolean => Math.abs(a - b) > SKEW_MS;

type ClockStore = Pick<Store, 'clock' | 'recordClock'>;

/** Finds the reason why the clock of this machine cannot be right. */
export async function findClockFault(
  store: ClockStore,
  nowMs: number,
  steadyMs = readSteadyMs(),
): Promise<string | undefined> {
  const { record, databaseMs } = await store.clock();
  const shown = `the clock of this machine shows ${isoTime(nowMs)}`;
  if (databaseMs !== undefined && differ(nowMs, databaseMs))
    return `${shown}, and that of the database ${isoTime(databaseMs)}`;
  if (record === undefined) return undefined;
  const { seenMs } = record;
  const expectedMs = Math.round(seenMs + steadyMs - record.steadyMs);
  if (record.boot === boot && boot !== '')
    return differ(nowMs, expectedMs) ? `${shown}, and should show ${isoTime(expectedMs)}` : undefined;
  if (nowMs >= seenMs - SKEW_MS && nowMs <= seenMs + GAP_MS) return undefined;
  return `${shown}, and the control plane was last used at ${isoTime(seenMs)}`;
}

/** Refuses a clock that cannot be right. @throws DrillproofError `server.CLOCK_JUMPED` */
export async function assertClock(store: ClockStore, nowMs: number, steadyMs?: number): Promise<void> {
  const fault = await findClockFault(store, nowMs, steadyMs);
  if (fault !== undefined) throw new DrillproofError('server.CLOCK_JUMPED', fault);
}

/** Records the time as the right one, even if it is earlier than the recorded one. */
export const recordTime = (store: ClockStore, seenMs: number, steadyMs = readSteadyMs()): Promise<unknown> =>
  store.recordClock({ seenMs, steadyMs, boot });

export type Clock = { readonly now: () => number; readonly close: () => void };

/**
 * Starts a clock that ignores jumps of the clock of this machine, so that nothing expires by them. It follows the clock of
 * the machine while that agrees with the steady time, or with the time that another process or an operator recorded.
 * @throws DrillproofError `server.CLOCK_JUMPED` if the time is wrong from the start
 */
export async function startClock(
  store: ClockStore,
  options: {
    readonly now: () => number;
    readonly log: Log;
    readonly steady?: () => number;
    readonly beatMs?: number;
  },
): Promise<Clock> {
  const { now, log, steady = readSteadyMs, beatMs = BEAT_MS } = options;
  await assertClock(store, now(), steady());
  let good = { wallMs: now(), steadyMs: steady() };
  let hadJumped = false;
  const read = (): number => {
    const wallMs = now();
    if (Math.abs(wallMs - good.wallMs) < NEAR_MS) return wallMs;
    const steadyMs = steady();
    const expectedMs = Math.round(good.wallMs + steadyMs - good.steadyMs);
    if (differ(wallMs, expectedMs)) return expectedMs;
    good = { wallMs, steadyMs };
    return wallMs;
  };
  const beat = async (): Promise<void> => {
    const { record: { seenMs } = { seenMs: 0 } } = await store.clock();
    if (!differ(now(), seenMs)) good = { wallMs: now(), steadyMs: steady() };
    const usedMs = read();
    const byMs = now() - usedMs;
    const jumped = differ(byMs, 0);
    if (jumped && !hadJumped) log({ level: 'error', event: 'server.CLOCK_JUMPED', facts: { byMs } });
    if (hadJumped && !jumped) log({ level: 'info', event: 'clock.right' });
    hadJumped = jumped;
    if (usedMs > seenMs) await recordTime(store, usedMs, steady());
  };
  await beat();
  const timer = setInterval(() => void beat().catch(() => undefined), beatMs); // readiness reports a store that is away
  return { now: read, close: () => clearInterval(timer.unref()) };
}
