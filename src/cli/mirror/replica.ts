import { pathToFileURL } from 'node:url';
import type { ExportRef } from '../../client/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  DEFAULT_LIMITS,
  type EvidenceSource,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  parseExportManifest,
  parseExportResource,
  readFile,
} from '../../evidence/index.ts';
import { type MirrorClient, replicaClient } from '../../mirror/index.ts';
import { isS3Url, openScrubArchive, type ScrubArchive } from '../../node/index.ts';
import type { Cli } from '../cli.ts';

/** A second mirror as the source of files. Nothing in it is trusted: each file is verified like a download. */
type Replica = { readonly source: EvidenceSource; readonly client: MirrorClient };

export async function openReplicas(cli: Cli, place: string) {
  const archive = await openScrubArchive(place, { env: cli.env });
  return {
    /** The mirror of that name in the archive, or the only one. */
    async open(name: string | undefined): Promise<Replica> {
      const mirror = archive.open(nameIn(archive, name, place));
      const { source } = await mirror.look();
      return { source, client: replicaClient(source, addressOf(mirror.place)) };
    },
    close: () => archive.close(),
  };
}

function nameIn({ single, mirrors }: ScrubArchive, name: string | undefined, place: string): string {
  const [only] = mirrors;
  if (single && only !== undefined) return only;
  if (name !== undefined && mirrors.includes(name)) return name;
  const what = name === undefined ? 'is not a mirror' : `holds no mirror ${name}`;
  throw new DrillproofError('scrub.REPLICA_UNREADABLE', `${place} ${what}`, { path: place });
}

/** The place as receipts name it, without anything that could be a secret. */
const addressOf = (place: string): string => (isS3Url(place) ? place : pathToFileURL(place).href);

export async function readExportRef(
  { source }: Replica,
  { evidenceExportId, projectId }: Partial<ExportRef>,
): Promise<ExportRef> {
  const { documentBytes, manifestBytes } = DEFAULT_LIMITS;
  const resource = parseExportResource(await readFile(source, EXPORT_RESOURCE, documentBytes));
  const exportId = evidenceExportId ?? resource.evidenceExportId;
  if (projectId !== undefined) return { evidenceExportId: exportId, projectId };
  if (resource.scope.kind === 'project')
    return { evidenceExportId: exportId, projectId: resource.scope.projectId };
  const manifest = parseExportManifest(await readFile(source, EXPORT_MANIFEST, manifestBytes));
  const [row] = [...manifest.parts, ...manifest.localReports];
  if (row !== undefined) return { evidenceExportId: exportId, projectId: row.projectId };
  throw new DrillproofError('usage.INVALID', 'the second mirror names no project', {
    details: { hint: 'Name the project for the receipt with --project ID.' },
  });
}
