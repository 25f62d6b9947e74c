import type { Digest } from '../../bytes/hash.ts';
import { memoryAccess, type RandomAccess } from '../../bytes/random-access.ts';
import { once } from '../../bytes/async.ts';
import { MAX_BUILD_BYTES } from '../../contract/resources/build.ts';
import { readWhole } from '../../evidence/source.ts';
import { checkPackages, openBuild, describeSource } from '../builds/check-build.ts';
import { newAttempt } from '../builds/drive-attempt.ts';
import { deriveId } from '../model/ids.ts';
import { type AdminContext, type Ingested, requireProject, writeHolding } from '../model/admin-context.ts';

/**
 * Ingests a build archive with a build attempt in state `succeeded`. Every file that its lock names must be present
 * with its hash, and no other file. Ingesting the same build again changes nothing.
 * @throws DrillproofError `build.ARCHIVE_INVALID`, `build.PACKAGE_INVALID`, `server.ADMIN_REFUSED`, the codes of the
 *   ZIP reader, and what reading and storing throw; LimitError `json.TOO_LARGE` for more than 64 MiB
 */
export async function ingestBuild(
  context: AdminContext,
  projectId: string,
  access: RandomAccess,
  requestedBy = 'admin',
): Promise<Ingested<{ buildHash: Digest; buildAttemptId: string }>> {
  const { store, blobs, now } = context;
  const project = await requireProject(store, projectId);
  const bytes = await readWhole(access, MAX_BUILD_BYTES, 'build archive');
  const build = await openBuild(memoryAccess(bytes));
  await checkPackages(build);
  const { buildHash } = build;
  const archive = await blobs.put(once(bytes));
  // Its id is derived from the build, so that a build has only one.
  const buildAttemptId = deriveId('attempt', projectId, buildHash);
  const finishedAtMs = now();
  const facts = {
    buildAttemptId,
    requestedBy,
    state: 'succeeded' as const,
    expectedBuildHash: buildHash,
    expectedArtifactDigest: archive.digest,
    expectedBytes: archive.bytes,
    buildHash,
    finishedAtMs,
    ...describeSource(build, archive),
  };
  const attempt = newAttempt(project, facts, finishedAtMs);
  const inProject = { organizationId: project.organizationId, projectId };
  const created = await writeHolding(context, [archive.digest], async (tx) => {
    if ((await tx.builds.find(projectId, buildHash))?.archive !== undefined) return false;
    await tx.builds.save({ ...inProject, buildHash, archive });
    await tx.buildAttempts.insert({ ...inProject, buildAttemptId, resource: attempt });
    return true;
  });
  return { buildHash, buildAttemptId, created };
}
