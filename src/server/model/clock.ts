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

type ClockStore = Pick<Store, 'meta' | 'databaseMs' | 'transaction'>;

/** Refuses a clock that cannot be right. */
export async function assertClock(
  store: ClockStore,
  nowMs: number,
  steadyMs = readSteadyMs(),
): Promise<void> {
  const [record, databaseMs] = [await store.meta.clock(), await store.databaseMs?.()];
  const refuse = (why: string, atMs: number): never => {
    const message = `the clock of this machine shows ${isoTime(nowMs)}, and ${why} ${isoTime(atMs)}`;
    throw new DrillproofError('server.CLOCK_JUMPED', message);
  };
  if (databaseMs !== undefined && differ(nowMs, databaseMs)) refuse('that of the database', databaseMs);
  if (record === undefined) return;
  const { seenMs } = record;
  const expectedMs = Math.round(seenMs + steadyMs - record.steadyMs);
  const isComparable = record.boot === boot && boot !== '';
  if (isComparable && differ(nowMs, expectedMs)) refuse('should show', expectedMs);
  const isPlausible = nowMs >= seenMs - SKEW_MS && nowMs <= seenMs + GAP_MS;
  if (!isComparable && !isPlausible) refuse('the control plane was last used at', seenMs);
}

/** Records the time as the right one, even if it is earlier than the recorded one. */
export const recordTime = (store: ClockStore, seenMs: number, steadyMs = readSteadyMs()): Promise<unknown> =>
  store.transaction(({ meta }) => meta.recordClock({ seenMs, steadyMs, boot }));

/**
 * Starts a clock, which runs until the signal aborts and ignores jumps of the clock of this machine, so that nothing expires by them. It follows the clock of
 * the machine while that agrees with the steady time, or with the time that another process or an operator recorded.
 * @throws DrillproofError `server.CLOCK_JUMPED` if the time is wrong from the start
 */
export async function startClock(
  store: ClockStore,
  options: { now: () => number; log: Log; signal: AbortSignal; steady?: () => number; beatMs?: number },
): Promise<() => number> {
  const { now, log, signal, steady = readSteadyMs, beatMs = BEAT_MS } = options;
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
    const { seenMs = 0 } = (await store.meta.clock()) ?? {};
    if (!differ(now(), seenMs)) good = { wallMs: now(), steadyMs: steady() };
    const usedMs = read();
    const byMs = now() - usedMs;
    const jumped = differ(byMs, 0);
    if (jumped && !hadJumped) log({ level: 'error', event: 'server.CLOCK_JUMPED', facts: { byMs } });
    if (hadJumped && !jumped) log({ level: 'info', event: 'clock.right' });
    hadJumped = jumped;
    if (usedMs > seenMs) await recordTime(store, usedMs, steady());
  };
  const tick = () => beat().catch(() => undefined); // readiness reports a store that is away; a full disk can be read
  await tick();
  const timer = setInterval(() => void tick(), beatMs).unref();
  signal.addEventListener('abort', () => clearInterval(timer));
  return read;
}
