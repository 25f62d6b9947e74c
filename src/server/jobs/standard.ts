import { checkArguments, OBJECT, withMembers } from '../../bytes/arguments.ts';
import type { ExportSigning } from '../../evidence/export/pack-export.ts';
import { sweepAttempts } from '../builds/drive-attempt.ts';
import type { ServerContext } from '../model/context.ts';
import { createBundleDeletionJob, createExportDeletionJob, listRetentionSweeps } from './deletion.ts';
import type { ExportJobOptions } from './export/content.ts';
import { createExportJob } from './export/export.ts';
import { type JobHandler, type Sweep, waitFor } from './handler.ts';
import { createDeadlineSweep } from './settle.ts';

export const listBuiltInJobs = (options: ExportJobOptions): readonly JobHandler[] => [
  createExportJob(options),
  createExportDeletionJob(),
  createBundleDeletionJob(),
];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WORKER_FORGOTTEN_MS = 24 * HOUR_MS;

const PURGED_AT_ONCE = 50;

/** Removes expired idempotency keys in short transactions with equally long pauses; returns how many. */
async function purgeKeys({ store, now }: ServerContext, signal: AbortSignal): Promise<number> {
  let purged = 0;
  for (let last = PURGED_AT_ONCE; last === PURGED_AT_ONCE && !signal.aborted; purged += last) {
    const begunMs = performance.now();
    last = await store.transaction((tx) => tx.idempotency.purge(now(), PURGED_AT_ONCE));
    await waitFor(performance.now() - begunMs, signal);
  }
  return purged;
}

export const listHousekeeping = (context: ServerContext): readonly Sweep[] => {
  const { store, now, log } = context;
  const onError = (error: unknown): void =>
    log({ level: 'warn', event: 'builds.attempt.failed', facts: { sweep: 'build-attempts' }, error });
  return [
    {
      name: 'build-attempts',
      everyMs: MINUTE_MS,
      run: () => sweepAttempts(context, { stalledMs: 10 * MINUTE_MS, onError }),
    },
    createDeadlineSweep(context),
    { name: 'idempotency-keys', everyMs: HOUR_MS, run: (signal) => purgeKeys(context, signal) },
    {
      name: 'workers',
      everyMs: HOUR_MS,
      run: () => store.transaction((tx) => tx.workers.forget(now() - WORKER_FORGOTTEN_MS)),
    },
  ];
};

type Signing = { readonly signing?: Pick<ExportSigning, 'signer' | 'issuer'> | undefined };

/**
 * Lists the work of every worker, with or without a runner: built-in jobs, and recurring work (docs/server/server.md).
 * @param context.signing signs the attestations of generated exports; without it they are unsigned
 * @throws TypeError for an argument of the wrong kind
 * @example
 * const { store, blobs } = await openEmbedded('data');
 * const context = { store, blobs, now: Date.now, log: () => undefined };
 * const { handlers, sweeps } = standardWork(context);
 */
export function standardWork(context: ServerContext & Signing): {
  readonly handlers: readonly JobHandler[];
  readonly sweeps: readonly Sweep[];
} {
  const kind = withMembers('an object with a store and blobs', { store: OBJECT, blobs: OBJECT });
  checkArguments({ context: kind }, { context });
  return {
    handlers: listBuiltInJobs(context),
    sweeps: [...listHousekeeping(context), ...listRetentionSweeps(context)],
  };
}
