import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { createHistogram, createNumbers, type Family } from './exposition.ts';

const RESOLUTION_MS = 10;

function countOpenFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined; // only Linux has this folder
  }
}

const measure = (name: string, help: string, value: number | undefined): Family => {
  const family = createNumbers(name.endsWith('_total') ? 'counter' : 'gauge', name, help);
  if (value !== undefined) family.set({}, value);
  return family;
};

/** Starts to measure this process; returns its families, read at each call. Names are those of other Node.js programs. */
function startProcessMetrics(): () => readonly Family[] {
  const pauses = createHistogram(
    'nodejs_gc_duration_seconds',
    'Pauses for garbage collection.',
    [0.001, 0.01, 0.1, 1, 2, 5],
  );
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pauses.observe({}, duration / 1000);
  }).observe({ entryTypes: ['gc'] });
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const lagHelp = 'Delay of the event loop since the last look, by percentile.';
  const lag = createNumbers('gauge', 'nodejs_eventloop_lag_seconds', lagHelp);
  return () => {
    // The monitor measures the time between two of its timers.
    for (const percentile of [50, 99, 100]) {
      const seconds = delays.percentile(percentile) / 1e9 - RESOLUTION_MS / 1000;
      lag.set({ percentile: String(percentile) }, Math.max(0, seconds));
    }
    delays.reset();
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const startedAt = Math.floor(performance.timeOrigin / 1000);
    return [
      measure('process_cpu_seconds_total', 'Processor time used.', (user + system) / 1e6),
      measure('process_start_time_seconds', 'Start of the process, since 1970.', startedAt),
      measure('process_resident_memory_bytes', 'Memory of the process.', rss),
      measure('process_open_fds', 'Open files and connections.', countOpenFiles()),
      measure('nodejs_heap_size_used_bytes', 'Memory of JavaScript objects.', heapUsed),
      lag,
      pauses,
    ];
  };
}

let started: (() => readonly Family[]) | undefined;

/** The metrics of this process, which it measures from the first call on. */
export const readProcessMetrics = (): readonly Family[] => (started ??= startProcessMetrics())();
