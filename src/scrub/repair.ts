import {
  canonicalBytes,
  checkArguments,
  defined,
  FUNCTION,
  OBJECT,
  optional,
  optionsOf,
  rejectWithReason,
  TEXT,
} from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';
import { EXPORT_ATTESTATION, EXPORT_RESOURCE } from '../evidence/index.ts';
import {
  bagSink,
  type Failure,
  lookWith,
  type MirrorClient,
  mirrorExport,
  type MirrorSink,
  type MirrorView,
} from '../mirror/index.ts';
import { checkAgain } from './mirror.ts';
import { SCRUB_MEMBERS, type ScrubOptions, type ScrubPlace } from './options.ts';
import { decideOutcome, type MirrorScrub, type ScrubFault } from './result.ts';
import { decideIdentity, type Identity } from './identity.ts';

export type RepairOptions = ScrubOptions & {
  /** The project for requests and receipts; default: the one that the files of the mirror name. */
  readonly projectId?: string;
};
const REPAIR_OPTIONS = optionsOf({ ...SCRUB_MEMBERS, projectId: optional(TEXT) });

/**
 * Repairs what a scrub found by mirroring the export again into the same place, from the control plane or from another
 * mirror (`replicaClient`). Good files stay. The new bytes of a bad file are written under a temporary name, checked
 * against the manifest and flushed; only then they replace it, in one step. Which manifest is right is decided before
 * anything is written. Each fault of the result states whether it was repaired.
 * @param from makes the client of the source; called only if there is something to repair
 * @throws the reason of an aborted `signal`; other failures are reported with their fault
 * @example
 * const options = { tool: 'nightly/1.0', expectManifest: digest };
 * const archive = await openScrubArchive('mirrors');
 * await scrubMany(archive, options, async (result, place) => {
 *   await repairMirror(place, result, async () => client, options);
 * });
 */
export async function repairMirror(
  place: ScrubPlace,
  result: MirrorScrub,
  from: () => Promise<MirrorClient>,
  options: RepairOptions,
): Promise<MirrorScrub> {
  checkArguments(
    { place: OBJECT, result: OBJECT, from: FUNCTION, options: REPAIR_OPTIONS },
    { place, result, from, options },
  );
  return rejectWithReason(options.signal, () => repairBroken(place, result, from, options));
}

async function repairBroken(
  ...[place, result, from, options]: Parameters<typeof repairMirror>
): Promise<MirrorScrub> {
  const broken = result.faults.filter(
    ({ found, code }) => found !== 'extra' && code !== 'scrub.MIRROR_UNFINISHED',
  );
  if (broken.length === 0) return result;
  const paths = new Set(broken.map(({ path }) => path));
  const failed = await mirrorAgain(place, from, options, paths);
  options.signal?.throwIfAborted();
  const remaining = await checkAgain(place, options, paths);
  const earlier = new Set(result.faults.map(({ path }) => path));
  const faults = [
    ...result.faults.map((fault) => (broken.includes(fault) ? addRepair(fault, remaining, failed) : fault)),
    ...remaining.filter(({ path }) => !earlier.has(path)), // damaged meanwhile
  ];
  return { ...result, faults, outcome: decideOutcome(faults, result.left) };
}

/** Why files were not repaired: one reason for all, or one for each. */
type Failed = { readonly all?: DrillproofError; readonly each: ReadonlyMap<string, Failure> };

async function mirrorAgain(
  place: ScrubPlace,
  from: () => Promise<MirrorClient>,
  options: RepairOptions,
  broken: ReadonlySet<string>,
): Promise<Failed> {
  const { expectManifest, trust, tool, signal, now = Date.now } = options;
  try {
    const view = await place.look();
    const verify = { asOfMs: now(), ...defined({ trust }) };
    const client = await from();
    const grounds = { verify, expectManifest, projectId: options.projectId };
    const identity = await decideIdentity(place, view, client, grounds);
    const { evidenceExportId, manifestDigest, projectId } = identity;
    const inner = await place.sink();
    const isBag = view.source.bag !== undefined;
    await mirrorExport(
      { projectId, evidenceExportId },
      {
        client,
        to: identifiedSink(isBag ? bagSink(inner, { tool, evidenceExportId }) : inner, identity, broken),
        expectManifest: manifestDigest,
        tool,
        now,
        ...defined({ signal }),
      },
    );
    return { each: new Map() };
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return { all: error, each: new Map(failuresOf(error).map((failure) => [failure.path, failure])) };
  }
}

function failuresOf({ details }: DrillproofError): readonly Failure[] {
  const failures = details?.['failures'];
  return Array.isArray(failures) ? (failures as Failure[]) : [];
}

/** Documents that a mirror keeps if they agree with the manifest, although it does not cover every byte of them. */
const DOCUMENTS: ReadonlySet<string> = new Set([EXPORT_RESOURCE, EXPORT_ATTESTATION]);

/**
 * A sink whose claim names the export, whatever its documents state. A damaged document is hidden, so that it is fetched
 * again.
 */
function identifiedSink(
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
  const still = remaining.find(({ path }) => path === fault.path);
  if (still === undefined) return { ...fault, repair: 'repaired' };
  const failure = each.get(fault.path) ?? all;
  if (failure !== undefined) return { ...fault, repair: { code: failure.code, message: failure.message } };
  return { ...fault, repair: { code: 'scrub.REPAIR_INCOMPLETE', message: still.message } };
}
