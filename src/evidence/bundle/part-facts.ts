import {
  ACCESS,
  checkArguments,
  type Digest,
  digestAccess,
  digestOf,
  optional,
  type RandomAccess,
  SIGNAL,
} from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { openZip } from '../../zip/index.ts';
import { ATTESTATION, BUNDLE_MANIFEST, findEntry, readEntry } from './archive.ts';
import { artifactBytes, parseBundleManifest, type BundleManifest } from './manifest.ts';
import { DEFAULT_LIMITS, EVIDENCE_LIMITS, type EvidenceLimits } from '../limits.ts';

/** What the manifest of an export states about a part, read from its archive and not verified (formats §1). */
export type PartFacts = {
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  readonly manifestBytes: number;
  /** Manifest and objects together: `storage.totalBytes` of the bundle. */
  readonly totalBytes: number;
  readonly signed: boolean;
  /** The archive itself. */
  readonly digest: Digest;
  readonly bytes: number;
};

/**
 * Reads the facts of a part archive that `packExport` needs (formats §1). Nothing is verified: `verifyPart` does that.
 * @throws DrillproofError `bundle.MANIFEST_MISSING`, and what `openZip` and `parseBundleManifest` throw; the reason of
 *   an aborted `signal`
 * @example
 * const facts = await readPartFacts(memoryAccess(await readFile('part.zip')));
 */
export async function readPartFacts(
  access: RandomAccess,
  given: Partial<EvidenceLimits> = DEFAULT_LIMITS,
  signal?: AbortSignal,
): Promise<PartFacts> {
  checkArguments(
    { access: ACCESS, given: EVIDENCE_LIMITS, signal: optional(SIGNAL) },
    { access, given, signal },
  );
  signal?.throwIfAborted();
  const limits = { ...DEFAULT_LIMITS, ...given };
  const archive = await openZip(access);
  const entry = findEntry(archive, BUNDLE_MANIFEST);
  if (entry === undefined)
    throw new DrillproofError('bundle.MANIFEST_MISSING', 'the archive holds no manifest.json');
  const manifestBytes = await readEntry(archive, entry, limits.manifestBytes);
  const manifest = parseBundleManifest(manifestBytes, limits);
  return {
    manifest,
    manifestDigest: digestOf(manifestBytes),
    manifestBytes: manifestBytes.length,
    totalBytes: manifestBytes.length + artifactBytes(manifest),
    signed: findEntry(archive, ATTESTATION) !== undefined,
    ...(await digestAccess(access, signal)),
  };
}
