import { pathToFileURL } from 'node:url';
import { DrillproofError } from '../../errors.ts';
import { replicaClient, type MirrorClient } from '../../mirror/index.ts';
import { openScrubArchive, type ScrubArchive } from '../../node/scrub/archive.ts';
import { isS3Url } from '../../node/s3/location.ts';
import type { Cli } from '../cli.ts';
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
  return repairFrom === undefined ? undefined : fromArchive(repairFrom, cli);
}

async function fromArchive(place: string, cli: Cli): Promise<Repairs> {
  const archive = await openScrubArchive(place, { env: cli.env });
  return {
    async clientFor(name) {
      const second = archive.open(nameIn(archive, name, place));
      const { source } = await second.look();
      return replicaClient(source, addressOf(second.place));
    },
    close: () => archive.close(),
  };
}

/** The mirror of the same name, or the one that the place is. */
function nameIn({ single, mirrors }: ScrubArchive, name: string, place: string): string {
  const [only] = mirrors;
  if (single && only !== undefined) return only;
  if (mirrors.includes(name)) return name;
  throw new DrillproofError('scrub.REPLICA_UNREADABLE', `${place} holds no mirror ${name}`, { path: place });
}

/** The place as receipts name it, without anything that could be a secret. */
const addressOf = (place: string): string => (isS3Url(place) ? place : pathToFileURL(place).href);
