import { canonicalBytes, digestOf, parseJson } from '../bytes/index.ts';
import * as z from 'zod/mini';
import { digestSchema, evidenceExportIdSchema } from '../contract/index.ts';
import { DrillproofError } from '../errors.ts';
import {
  BAG_PAYLOAD,
  DEFAULT_LIMITS,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  parseExportManifest,
  parseExportResource,
} from '../evidence/index.ts';
import type { Pinned } from './fetch/documents.ts';
import { readSmallFile, type MirrorTarget, type MirrorView } from './sink.ts';

const claimSchema = z.strictObject({
  evidenceExportId: evidenceExportIdSchema,
  manifestDigest: digestSchema,
});
type Claim = z.infer<typeof claimSchema>;

/**
 * Refuses a target that contains anything but this export with this manifest, and writes a claim, which identifies an
 * interrupted mirror that has no document yet. A complete mirror is identified by its manifest and gets no claim.
 * @throws DrillproofError `mirror.TARGET_FOREIGN`, `export.CHANGED`
 */
export async function claimTarget(target: MirrorTarget, pinned: Pinned): Promise<void> {
  await assertSameExport(target, pinned);
  if (await isComplete(target, pinned)) return;
  const { evidenceExportId } = pinned.manifest;
  const claim: Claim = { evidenceExportId, manifestDigest: pinned.manifestDigest };
  await target.writeClaim(canonicalBytes(claim));
}

/** Whether the target has the manifest, which is written last, so the mirror was complete once. */
export async function isComplete(
  target: MirrorView,
  { manifestBytes, manifestDigest }: Pinned,
): Promise<boolean> {
  const bytes = await readSmallFile(target, EXPORT_MANIFEST, manifestBytes.length);
  return bytes !== undefined && digestOf(bytes) === manifestDigest;
}

/**
 * Refuses a target that contains anything but this export with this manifest.
 * @throws DrillproofError `mirror.TARGET_FOREIGN`, `export.CHANGED`
 */
export async function assertSameExport(
  target: MirrorView,
  { manifest, manifestDigest }: Pinned,
): Promise<void> {
  const { evidenceExportId } = manifest;
  await refuseBag(target);
  const claim = await identify(target);
  if (claim === undefined) {
    if (!(await target.isEmpty()))
      throw foreignError('the target is not empty and not a mirror of an export');
  } else if (claim.evidenceExportId !== evidenceExportId) {
    throw foreignError(`the target is a mirror of ${claim.evidenceExportId}`);
  } else if (claim.manifestDigest !== manifestDigest) {
    throw new DrillproofError('export.CHANGED', 'the target contains this export with another manifest', {
      details: { here: claim.manifestDigest, source: manifestDigest },
    });
  }
}

/** The folders that get the first files of a mirror. */
const FIRST_FOLDERS = ['parts', 'local-reports', 'receipts'];

/** Whether a folder of a target, empty or with a slash at its end, contains files of an export. */
export async function hasExportFiles(target: MirrorView, folder = ''): Promise<boolean> {
  for (const first of FIRST_FOLDERS) if ((await target.list(folder + first)).length > 0) return true;
  return (await target.size(folder + EXPORT_MANIFEST)) !== undefined;
}

// The files of an interrupted bag under data/ would stay next to those of a plain mirror forever.
async function refuseBag(target: MirrorView): Promise<void> {
  if (await hasExportFiles(target, BAG_PAYLOAD)) throw foreignError('the target is a mirror in a bag');
}

// One document of a complete mirror may be damaged, and the next one still identifies it.
async function identify(target: MirrorView): Promise<Claim | undefined> {
  return (await readClaim(target)) ?? (await fromResource(target)) ?? (await fromManifest(target));
}

async function readClaim(target: MirrorView): Promise<Claim | undefined> {
  const bytes = await target.readClaim();
  return bytes === undefined ? undefined : ifValid(() => claimSchema.parse(parseJson(bytes)));
}

async function fromResource(target: MirrorView): Promise<Claim | undefined> {
  const bytes = await readSmallFile(target, EXPORT_RESOURCE, DEFAULT_LIMITS.documentBytes);
  const resource = bytes === undefined ? undefined : ifValid(() => parseExportResource(bytes));
  if (resource?.manifestDigest === undefined) return undefined;
  return { evidenceExportId: resource.evidenceExportId, manifestDigest: resource.manifestDigest };
}

async function fromManifest(target: MirrorView): Promise<Claim | undefined> {
  const bytes = await readSmallFile(target, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes);
  const manifest = bytes === undefined ? undefined : ifValid(() => parseExportManifest(bytes));
  if (bytes === undefined || manifest === undefined) return undefined;
  return { evidenceExportId: manifest.evidenceExportId, manifestDigest: digestOf(bytes) };
}

// An invalid document does not identify the target.
function ifValid<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

const foreignError = (message: string): DrillproofError =>
  new DrillproofError('mirror.TARGET_FOREIGN', message);
