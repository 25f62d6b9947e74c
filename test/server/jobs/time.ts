import { setImmediate } from 'node:timers/promises';
import { vi } from 'vitest';
import type { Plane } from '../make.ts';

// A database answers in real time. In longer steps the timeouts of its driver would fire before it can.
const STEP_MS = 1_000;
const ANSWER_MS = 10;

async function waitForAnswers(): Promise<void> {
  const start = performance.now();
  while (performance.now() - start < ANSWER_MS) await setImmediate();
}

/**
 * Controls the timers and the clock of a control plane: both move together, and only when the test moves them. The
 * worker keeps its default heartbeat.
 */
export function controlTime({ clock }: Pick<Plane, 'clock'>): {
  /** Lets time pass, and every timer that is due fire at its own moment. */
  readonly pass: (ms: number) => Promise<void>;
  readonly release: () => void;
} {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: clock.nowMs });
  Object.defineProperty(clock, 'nowMs', {
    get: Date.now,
    set: (nowMs: number) => {
      vi.setSystemTime(nowMs);
    },
  });
  return {
    async pass(ms) {
      for (let remainingMs = ms; remainingMs > 0; remainingMs -= STEP_MS) {
        await vi.advanceTimersByTimeAsync(Math.min(remainingMs, STEP_MS));
        await waitForAnswers();
      }
    },
    release: () => void vi.useRealTimers(),
  };
}
