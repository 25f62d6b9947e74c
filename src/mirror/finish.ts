import { canonicalBytes, digestOf } from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';
import {
  type Checksum,
  CHECKSUMS,
  DEFAULT_LIMITS,
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  formatChecksums,
  parseExportResource,
  resourceDifferences,
} from '../evidence/index.ts';
import { readSmallFile } from './sink.ts';
import { assertSubject, fetchAttestation, type Pinned } from './fetch/documents.ts';
import type { FileState } from './events.ts';
import { failureOf, type Failure } from './fetch/all.ts';
import { hasRotted } from './fetch/kept-document.ts';
import type { Run } from './run.ts';
import type { MirrorTarget, MirrorView } from './sink.ts';

/** A file of the mirror that is here and proven. */
export type Proven = Checksum & { readonly bytes: number; readonly state: FileState };

/** The export attestation: its bytes and whether they are here already, the failure to get it, or that there is none. */
export type Attestation =
  | { readonly bytes: Uint8Array; readonly state: 'kept' | 'fetched' }
  | Failure
  | undefined;

/** Looks for the export attestation: one that is here and speaks of this manifest, else that of the source. */
export async function findAttestation(run: Run, pinned: Pinned, view: MirrorView): Promise<Attestation> {
  const kept = await keptAttestation(pinned, view);
  const here = kept === undefined ? undefined : ({ bytes: kept, state: 'kept' } as const);
  if (pinned.manifestFrom === 'target') return here; // the source has nothing to give any more
  if (here !== undefined && !(await hasRotted(EXPORT_ATTESTATION, here.bytes, view))) return here;
  try {
    const bytes = await fetchAttestation(run, pinned);
    return bytes === undefined ? here : { bytes, state: 'fetched' };
  } catch (cause) {
    run.signal?.throwIfAborted();
    if (!(cause instanceof DrillproofError)) throw cause;
    return failureOf(EXPORT_ATTESTATION, cause);
  }
}

/** Writes an attestation that was fetched. */
export async function writeAttestation(
  found: Exclude<Attestation, Failure | undefined>,
  target: MirrorTarget,
): Promise<Proven> {
  if (found.state === 'fetched') await target.write(EXPORT_ATTESTATION, found.bytes);
  return proven(EXPORT_ATTESTATION, found.bytes, found.state);
}

async function keptAttestation(pinned: Pinned, target: MirrorView): Promise<Uint8Array | undefined> {
  const bytes = await readSmallFile(target, EXPORT_ATTESTATION, DEFAULT_LIMITS.documentBytes);
  if (bytes === undefined) return undefined;
  try {
    assertSubject(bytes, pinned);
    return bytes;
  } catch {
    return undefined; // damaged, or of another export: it is fetched again
  }
}

/** Writes `export.json`, unless one that agrees with the manifest is here: an available export never changes. */
export async function writeResource(pinned: Pinned, target: MirrorTarget): Promise<Proven> {
  const here = await keptResource(pinned, target);
  if (here !== undefined) return proven(EXPORT_RESOURCE, here, 'kept');
  const bytes = canonicalBytes(pinned.resource);
  await target.write(EXPORT_RESOURCE, bytes);
  return proven(EXPORT_RESOURCE, bytes, 'fetched');
}

/** The bytes that `export.json` has to have: those that are here when they agree, else those of the source. */
export const agreeingResource = async (pinned: Pinned, view: MirrorView): Promise<Uint8Array> =>
  (await keptResource(pinned, view)) ?? canonicalBytes(pinned.resource);

async function keptResource(pinned: Pinned, view: MirrorView): Promise<Uint8Array | undefined> {
  const here = await readSmallFile(view, EXPORT_RESOURCE, DEFAULT_LIMITS.documentBytes);
  if (here === undefined || !agrees(here, pinned)) return undefined;
  const better = pinned.manifestFrom !== 'target' && (await hasRotted(EXPORT_RESOURCE, here, view));
  return better ? undefined : here;
}

function agrees(bytes: Uint8Array, { manifest, manifestDigest, manifestBytes }: Pinned): boolean {
  try {
    const resource = parseExportResource(bytes);
    return resourceDifferences(resource, manifest, manifestDigest, manifestBytes.length).length === 0;
  } catch {
    return false;
  }
}

/** Writes the checksums of everything that is here, for `sha256sum -c`, unless they stand there already. */
export async function writeChecksums(files: readonly Checksum[], target: MirrorTarget): Promise<void> {
  const bytes = formatChecksums(files);
  const here = await readSmallFile(target, CHECKSUMS, bytes.length);
  if (here === undefined || digestOf(here) !== digestOf(bytes)) await target.write(CHECKSUMS, bytes);
}

/** Writes the exact bytes of the manifest, unless they stand there already. */
export async function writeManifest(
  { manifestBytes, manifestDigest }: Pinned,
  target: MirrorTarget,
): Promise<void> {
  const here = await readSmallFile(target, EXPORT_MANIFEST, manifestBytes.length);
  if (here === undefined || digestOf(here) !== manifestDigest)
    await target.write(EXPORT_MANIFEST, manifestBytes);
}

const proven = (path: string, bytes: Uint8Array, state: FileState): Proven => ({
  path,
  digest: digestOf(bytes),
  bytes: bytes.length,
  state,
});
