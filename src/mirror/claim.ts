import { canonicalBytes, digestOf, parseJson } from '../bytes/index.ts';
import * as z from 'zod';
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
 * Refuses a target that holds anything but this export under this manifest, and notes in it what it is going to hold,
 * so that an interrupted mirror is known again before it has any document. One that is finished says so by its
 * manifest, and is left as it is.
 * @throws DrillproofError `mirror.TARGET_FOREIGN`, `export.CHANGED`
 */
export async function claimTarget(target: MirrorTarget, pinned: Pinned): Promise<void> {
  await assertOurs(target, pinned);
  if (await isFinished(target, pinned)) return;
  const { evidenceExportId } = pinned.manifest;
  const claim: Claim = { evidenceExportId, manifestDigest: pinned.manifestDigest };
  await target.writeClaim(canonicalBytes(claim));
}

/** Whether the manifest, which comes last, is here: so this mirror was whole once. */
export async function isFinished(
  target: MirrorView,
  { manifestBytes, manifestDigest }: Pinned,
): Promise<boolean> {
  const here = await readSmallFile(target, EXPORT_MANIFEST, manifestBytes.length);
  return here !== undefined && digestOf(here) === manifestDigest;
}

/**
 * Refuses a target that holds anything but this export under this manifest.
 * @throws DrillproofError `mirror.TARGET_FOREIGN`, `export.CHANGED`
 */
export async function assertOurs(target: MirrorView, { manifest, manifestDigest }: Pinned): Promise<void> {
  const { evidenceExportId } = manifest;
  await refuseBag(target);
  const held = await heldBy(target);
  if (held === undefined) {
    if (!(await target.isEmpty())) throw foreign('the target is not empty, and no mirror of an export');
  } else if (held.evidenceExportId !== evidenceExportId) {
    throw foreign(`the target holds a mirror of ${held.evidenceExportId}`);
  } else if (held.manifestDigest !== manifestDigest) {
    throw new DrillproofError('export.CHANGED', 'the target holds this export with another manifest', {
      details: { here: held.manifestDigest, source: manifestDigest },
    });
  }
}

/** Where files of an export lie first, of which an interrupted mirror has some. */
const FIRST_FOLDERS = ['parts', 'local-reports', 'receipts'];

/** Whether files of an export lie in a target, `folder` being empty or ending with a slash. */
export async function holdsFiles(target: MirrorView, folder = ''): Promise<boolean> {
  for (const first of FIRST_FOLDERS) if ((await target.list(folder + first)).length > 0) return true;
  return (await target.size(folder + EXPORT_MANIFEST)) !== undefined;
}

// What an interrupted bag left under data/ would stay beside the parts of a plain mirror for ever.
async function refuseBag(target: MirrorView): Promise<void> {
  if (await holdsFiles(target, BAG_PAYLOAD)) throw foreign('the target holds a mirror as a bag');
}

// In this order: of a finished mirror one document may be damaged, and the other still says what it is.
async function heldBy(target: MirrorView): Promise<Claim | undefined> {
  return (await readClaim(target)) ?? (await fromResource(target)) ?? (await fromManifest(target));
}

async function readClaim(target: MirrorView): Promise<Claim | undefined> {
  const bytes = await target.readClaim();
  return bytes === undefined ? undefined : ifSound(() => claimSchema.parse(parseJson(bytes)));
}

async function fromResource(target: MirrorView): Promise<Claim | undefined> {
  const bytes = await readSmallFile(target, EXPORT_RESOURCE, DEFAULT_LIMITS.documentBytes);
  const resource = bytes === undefined ? undefined : ifSound(() => parseExportResource(bytes));
  if (resource?.manifestDigest === undefined) return undefined;
  return { evidenceExportId: resource.evidenceExportId, manifestDigest: resource.manifestDigest };
}

async function fromManifest(target: MirrorView): Promise<Claim | undefined> {
  const bytes = await readSmallFile(target, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes);
  const manifest = bytes === undefined ? undefined : ifSound(() => parseExportManifest(bytes));
  if (bytes === undefined || manifest === undefined) return undefined;
  return { evidenceExportId: manifest.evidenceExportId, manifestDigest: digestOf(bytes) };
}

// A document that does not parse says nothing of what the target holds.
function ifSound<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

const foreign = (message: string): DrillproofError => new DrillproofError('mirror.TARGET_FOREIGN', message);
