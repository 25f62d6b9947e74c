import * as z from 'zod';
import {
  buildUploadSchema,
  operations,
  type BuildAttempt,
  type BuildUpload,
  type BuildUploadRequest,
  type UploadAddressQuery,
} from '../../contract/index.ts';
import { toDigest } from '../blobs/digest.ts';
import { driveAttempt, hasExpired, settledAttempt, type BuildWork } from '../builds/drive-attempt.ts';
import type { UploadAddresses, UploadFacts } from '../builds/upload-address.ts';
import { ControlError, notFound } from '../control-error.ts';
import { assertContent, refusedUpload, type Content } from '../http/upload.ts';
import { newId } from '../ids.ts';
import type { Reads, Writes } from '../store/store.ts';
import { assertProject } from './access.ts';
import type { Change, Outcome, RunOnce } from './idempotency.ts';

type UploadRef = { readonly projectId: string; readonly buildAttemptId: string };

export type BuildUploadService = {
  create(change: Change, projectId: string, request: BuildUploadRequest): Promise<Outcome<BuildUpload>>;
  /** Takes in what was sent to an upload address, and drives the attempt to its end. */
  put(ref: UploadRef, query: UploadAddressQuery, content: Content): Promise<BuildAttempt>;
};

/** What is remembered of an upload: its address is signed anew for every answer, and never stored. */
const keptSchema = z.strictObject({
  attempt: buildUploadSchema.shape.attempt,
  expiresAtMs: buildUploadSchema.shape.expiresAtMs,
});
type Kept = z.infer<typeof keptSchema>;

const { mediaType } = operations['builds.uploads.put'].content;

function attemptOf(change: Change, request: BuildUploadRequest, nowMs: number): BuildAttempt {
  const { buildHash, artifactDigest, bytes, advanceEnvironmentId, expectedEnvironmentVersion } = request;
  return {
    schemaVersion: 1,
    buildAttemptId: newId('attempt'),
    organizationId: change.principal.organizationId,
    projectId: change.projectId,
    sourceKind: 'upload',
    requestedBy: change.principal.tokenId,
    state: 'awaiting_upload',
    diagnostics: [],
    sourceClosure: [],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expectedBuildHash: buildHash,
    expectedArtifactDigest: artifactDigest,
    expectedBytes: bytes,
    ...(advanceEnvironmentId !== undefined && { advanceEnvironmentId }),
    ...(expectedEnvironmentVersion !== undefined && { expectedEnvironmentVersion }),
  };
}

async function begin(
  tx: Reads & Writes,
  change: Change,
  request: BuildUploadRequest,
  { now, limits }: BuildWork,
): Promise<Kept> {
  const { projectId } = change;
  const { advanceEnvironmentId } = request;
  if (advanceEnvironmentId !== undefined && !(await tx.environment(projectId, advanceEnvironmentId)))
    throw notFound();
  const nowMs = now();
  const attempt = attemptOf(change, request, nowMs);
  const { organizationId, buildAttemptId } = attempt;
  const expiresAtMs = nowMs + limits.uploadTtlMs;
  const row = { organizationId, projectId, buildAttemptId, resource: attempt };
  await tx.insertBuildAttempt({ ...row, uploadExpiresAtMs: expiresAtMs });
  return { attempt, expiresAtMs };
}

function uploadOf(
  { attempt, expiresAtMs }: Kept,
  request: BuildUploadRequest,
  addresses: UploadAddresses,
): BuildUpload {
  const { projectId, buildAttemptId } = attempt;
  const { artifactDigest, bytes } = request;
  return {
    schemaVersion: 1,
    attempt,
    method: 'PUT',
    uploadUrl: addresses.sign({ projectId, buildAttemptId, artifactDigest, bytes, expiresAtMs }),
    headers: { 'Content-Type': mediaType },
    expiresAtMs,
  };
}

/** Stores what arrives, while it arrives, and only when it is what the address names. */
async function store({ blobs }: BuildWork, { artifactDigest, bytes }: UploadFacts, content: Content) {
  try {
    await blobs.put(content.bytes(), { digest: toDigest(artifactDigest), bytes });
  } catch (error) {
    throw refusedUpload(error);
  }
}

const expired = (): ControlError =>
  new ControlError('control.UPLOAD_EXPIRED', 'the upload address has expired', {
    headers: { Connection: 'close' },
  });

/** Build uploads: where to send an archive, and what is made of it (control API, build-uploads). */
export function buildUploadService(
  work: BuildWork,
  addresses: () => Promise<UploadAddresses>,
  runOnce: RunOnce,
): BuildUploadService {
  return {
    async create(change, projectId, request) {
      await assertProject(work.store, change.principal, projectId);
      const kept = await runOnce(change, keptSchema, (tx) => begin(tx, change, request, work));
      return { ...kept, value: uploadOf(kept.value, request, await addresses()) };
    },

    async put(ref, { signature, ...named }, content) {
      const facts = { ...ref, ...named };
      if (!(await addresses()).isSigned(facts, signature)) throw notFound();
      const row = await work.store.buildAttempt(ref.projectId, ref.buildAttemptId);
      if (row === undefined) throw notFound();
      const attempt = await settledAttempt(work, row);
      if (hasExpired(attempt) || facts.expiresAtMs <= work.now()) throw expired();
      assertContent(content, { mediaType, bytes: facts.bytes });
      await store(work, facts, content);
      const driven = await driveAttempt(work, ref);
      if (hasExpired(driven)) throw expired();
      return driven;
    },
  };
}
