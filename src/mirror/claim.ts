import { canonicalBytes } from '../bytes/json/canonical.ts';
import { digestOf } from '../bytes/hash.ts';
import { parseJson } from '../bytes/json/parse.ts';
import * as z from 'zod/mini';
import { digestSchema, evidenceExportIdSchema } from '../contract/scalars.ts';
import { DrillproofError } from '../errors.ts';
import { BAG_PAYLOAD } from '../evidence/export/checksums.ts';
import { DEFAULT_LIMITS } from '../evidence/document.ts';
import { EXPORT_MANIFEST, EXPORT_RESOURCE } from '../evidence/export/pack-export.ts';
import { parseExportManifest, parseExportResource } from '../evidence/export/manifest.ts';
import type { Pinned } from './fetch/documents.ts';
import { type MirrorTarget, type MirrorView, parseIfValid, readSmallFile, readValid } from './sink.ts';

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

/** Checks if the target has the manifest, which is written last, so the mirror was complete once. */
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
  // The files of an interrupted bag under data/ would stay next to those of a plain mirror forever.
  if (await hasExportFiles(target, BAG_PAYLOAD)) throw foreignError('the target is a mirror in a bag');
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

/** Checks if a folder of a target, empty or with a slash at its end, contains files of an export. */
export async function hasExportFiles(target: MirrorView, folder = ''): Promise<boolean> {
  for (const first of FIRST_FOLDERS) {
    const files = await target.list(folder + first);
    if (files.some((file) => file.folder !== true)) return true;
  }
  return (await target.size(folder + EXPORT_MANIFEST)) !== undefined;
}

// One document of a complete mirror may be damaged, and the next one still identifies it.
async function identify(target: MirrorView): Promise<Claim | undefined> {
  return (
    (await readClaim(target)) ?? (await identifyByResource(target)) ?? (await identifyByManifest(target))
  );
}

async function readClaim(target: MirrorView): Promise<Claim | undefined> {
  const bytes = await target.readClaim();
  return bytes && parseIfValid(() => claimSchema.parse(parseJson(bytes)));
}

const identifyByResource = (target: MirrorView): Promise<Claim | undefined> =>
  readValid(target, EXPORT_RESOURCE, DEFAULT_LIMITS.documentBytes, (bytes) => {
    const { evidenceExportId, manifestDigest } = parseExportResource(bytes);
    return manifestDigest === undefined ? undefined : { evidenceExportId, manifestDigest };
  });

const identifyByManifest = (target: MirrorView): Promise<Claim | undefined> =>
  readValid(target, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes, (bytes) => ({
    evidenceExportId: parseExportManifest(bytes).evidenceExportId,
    manifestDigest: digestOf(bytes),
  }));

const foreignError = (message: string): DrillproofError =>
  new DrillproofError('mirror.TARGET_FOREIGN', message);
