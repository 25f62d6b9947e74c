import { countNoun } from '../../bytes/text/wording.ts';
import { ACCESS, holdSmall, type RandomAccess } from '../../bytes/random-access.ts';
import { checkArguments, optional, SIGNAL } from '../../bytes/arguments.ts';
import { type Digest, digestAccess, digestOf } from '../../bytes/hash.ts';
import type { RunResult } from '../../contract/resources/run.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { openZip, type ZipArchive } from '../../zip/read/open.ts';
import type { ZipEntry } from '../../zip/read/entry.ts';
import { DEFAULT_LIMITS, EVIDENCE_LIMITS, type EvidenceLimits } from '../document.ts';
import { parseAttestation } from './attestation.ts';
import {
  countArtifactBytes,
  parseBundleManifest,
  type BundleManifest,
  objectOfRole,
  parseRunResult,
} from './manifest.ts';

/** Names of the documents of a part archive (formats §1, Part archive). */
export const BUNDLE_MANIFEST = 'manifest.json';
export const ATTESTATION = 'attestation.json';

/**
 * All bytes of an entry that must be small.
 * @throws LimitError `json.TOO_LARGE` before anything is read, and what the ZIP reader throws
 */
export async function readEntry(archive: ZipArchive, entry: ZipEntry, maxBytes: number): Promise<Uint8Array> {
  if (entry.bytes > maxBytes)
    throw new LimitError('json.TOO_LARGE', `more than ${countNoun(maxBytes, 'byte')}`, { path: entry.name });
  const atOnce = archive.readAtOnce(entry);
  if (atOnce !== undefined) return atOnce;
  const whole = new Uint8Array(entry.bytes);
  let at = 0;
  for await (const chunk of archive.read(entry)) {
    whole.set(chunk, at); // the reader has refused more bytes than the entry states
    at += chunk.length;
  }
  return whole;
}

/** The entry of a name; the reader has refused a second one. */
export const findEntry = (archive: ZipArchive, name: string): ZipEntry | undefined =>
  archive.entries.find((entry) => entry.name === name);

/** The archive of a part and the bytes of its manifest. @throws DrillproofError `bundle.MANIFEST_MISSING`, and as `openZip` */
export async function openPart(access: RandomAccess, maxBytes = DEFAULT_LIMITS.manifestBytes) {
  const archive = await openZip(access);
  const entry = findEntry(archive, BUNDLE_MANIFEST);
  if (entry === undefined)
    throw new DrillproofError('bundle.MANIFEST_MISSING', 'the archive has no manifest.json');
  return { archive, manifestBytes: await readEntry(archive, entry, maxBytes) };
}

/** The archive of a part and its parsed documents, not verified. */
export type PartDocuments = Awaited<ReturnType<typeof readPartDocuments>>;

/** @throws DrillproofError `bundle.MANIFEST_MISSING`, and what reading and parsing throw */
export async function readPartDocuments(access: RandomAccess) {
  const { archive, manifestBytes } = await openPart(access);
  const signed = findEntry(archive, ATTESTATION);
  const attestation = signed && (await readEntry(archive, signed, DEFAULT_LIMITS.documentBytes));
  return {
    archive,
    manifest: parseBundleManifest(manifestBytes),
    manifestBytes: manifestBytes.length,
    manifestDigest: digestOf(manifestBytes),
    attestation: attestation && parseAttestation(attestation),
  };
}

/** The run result among the objects of a part, if there is one. */
export async function readRunResult({ archive, manifest }: PartDocuments): Promise<RunResult | undefined> {
  const entry = findEntry(archive, objectOfRole(manifest, 'run-result')?.path ?? '');
  return entry && parseRunResult(await readEntry(archive, entry, DEFAULT_LIMITS.runResultBytes));
}

/** The facts of a part for the manifest of an export, read from its archive and not verified (formats §1). */
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
  limits: Partial<EvidenceLimits> = DEFAULT_LIMITS,
  signal?: AbortSignal,
): Promise<PartFacts> {
  checkArguments(KINDS, { access, limits, signal });
  signal?.throwIfAborted();
  const held = await holdSmall(access);
  const { archive, manifestBytes } = await openPart(held, limits.manifestBytes);
  const manifest = parseBundleManifest(manifestBytes, limits);
  return {
    manifest,
    manifestDigest: digestOf(manifestBytes),
    manifestBytes: manifestBytes.length,
    totalBytes: manifestBytes.length + countArtifactBytes(manifest),
    signed: findEntry(archive, ATTESTATION) !== undefined,
    ...(await digestAccess(held, signal)),
  };
}

const KINDS = { access: ACCESS, limits: EVIDENCE_LIMITS, signal: optional(SIGNAL) };
