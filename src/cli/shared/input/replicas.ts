import { pathToFileURL } from 'node:url';
import { DrillproofError } from '../../../errors.ts';
import type { EvidenceSource } from '../../../evidence/source.ts';
import { type MirrorClient, replicaClient } from '../../../mirror/replica.ts';
import { isS3Url } from '../../../node/s3/location.ts';
import { openScrubArchive, type ScrubArchive } from '../../../node/scrub-archive.ts';
import type { Cli } from '../../cli.ts';

/** A second mirror as the source of files. Nothing in it is trusted: each file is verified like a download. */
export type Replica = { readonly source: EvidenceSource; readonly client: MirrorClient };

export async function openReplicas(cli: Cli, place: string) {
  const archive = await openScrubArchive(place, { env: cli.env });
  return {
    /** Opens the mirror of that name in the archive, or the only mirror. */
    async open(name: string | undefined): Promise<Replica> {
      const mirror = archive.open(selectMirror(archive, name, place));
      const { source } = await mirror.look();
      return { source, client: replicaClient(source, formatAddress(mirror.place)) };
    },
    close: () => archive.close(),
  };
}

function selectMirror({ single, mirrors }: ScrubArchive, name: string | undefined, place: string): string {
  const [only] = mirrors;
  if (single && only !== undefined) return only;
  if (name !== undefined && mirrors.includes(name)) return name;
  const what = name === undefined ? 'is not a mirror' : `contains no mirror ${name}`;
  throw new DrillproofError('scrub.REPLICA_UNREADABLE', `${place} ${what}`, { path: place });
}

/** Formats a place for receipts, without secrets. */
const formatAddress = (place: string): string => (isS3Url(place) ? place : pathToFileURL(place).href);
