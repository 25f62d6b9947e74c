import { type Digest, digestOf } from '../../bytes/hash.ts';
import { fromUtf8 } from '../../bytes/text/encoding.ts';
import type { RandomAccess } from '../../bytes/random-access.ts';
import { type BuildAttempt, MAX_TOOL_SOURCE_BYTES } from '../../contract/resources/build.ts';
import { DrillproofError } from '../../errors.ts';
import { type BuildLock, type LockedPackage, parseBuildLock } from '../../evidence/build-lock.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { findEntry, readEntry } from '../../evidence/bundle/part.ts';
import { openZip, type ZipArchive } from '../../zip/read/open.ts';
import type { ZipEntry } from '../../zip/read/entry.ts';
import type { BlobRef } from '../store/store.ts';

const BUILD_LOCK = 'build.json';
const MAX_EXPANDED_BYTES = 1024 * 1024 * 1024;

/** An open build archive with its lock, whose SHA-256 is the build hash. */
export type OpenBuild = {
  readonly archive: ZipArchive;
  readonly lock: BuildLock;
  readonly buildHash: Digest;
};

type LockedFile = { readonly path: string; readonly digest: string; readonly bytes?: number };

const listFiles = (locked: LockedPackage): readonly LockedFile[] => [
  { path: locked.manifest, digest: locked.manifestHash },
  { path: locked.source, digest: locked.artifactHash },
  ...(locked.ui?.assets ?? []).map(({ path, artifactHash: digest, bytes }) => ({ path, digest, bytes })),
];

const packageError = (message: string, path: string): DrillproofError =>
  new DrillproofError('build.PACKAGE_INVALID', message, { path });

async function checkFile(archive: ZipArchive, entry: ZipEntry | undefined, file: LockedFile): Promise<void> {
  if (entry === undefined) throw packageError(`the archive lacks ${file.path}`, file.path);
  const read = await archive.digest(entry);
  if (read.digest !== file.digest)
    throw packageError(`${file.path} does not match the SHA-256 in the lock`, file.path);
  if (file.bytes !== undefined && read.bytes !== file.bytes)
    throw packageError(`${file.path} does not match the size in the lock`, file.path);
}

/** A source must be text, unless it is so large that it is never served (control API, tools/source). */
async function checkText(archive: ZipArchive, entry: ZipEntry | undefined): Promise<void> {
  if (entry === undefined || entry.bytes > MAX_TOOL_SOURCE_BYTES) return;
  const bytes = await readEntry(archive, entry, MAX_TOOL_SOURCE_BYTES);
  try {
    fromUtf8(bytes);
  } catch {
    throw packageError(`${entry.name} is not well-formed UTF-8`, entry.name);
  }
}

/** Opens a build archive and reads its lock; nothing of it is imported, executed or extracted. */
export async function openBuild(access: RandomAccess): Promise<OpenBuild> {
  const archive = await openZip(access, { totalBytes: MAX_EXPANDED_BYTES });
  const entry = findEntry(archive, BUILD_LOCK);
  if (entry === undefined)
    throw new DrillproofError('build.ARCHIVE_INVALID', 'the archive has no build.json');
  const bytes = await readEntry(archive, entry, DEFAULT_LIMITS.documentBytes);
  return { archive, lock: parseBuildLock(bytes), buildHash: digestOf(bytes) };
}

// The limit of the control API. A truncated list would look complete.
const MAX_CLOSURE = 2_000;

/** Describes the source of a build: the digest of its archive, and the sorted files of its lock. */
export function describeSource(
  { lock }: OpenBuild,
  archive: Pick<BlobRef, 'digest'>,
): Pick<BuildAttempt, 'sourceClosure' | 'sourceDigest'> {
  const paths = new Set(lock.packages.flatMap((locked) => listFiles(locked).map(({ path }) => path)));
  const sourceClosure = paths.size > MAX_CLOSURE ? [] : [...paths].toSorted();
  return { sourceClosure, sourceDigest: archive.digest };
}

/** Checks the files of a build against its lock (formats §7): every named file with its hash, and no other file. */
export async function checkPackages({ archive, lock }: OpenBuild): Promise<void> {
  const entries = new Map(archive.entries.map((entry) => [entry.name, entry]));
  const listed = new Set([BUILD_LOCK]);
  for (const locked of lock.packages) {
    for (const file of listFiles(locked)) {
      await checkFile(archive, entries.get(file.path), file);
      listed.add(file.path);
    }
    await checkText(archive, entries.get(locked.source));
  }
  const stray = archive.entries.find(({ name }) => !listed.has(name));
  if (stray === undefined) return;
  throw new DrillproofError('build.ARCHIVE_INVALID', 'the lock does not name this file', {
    path: stray.name,
  });
}
