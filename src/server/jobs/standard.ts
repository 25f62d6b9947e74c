import { checkArguments, OBJECT, withMembers } from '../../bytes/arguments.ts';
import { sweepAttempts } from '../builds/drive-attempt.ts';
import type { ServerContext } from '../model/context.ts';
import {
  createBundleDeletionJob,
  createExportDeletionJob,
  deleteDue,
  releaseOrphans,
  removeReleased,
} from './deletion.ts';
import type { ExportJobOptions } from './export/content.ts';
import { createExportJob } from './export/export.ts';
import type { JobHandler, Sweep } from './handler.ts';
import { countPruned, prune } from './prune.ts';
import { settleDue } from './settle.ts';

export const STORES = withMembers('an object with a store and blobs', { store: OBJECT, blobs: OBJECT });

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function listSweeps(context: ServerContext): readonly Sweep[] {
  const onError = (error: unknown): void =>
    context.log({ level: 'warn', event: 'builds.attempt.failed', facts: { sweep: 'build-attempts' }, error });
  const stalledMs = 10 * MINUTE_MS;
  const clean = async (signal: AbortSignal) => countPruned(await prune(context, { signal }));
  return [
    { name: 'build-attempts', everyMs: MINUTE_MS, run: () => sweepAttempts(context, { stalledMs, onError }) },
    { name: 'deadlines', everyMs: MINUTE_MS, run: (signal) => settleDue(context, signal) },
    { name: 'retention', everyMs: HOUR_MS, run: clean },
    { name: 'bundles-due', everyMs: MINUTE_MS, run: (signal) => deleteDue(context, signal) },
    { name: 'orphans', everyMs: 24 * HOUR_MS, run: (signal) => releaseOrphans(context, signal) },
    { name: 'released-blobs', everyMs: MINUTE_MS, run: (signal) => removeReleased(context, signal) },
  ];
}

/**
 * Lists the work of every worker, with or without a runner: built-in jobs, and recurring work (docs/server/server.md).
 * @param context.signing signs the attestations of generated exports; without it they are unsigned
 * @throws TypeError for an argument of the wrong kind
 * @example
 * const { store, blobs } = await openEmbedded('data');
 * const context = { store, blobs, now: Date.now, log: () => undefined };
 * const { handlers, sweeps } = standardWork(context);
 */
export function standardWork(context: ServerContext & Omit<ExportJobOptions, keyof ServerContext>): {
  readonly handlers: readonly JobHandler[];
  readonly sweeps: readonly Sweep[];
} {
  checkArguments({ context: STORES }, { context });
  return {
    handlers: [createExportJob(context), createExportDeletionJob(), createBundleDeletionJob()],
    sweeps: listSweeps(context),
  };
}
