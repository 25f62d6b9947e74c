import { defined } from '../../bytes/arguments.ts';
import { closeAfter } from '../../bytes/async.ts';
import type { BuildAttempt, BuildAttemptState } from '../../contract/resources/build.ts';
import { DrillproofError } from '../../errors.ts';
import { toDigest } from '../model/ids.ts';
import type { ServerContext } from '../model/context.ts';
import { holdBlobs } from '../blobs/blobs.ts';
import { notFound } from '../http/envelope.ts';
import { dropPieces } from './upload-pieces.ts';
import { assertMove, isEnd, mayMove, nextVersion } from '../model/states.ts';
import type { BlobRef, BuildAttemptRow, InProject, Tx } from '../store/store.ts';
import { checkPackages, openBuild, type OpenBuild, describeSource } from './check-build.ts';

export const newAttempt = (
  { organizationId, projectId }: InProject,
  facts: Partial<BuildAttempt> & Pick<BuildAttempt, 'buildAttemptId' | 'requestedBy'>,
  nowMs: number,
): BuildAttempt => ({
  schemaVersion: 1,
  organizationId,
  projectId,
  sourceKind: 'upload',
  state: 'awaiting_upload',
  diagnostics: [],
  sourceClosure: [],
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
  ...facts,
});

export function moveAttempt(
  attempt: BuildAttempt,
  state: BuildAttemptState,
  nowMs: number,
  ends: Partial<Pick<BuildAttempt, 'diagnostics' | 'buildHash' | 'sourceClosure' | 'sourceDigest'>> = {},
): BuildAttempt {
  assertMove('buildAttempt', attempt.state, state);
  const moved = { ...attempt, ...ends, state, updatedAtMs: nowMs };
  return isEnd('buildAttempt', state) ? { ...moved, finishedAtMs: nowMs } : moved;
}

export type Diagnostic = BuildAttempt['diagnostics'][number];

export const makeDiagnostic = (code: string, message: string, path?: string): Diagnostic => ({
  code,
  severity: 'error',
  message,
  ...defined({ path }),
});

// The codes of faults in the archive; an unreadable disk is not one.
const ABOUT_THE_ARCHIVE = /^(?:build|zip|json|encoding)\./;
// Missing or damaged bytes need a new upload, which is a new attempt.
const LOST = 'control.STORED_BYTES_CORRUPT';

/** Diagnoses a fault in the archive; `undefined` for any other failure, after which the attempt is retried. */
export function diagnose(error: unknown): Diagnostic | undefined {
  if (!(error instanceof DrillproofError)) return undefined;
  const { code, message, path } = error;
  if (code !== LOST && !ABOUT_THE_ARCHIVE.test(code)) return undefined;
  if (code === LOST || code.startsWith('build.')) return makeDiagnostic(code, message, path);
  return makeDiagnostic('build.ARCHIVE_INVALID', `${message} (${code})`, path);
}

export type BuildWork = Omit<ServerContext, 'log'>;

type AttemptRef = { readonly projectId: string; readonly buildAttemptId: string };

const changeAttempt = (
  { store, now }: Pick<BuildWork, 'store' | 'now'>,
  ref: AttemptRef,
  change: (tx: Tx, row: BuildAttemptRow, nowMs: number) => Promise<BuildAttempt>,
): Promise<BuildAttempt> =>
  store.transaction(async (tx) => {
    const row = await tx.buildAttempts.lock(ref.projectId, ref.buildAttemptId);
    if (row === undefined) throw notFound();
    return change(tx, row, now());
  });

const end = async (tx: Tx, row: BuildAttemptRow, resource: BuildAttempt): Promise<BuildAttempt> => {
  await tx.buildAttempts.update({ ...row, resource });
  return resource;
};

/** Ends an attempt without a build. Its received bytes are removed if nothing else needs them. */
async function endFailed(
  tx: Tx,
  row: BuildAttemptRow,
  failure: Diagnostic,
  nowMs: number,
): Promise<BuildAttempt> {
  const { expectedArtifactDigest } = row.resource;
  await dropPieces(tx, row);
  if (expectedArtifactDigest !== undefined) await tx.blobs.hold([toDigest(expectedArtifactDigest)]);
  return end(tx, row, moveAttempt(row.resource, 'failed', nowMs, { diagnostics: [failure] }));
}

const EXPIRED = makeDiagnostic('control.UPLOAD_EXPIRED', 'the upload address expired unused');

export const hasExpired = ({ diagnostics }: BuildAttempt): boolean =>
  diagnostics.some(({ code }) => code === EXPIRED.code);

const isOver = ({ resource, uploadExpiresAtMs }: BuildAttemptRow, nowMs: number): boolean =>
  resource.state === 'awaiting_upload' && uploadExpiresAtMs !== undefined && uploadExpiresAtMs <= nowMs;

/**
 * Returns the attempt; one whose upload address expired before its archive arrived fails first (control API, Build
 * attempt).
 */
export async function settleAttempt(
  work: Pick<BuildWork, 'store' | 'now'>,
  row: BuildAttemptRow,
): Promise<BuildAttempt> {
  return isOver(row, work.now()) ? changeAttempt(work, row, settle) : row.resource;
}

const settle = async (tx: Tx, row: BuildAttemptRow, nowMs: number): Promise<BuildAttempt> =>
  isOver(row, nowMs) ? endFailed(tx, row, EXPIRED, nowMs) : row.resource;

const stepTo = (work: BuildWork, ref: AttemptRef, state: BuildAttemptState): Promise<BuildAttempt> =>
  changeAttempt(work, ref, async (tx, row, nowMs) => {
    const resource = await settle(tx, row, nowMs);
    if (!mayMove('buildAttempt', resource.state, state)) return resource;
    return end(tx, row, moveAttempt(resource, state, nowMs));
  });

const fail = (work: BuildWork, ref: AttemptRef, failure: Diagnostic): Promise<BuildAttempt> =>
  changeAttempt(work, ref, async (tx, row, nowMs) =>
    isEnd('buildAttempt', row.resource.state) ? row.resource : endFailed(tx, row, failure, nowMs),
  );

const VERSION_MISMATCH = 'the version of the environment differs from the expected one, or it does not exist';

async function advance(tx: Tx, attempt: BuildAttempt, nowMs: number): Promise<void> {
  const { projectId, advanceEnvironmentId, expectedEnvironmentVersion, expectedBuildHash } = attempt;
  if (advanceEnvironmentId === undefined || expectedBuildHash === undefined) return;
  const row = await tx.environments.lock(projectId, advanceEnvironmentId);
  if (row === undefined || row.version !== expectedEnvironmentVersion)
    throw new DrillproofError('build.ENVIRONMENT_VERSION_MISMATCH', VERSION_MISMATCH);
  const version = nextVersion(row.version);
  await tx.environments.update({ ...row, buildHash: expectedBuildHash, version, updatedAtMs: nowMs });
}

/** Writes the build, its environment and the end of its attempt in one transaction. */
const endAttempt = (
  work: BuildWork,
  ref: AttemptRef,
  archive: BlobRef,
  build: OpenBuild,
): Promise<BuildAttempt> =>
  changeAttempt(work, ref, async (tx, row, nowMs) => {
    const { resource } = row;
    if (isEnd('buildAttempt', resource.state) || resource.expectedBuildHash === undefined) return resource;
    await advance(tx, resource, nowMs);
    await dropPieces(tx, row);
    await holdBlobs(tx, work.blobs, [archive.digest]);
    const { organizationId, projectId, expectedBuildHash: buildHash } = resource;
    await tx.builds.save({ organizationId, projectId, buildHash, archive });
    const ends = { buildHash, ...describeSource(build, archive) };
    return end(tx, row, moveAttempt(resource, 'succeeded', nowMs, ends));
  });

const HASH_MISMATCH = 'the SHA-256 of build.json differs from the announced buildHash';

async function checkArchive(
  work: BuildWork,
  ref: AttemptRef,
  attempt: BuildAttempt,
  archive: BlobRef,
): Promise<OpenBuild> {
  await stepTo(work, ref, 'fetching');
  return closeAfter(await work.blobs.open(archive.digest), async (blob) => {
    await stepTo(work, ref, 'compiling');
    const build = await openBuild(blob.access());
    if (build.buildHash !== attempt.expectedBuildHash)
      throw new DrillproofError('build.HASH_MISMATCH', HASH_MISMATCH);
    await stepTo(work, ref, 'verifying');
    await checkPackages(build);
    return build;
  });
}

/**
 * Drives an attempt whose archive is stored to its end. It may be driven twice, at once or after a crash. The archive never
 * changes, so each run has the same outcome, and only the first is written. After a failure to store or read, the attempt
 * stays unfinished and is driven again later.
 */
export async function driveAttempt(work: BuildWork, ref: AttemptRef): Promise<BuildAttempt> {
  const attempt = await stepTo(work, ref, 'queued');
  const { expectedArtifactDigest, expectedBytes } = attempt;
  if (isEnd('buildAttempt', attempt.state)) return attempt;
  if (expectedArtifactDigest === undefined || expectedBytes === undefined) return attempt;
  const archive = { digest: toDigest(expectedArtifactDigest), bytes: expectedBytes };
  try {
    return await endAttempt(work, ref, archive, await checkArchive(work, ref, attempt, archive));
  } catch (error) {
    const failure = diagnose(error);
    if (failure === undefined) throw error;
    return fail(work, ref, failure);
  }
}

const BATCH = 100;

/**
 * Fails attempts whose address expired, and resumes those whose server died.
 * @param options.stalledMs the time without progress after which an attempt is resumed
 * @returns the number of moved attempts; the next sweep tries failed ones again
 */
export async function sweepAttempts(
  work: BuildWork,
  options: { readonly stalledMs: number; readonly onError?: (error: unknown) => void },
): Promise<number> {
  const { stalledMs, onError = () => undefined } = options;
  const nowMs = work.now();
  const expired = await work.store.buildAttempts.expired(nowMs, BATCH);
  const stalled = await work.store.buildAttempts.stalled(nowMs - stalledMs, BATCH);
  const steps = [
    ...expired.map((row) => () => settleAttempt(work, row)),
    ...stalled.map((row) => () => driveAttempt(work, row)),
  ];
  let moved = 0;
  for (const step of steps) {
    try {
      await step();
      moved++;
    } catch (error) {
      onError(error);
    }
  }
  return moved;
}
