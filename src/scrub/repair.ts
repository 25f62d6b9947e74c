import { canonicalBytes } from '../bytes/json/canonical.ts';
import { defined } from '../bytes/arguments.ts';
import { DrillproofError } from '../errors.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../evidence/export/pack-export.ts';
import { bagSink } from '../mirror/bag-sink.ts';
import type { FailedFile } from '../mirror/fetch/all.ts';
import { lookWith, type MirrorSink, type MirrorView } from '../mirror/sink.ts';
import type { MirrorClient } from '../mirror/replica.ts';
import { mirrorExport } from '../mirror/mirror.ts';
import { checkAgain } from './mirror.ts';
import type { ScrubOptions, ScrubPlace } from './options.ts';
import { decideOutcome } from './result.ts';
import type { MirrorScrub, ScrubFault } from '../report/many/scrubs.ts';
import { decideIdentity, type Identity } from './identity.ts';

export type RepairOptions = ScrubOptions & {
  /** The project for requests and receipts; default: the one that the files of the mirror name. */
  readonly projectId?: string;
  /** The digests that manifests must have, by the name of the mirror, from another source. */
  readonly expectManifests?: ReadonlyMap<string, string>;
  /**
   * `inventory`: without an expected digest and without a trusted attestation, the digest counts on which the inventory of
   * the archive, the receipts and SHA256SUMS agree. It is weaker: anyone who can write to the archive can write all three.
   */
  readonly pin?: 'inventory';
};

/**
 * Repairs the faults that a scrub reported by mirroring the export again into the same place, from the control plane or
 * from another mirror (`replicaClient`). Good files stay. The new bytes of a bad file are written under a temporary
 * name, checked against the manifest and flushed; only then they replace it, in one step. Which manifest is right is
 * decided before anything is written. Each fault of the result states whether it was repaired.
 * @param from creates the client of the source; called only if there is a fault to repair
 */
export async function repairMirror(
  place: ScrubPlace,
  result: MirrorScrub,
  from: () => Promise<MirrorClient>,
  options: RepairOptions,
): Promise<MirrorScrub> {
  const broken = result.faults.filter(
    ({ found, code }) => found !== 'extra' && code !== 'scrub.MIRROR_UNFINISHED',
  );
  if (broken.length === 0) return result;
  const paths = new Set(broken.map(({ path }) => path));
  // Without its manifest, no file of the mirror was verified.
  const readsAll = result.evidenceExportId === undefined || paths.has(EXPORT_MANIFEST) || paths.has('');
  const failed = await mirrorAgain(place, from, options, { broken: paths, readsAll });
  options.signal?.throwIfAborted();
  const remaining = await checkAgain(place, options, paths);
  const earlier = new Set(result.faults.map(({ path }) => path));
  const faults = [
    ...result.faults.map((fault) => (broken.includes(fault) ? addRepair(fault, remaining, failed) : fault)),
    ...remaining.filter(({ path }) => !earlier.has(path)), // damaged meanwhile
  ];
  return { ...result, faults, outcome: decideOutcome(faults, result.unread) };
}

/** The reasons why files were not repaired: one for all, or one for each. */
type Failed = { readonly all?: DrillproofError; readonly each: ReadonlyMap<string, FailedFile> };

async function mirrorAgain(
  place: ScrubPlace,
  from: () => Promise<MirrorClient>,
  options: RepairOptions,
  { broken, readsAll }: { readonly broken: ReadonlySet<string>; readonly readsAll: boolean },
): Promise<Failed> {
  const { trust, tool, signal, pin, now = Date.now } = options;
  const expectManifest = options.expectManifest ?? options.expectManifests?.get(place.name);
  try {
    const view = await place.look();
    const verify = { asOfMs: now(), ...defined({ trust }) };
    const client = await from();
    const pinned = pin === 'inventory' ? place.listed?.row?.manifestDigest : undefined;
    const grounds = { verify, expectManifest, pinned, projectId: options.projectId };
    const identity = await decideIdentity(place, view, client, grounds);
    const { evidenceExportId, manifestDigest, projectId } = identity;
    const plain = await place.sink();
    const sink = view.source.bag === undefined ? plain : bagSink(plain, { tool, evidenceExportId });
    await mirrorExport(
      { projectId, evidenceExportId },
      {
        client,
        to: pinSink(sink, identity, broken),
        expectManifest: manifestDigest,
        ...(!readsAll && { only: broken }),
        tool,
        now,
        ...defined({ signal }),
      },
    );
    return { each: new Map() };
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    const failures = (error.details?.['failures'] ?? []) as readonly FailedFile[];
    return { all: error, each: new Map(failures.map((failure) => [failure.path, failure])) };
  }
}

/** Documents that a mirror keeps if they agree with the manifest, which does not cover all their bytes. */
const DOCUMENTS: ReadonlySet<string> = new Set([EXPORT_RESOURCE, EXPORT_ATTESTATION]);

/** Wraps a sink with a claim that names the export, and hides damaged documents so that they are fetched again. */
function pinSink(
  sink: MirrorSink,
  { evidenceExportId, manifestDigest }: Identity,
  broken: ReadonlySet<string>,
): MirrorSink {
  const claim = canonicalBytes({ evidenceExportId, manifestDigest });
  const withClaim = <T extends MirrorView>(view: T): T => ({
    ...view,
    size: async (path: string) => (DOCUMENTS.has(path) && broken.has(path) ? undefined : view.size(path)),
    readClaim: () => Promise.resolve(claim),
  });
  return {
    open: async () => withClaim(await sink.open()),
    ...lookWith(sink, withClaim),
  };
}

function addRepair(fault: ScrubFault, remaining: readonly ScrubFault[], { all, each }: Failed): ScrubFault {
  const next = remaining.find(({ path }) => path === fault.path);
  if (next === undefined) return { ...fault, repair: 'repaired' };
  const incomplete = { code: 'scrub.REPAIR_INCOMPLETE', message: next.message } as const;
  const { code, message } = each.get(fault.path) ?? all ?? incomplete;
  return { ...fault, repair: { code, message } };
}
