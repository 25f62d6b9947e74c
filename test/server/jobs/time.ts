import { vi } from 'vitest';
import type { World } from '../make.ts';

/**
 * Puts timers under control, with the clock of a world: both move together, and only when the test moves them. The
 * worker keeps the heartbeat that it is shipped with.
 */
export function controlTime({ clock }: Pick<World, 'clock'>): {
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
    pass: async (ms) => void (await vi.advanceTimersByTimeAsync(ms)),
    release: () => void vi.useRealTimers(),
  };
}
