import type { MirrorClient } from '../../mirror/index.ts';
import type { Cli } from '../cli.ts';
import { openReplicas } from '../mirror/replica.ts';
import { openRemote } from '../shared/input/remote.ts';
import { usageError } from '../shared/options/usage.ts';

export type RepairCommandOptions = {
  readonly repairFrom?: string;
  readonly url?: string;
  readonly project?: string;
  readonly tokenFile?: string;
  readonly caFile?: string;
};

/** Where damaged files are brought from. */
export type Repairs = {
  /** The source of one mirror of the archive, by its name there. */
  clientFor(name: string): Promise<MirrorClient>;
  close(): Promise<void>;
};

/**
 * Opens what is to repair an archive: the control plane, or a second archive or mirror.
 * @throws DrillproofError `usage.INVALID`, and what opening an archive or reading the token throws
 */
export async function openRepairs(cli: Cli, options: RepairCommandOptions): Promise<Repairs | undefined> {
  const { repairFrom, url, project, tokenFile, caFile } = options;
  if (repairFrom === 'source') {
    if (url === undefined || project === undefined)
      throw usageError('--repair-from source needs --url and --project');
    const client = await openRemote(cli, { ...options, url, project });
    return { clientFor: () => Promise.resolve(client), close: () => Promise.resolve() };
  }
  if (url !== undefined || tokenFile !== undefined || caFile !== undefined)
    throw usageError('--url, --token-file and --ca-file are for --repair-from source');
  if (repairFrom === undefined) return undefined;
  const replicas = await openReplicas(cli, repairFrom);
  return { clientFor: async (name) => (await replicas.open(name)).client, close: () => replicas.close() };
}
