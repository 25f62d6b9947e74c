import { checkArguments, OBJECT, withMembers } from '../../bytes/arguments.ts';
import type { ExportSigning } from '../../evidence/export/pack-export.ts';
import { sweepAttempts } from '../builds/drive-attempt.ts';
import type { ServerContext } from '../model/context.ts';
import { createBundleDeletionJob, createExportDeletionJob, listRetentionSweeps } from './deletion.ts';
import type { ExportJobOptions } from './export/content.ts';
import { createExportJob } from './export/export.ts';
import type { JobHandler, Sweep } from './handler.ts';
import { countPruned, prune } from './prune.ts';
import { createDeadlineSweep } from './settle.ts';

export const listBuiltInJobs = (options: ExportJobOptions): readonly JobHandler[] => [
  createExportJob(options),
  createExportDeletionJob(),
  createBundleDeletionJob(),
];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const listHousekeeping = (context: ServerContext): readonly Sweep[] => {
  const { log } = context;
  const onError = (error: unknown): void =>
    log({ level: 'warn', event: 'builds.attempt.failed', facts: { sweep: 'build-attempts' }, error });
  return [
    {
      name: 'build-attempts',
      everyMs: MINUTE_MS,
      run: () => sweepAttempts(context, { stalledMs: 10 * MINUTE_MS, onError }),
    },
    createDeadlineSweep(context),
    {
      name: 'retention',
      everyMs: HOUR_MS,
      run: async (signal) => countPruned(await prune(context, { signal })),
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
