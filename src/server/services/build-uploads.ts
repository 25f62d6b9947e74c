import { defined } from '../../bytes/arguments.ts';
import * as z from 'zod/mini';
import {
  type BuildAttempt,
  type BuildUpload,
  type BuildUploadRequest,
  buildUploadSchema,
  type UploadAddressQuery,
} from '../../contract/resources/build.ts';
import { operations } from '../../contract/operations/operations.ts';
import { newId } from '../model/ids.ts';
import {
  driveAttempt,
  hasExpired,
  newAttempt,
  settleAttempt,
  type BuildWork,
} from '../builds/drive-attempt.ts';
import type { UploadAddresses, UploadFacts } from '../http/sealed.ts';
import { Refusal, notFound } from '../http/envelope.ts';
import { preconditionFailed } from '../http/validate.ts';
import { assertContent, parseSpan } from '../http/body.ts';
import { isEnd } from '../model/states.ts';
import type { Tx } from '../store/store.ts';
import type { Handlers, Change, RunOnce } from './handler.ts';
import { assertQuota } from './quotas.ts';
import { discardArchive, receiveArchive, sumPieces } from '../builds/upload-pieces.ts';

/** The stored answer of an upload. Its address is never stored, but signed again for every answer. */
const storedSchema = z.pick(buildUploadSchema, { attempt: true, expiresAtMs: true });
type StoredUpload = z.infer<typeof storedSchema>;

const { mediaType } = operations['builds.uploads.put'].content;

export type UploadWork = BuildWork & { readonly uploadTtlMs: number };

async function beginUpload(
  tx: Tx,
  change: Change,
  request: BuildUploadRequest,
  { now, uploadTtlMs }: UploadWork,
): Promise<StoredUpload> {
  const { projectId, ifMatch, principal } = change;
  if (ifMatch !== undefined) throw preconditionFailed(); // a new resource has no ETag
  const { advanceEnvironmentId, expectedEnvironmentVersion } = request;
  if (advanceEnvironmentId !== undefined && !(await tx.environments.find(projectId, advanceEnvironmentId)))
    throw notFound();
  const nowMs = now();
  await assertQuota(tx, change, { uploadBytes: request.bytes }, nowMs);
  const { organizationId, tokenId: requestedBy } = principal;
  const buildAttemptId = newId('attempt');
  const facts = {
    buildAttemptId,
    requestedBy,
    expectedBuildHash: request.buildHash,
    expectedArtifactDigest: request.artifactDigest,
    expectedBytes: request.bytes,
    ...defined({ advanceEnvironmentId, expectedEnvironmentVersion }),
  };
  const attempt = newAttempt({ organizationId, projectId }, facts, nowMs);
  const expiresAtMs = nowMs + uploadTtlMs;
  const row = { organizationId, projectId, buildAttemptId, resource: attempt };
  await tx.buildAttempts.insert({ ...row, uploadExpiresAtMs: expiresAtMs });
  return { attempt, expiresAtMs };
}

function buildUpload(
  { attempt, expiresAtMs }: StoredUpload,
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

async function openUpload(
  work: BuildWork,
  addresses: UploadAddresses,
  ref: { readonly projectId: string; readonly buildAttemptId: string },
  { signature, ...claims }: UploadAddressQuery,
): Promise<{ readonly facts: UploadFacts; readonly attempt: BuildAttempt }> {
  const facts = { ...ref, ...claims };
  if (!addresses.isSigned(facts, signature)) throw notFound();
  const row = await work.store.buildAttempts.find(ref.projectId, ref.buildAttemptId);
  if (row === undefined) throw notFound();
  const attempt = await settleAttempt(work, row);
  if (hasExpired(attempt) || facts.expiresAtMs <= work.now()) throw expiredError();
  return { facts, attempt };
}

const expiredError = (): Refusal =>
  new Refusal('control.UPLOAD_EXPIRED', 'the upload address has expired', {
    headers: { Connection: 'close' },
  });

export const buildUploadHandlers = (
  work: UploadWork,
  addresses: () => Promise<UploadAddresses>,
  runOnce: RunOnce,
): Pick<Handlers, `builds.uploads.${'create' | 'read' | 'put'}`> => ({
  'builds.uploads.create': async ({ change, body }) => {
    const stored = await runOnce(
      change,
      storedSchema,
      async (tx) => () => beginUpload(tx, change, body, work),
    );
    return { ...stored, value: buildUpload(stored.value, body, await addresses()) };
  },

  'builds.uploads.read': async ({ params, query }) => {
    const { facts, attempt } = await openUpload(work, await addresses(), params, query);
    const { buildAttemptId, state } = attempt;
    const { bytes } = facts;
    const received = sumPieces(await work.store.uploadPieces.list(params));
    const lacksBytes = ['awaiting_upload', 'failed', 'cancelled'].includes(state);
    return { schemaVersion: 1, buildAttemptId, state, bytes, receivedBytes: lacksBytes ? received : bytes };
  },

  'builds.uploads.put': async ({ params, query, content }) => {
    const { facts, attempt } = await openUpload(work, await addresses(), params, query);
    const { organizationId, requestedBy } = attempt;
    content.admit({ tokenId: requestedBy, organizationId });
    const { first, end } = parseSpan(content, facts.bytes);
    assertContent(content, { mediaType, bytes: end - first });
    if (isEnd('buildAttempt', attempt.state)) {
      await discardArchive(facts, content);
      return attempt;
    }
    if (!(await receiveArchive(work, facts, content))) return attempt;
    const driven = await driveAttempt(work, params);
    if (hasExpired(driven)) throw expiredError();
    return driven;
  },
});
