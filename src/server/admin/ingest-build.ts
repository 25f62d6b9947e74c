import { once } from '../../bytes/once.ts';
import { digestOf, digestStream, type Digest } from '../../bytes/hash.ts';
import { memoryAccess, type RandomAccess } from '../../bytes/random-access.ts';
import { fromUtf8 } from '../../bytes/utf8.ts';
import { MAX_BUILD_BYTES, type BuildAttempt } from '../../contract/index.ts';
import { DEFAULT_LIMITS, parseBuildLock, readWhole, type LockedPackage } from '../../evidence/index.ts';
import { openZip, type ZipArchive, type ZipEntry } from '../../zip/index.ts';
import type { BlobRef, ProjectRow } from '../store/store.ts';
import { readEntryWhole } from '../zip-entry.ts';
import { derivedId, refused, requireProject, type AdminContext, type Ingested } from './context.ts';

const BUILD_LOCK = 'build.json';
const MAX_EXPANDED_BYTES = 1024 * 1024 * 1024;

/** Every file that a package names, with what the lock says of it. */
const filesOf = (locked: LockedPackage): readonly { path: string; digest: string; bytes?: number }[] => [
  { path: locked.manifest, digest: locked.manifestHash },
  { path: locked.source, digest: locked.artifactHash },
  ...(locked.ui?.assets ?? []).map(({ path, artifactHash, bytes }) => ({
    path,
    digest: artifactHash,
    bytes,
  })),
];

const invalid = (message: string, path: string) => refused(message, { path }, 'build.PACKAGE_INVALID');

async function checkFile(
  archive: ZipArchive,
  entry: ZipEntry | undefined,
  file: { path: string; digest: string; bytes?: number },
): Promise<void> {
  if (entry === undefined) throw invalid(`the archive lacks ${file.path}`, file.path);
  const found = await digestStream(archive.read(entry));
  if (found.digest !== file.digest)
    throw invalid(`${file.path} has another SHA-256 than the lock says`, file.path);
  if (file.bytes !== undefined && found.bytes !== file.bytes) {
    throw invalid(`${file.path} has another size than the lock says`, file.path);
  }
}

/** A source that may be served must be text; a larger one is never served (control API, tools/source). */
async function checkText(archive: ZipArchive, entry: ZipEntry | undefined, maxBytes: number): Promise<void> {
  if (entry === undefined || entry.bytes > maxBytes) return;
  const bytes = await readEntryWhole(archive, entry.name, maxBytes);
  try {
    fromUtf8(bytes ?? new Uint8Array());
  } catch {
    throw invalid(`${entry.name} is not well-formed UTF-8`, entry.name);
  }
}

/** Checks a build archive against its own lock (formats §7) and gives the build hash. */
async function checkBuild(bytes: Uint8Array, sourceBytes: number): Promise<Digest> {
  const archive = await openZip(memoryAccess(bytes), { totalBytes: MAX_EXPANDED_BYTES });
  const lockBytes = await readEntryWhole(archive, BUILD_LOCK, DEFAULT_LIMITS.documentBytes);
  if (lockBytes === undefined) throw refused('the archive holds no build.json', {}, 'build.ARCHIVE_INVALID');
  const lock = parseBuildLock(lockBytes);
  const entries = new Map(archive.entries.map((entry) => [entry.name, entry]));
  const named = new Set([BUILD_LOCK]);
  for (const locked of lock.packages) {
    for (const file of filesOf(locked)) {
      await checkFile(archive, entries.get(file.path), file);
      named.add(file.path);
    }
    await checkText(archive, entries.get(locked.source), sourceBytes);
  }
  const stray = archive.entries.find(({ name }) => !named.has(name));
  if (stray === undefined) return digestOf(lockBytes);
  throw refused('the lock names no such file', { path: stray.name }, 'build.ARCHIVE_INVALID');
}

/** The attempt under which an administrator's build stands; its id follows from the build, so it comes out once. */
function attemptOf(
  project: ProjectRow,
  buildHash: Digest,
  archive: BlobRef,
  by: string,
  nowMs: number,
): BuildAttempt {
  const { organizationId, projectId } = project;
  return {
    schemaVersion: 1,
    buildAttemptId: derivedId('attempt', projectId, buildHash),
    organizationId,
    projectId,
    sourceKind: 'upload',
    requestedBy: by,
    state: 'succeeded',
    diagnostics: [],
    sourceClosure: [],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expectedBuildHash: buildHash,
    expectedArtifactDigest: archive.digest,
    expectedBytes: archive.bytes,
    buildHash,
    finishedAtMs: nowMs,
  };
}

/**
 * Takes in a build archive with a build attempt in state `succeeded`. Every file that its lock names must be there
 * with its hash, and no other. The same build again changes nothing.
 * @throws DrillproofError `build.ARCHIVE_INVALID`, `build.PACKAGE_INVALID`, `server.ADMIN_REFUSED`, the codes of the
 *   ZIP reader, and what reading and storing throw; LimitError `json.TOO_LARGE` for more than 64 MiB
 */
export async function ingestBuild(
  { store, blobs, now, limits }: AdminContext,
  projectId: string,
  access: RandomAccess,
  requestedBy = 'admin',
): Promise<Ingested<{ buildHash: Digest; buildAttemptId: string }>> {
  const project = await requireProject(store, projectId);
  const bytes = await readWhole(access, MAX_BUILD_BYTES, 'build archive');
  const buildHash = await checkBuild(bytes, limits.toolSourceBytes);
  const archive = await blobs.put(once(bytes));
  const attempt = attemptOf(project, buildHash, archive, requestedBy, now());
  const { buildAttemptId } = attempt;
  const inProject = { organizationId: project.organizationId, projectId };
  const created = await store.transaction(async (tx) => {
    if ((await tx.build(projectId, buildHash))?.archive !== undefined) return false;
    await tx.saveBuild({ ...inProject, buildHash, archive });
    await tx.insertBuildAttempt({ ...inProject, buildAttemptId, resource: attempt });
    return true;
  });
  return { buildHash, buildAttemptId, created };
}
