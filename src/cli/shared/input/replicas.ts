import { pathToFileURL } from 'node:url';
import { defined } from '../../../bytes/arguments.ts';
import { closeAfter } from '../../../bytes/async.ts';
import { DrillproofError } from '../../../errors.ts';
import type { ExportRef } from '../../../client/client.ts';
import { DEFAULT_LIMITS } from '../../../evidence/document.ts';
import { parseExportManifest, parseExportResource } from '../../../evidence/export/manifest.ts';
import { EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../../evidence/export/pack-export.ts';
import { type EvidenceSource, readFile } from '../../../evidence/source.ts';
import type { ListedExport } from '../../../mirror/archive.ts';
import { INVENTORY, type InventoryRow, parseInventory } from '../../../mirror/inventory.ts';
import { type MirrorClient, replicaClient } from '../../../mirror/replica.ts';
import { isS3Url } from '../../../node/s3/location.ts';
import { openScrubArchive, type ScrubArchive } from '../../../node/scrub-archive.ts';
import { openVolume } from '../../../node/open-volume.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../options/values.ts';

/** A second mirror as the source of files. Nothing in it is trusted: each file is verified like a download. */
export type Replica = { readonly source: EvidenceSource; readonly client: MirrorClient };

/** @param atMs lists what the archive held then; default: what it holds */
export async function openReplicas(cli: Cli, place: string, atMs?: number) {
  const archive = await openScrubArchive(place, { env: cli.env });
  return {
    /** Opens the mirror of that name in the archive, or the only mirror. */
    async open(name: string | undefined): Promise<Replica> {
      const mirror = archive.open(selectMirror(archive, name, place));
      const { source } = await mirror.look();
      return { source, client: replicaClient(source, formatAddress(mirror.place)) };
    },
    /** The mirrors of the archive as a control plane lists exports. */
    exports: () => listMirrors(cli, archive, { place, atMs }),
    close: () => archive.close(),
  };
}

/**
 * Lists the mirrors of an archive. If its inventory names one, its digest is expected, and a lost one is listed too, so that
 * copying it fails.
 */
async function* listMirrors(
  cli: Cli,
  archive: ScrubArchive,
  { place, atMs }: { readonly place: string; readonly atMs: number | undefined },
): AsyncGenerator<ListedExport, void, undefined> {
  if (archive.single) throw usageError(`${place} is a mirror, not an archive`, 'Omit --all and --list.');
  const log = await closeAfter(await openVolume(place, cli.env), (volume) => volume.log(INVENTORY).read());
  const rows = log === undefined ? new Map<string, InventoryRow>() : parseInventory(log, atMs).exports;
  const unlisted = atMs === undefined ? archive.mirrors : [];
  for (const evidenceExportId of new Set([...unlisted, ...rows.keys()])) {
    const { state = 'held', manifestDigest, mirroredAtMs = 0 } = rows.get(evidenceExportId) ?? {};
    if (state === 'removed') continue;
    const expected = defined({ manifestDigest, expectManifest: manifestDigest });
    yield { evidenceExportId, state: 'available', updatedAtMs: mirroredAtMs, ...expected };
  }
}

function selectMirror({ single, mirrors }: ScrubArchive, name: string | undefined, place: string): string {
  const [only] = mirrors;
  if (single && only !== undefined) return only;
  if (name !== undefined && mirrors.includes(name)) return name;
  const what = name === undefined ? 'is not a mirror' : `contains no mirror ${name}`;
  throw new DrillproofError('scrub.REPLICA_UNREADABLE', `${place} ${what}`, { path: place });
}

/** Formats a place for receipts, without secrets. */
export const formatAddress = (place: string): string => (isS3Url(place) ? place : pathToFileURL(place).href);

/** Reads which export a replica is of. @throws DrillproofError `usage.INVALID` if it names no project */
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
