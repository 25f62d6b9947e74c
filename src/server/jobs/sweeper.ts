import type { Log } from '../log.ts';
import type { Sweep } from './handler.ts';
import { pause } from './pause.ts';

async function sweepOnce({ name, run }: Sweep, signal: AbortSignal, log: Log): Promise<void> {
  try {
    const count = await run(signal);
    if (count > 0) log({ level: 'info', event: 'worker.swept', facts: { sweep: name, count } });
  } catch (error) {
    log({ level: 'warn', event: 'worker.sweep.failed', facts: { sweep: name }, error });
  }
}

/** Runs sweeps again and again, each in its own time, until the signal aborts; resolves when none is under way. */
export async function runSweeps(sweeps: readonly Sweep[], signal: AbortSignal, log: Log): Promise<void> {
  const again = async (sweep: Sweep): Promise<void> => {
    while (!signal.aborted) {
      await sweepOnce(sweep, signal, log);
      await pause(sweep.everyMs, signal);
    }
  };
  await Promise.all(sweeps.map(again));
}
