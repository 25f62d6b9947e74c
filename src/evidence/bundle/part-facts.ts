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

/** What an export has to know of a part: read from the archive, judged by nobody. */
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
 * Reads the facts of a part archive; use `verifyPart` to judge it.
 * @throws the reason of an aborted `signal`; DrillproofError `bundle.MANIFEST_MISSING`, and what the ZIP reader and `parseBundleManifest` throw
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
