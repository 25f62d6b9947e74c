import { expect, it } from 'vitest';
import {
  buildAttemptSchema,
  buildUploadRequestSchema,
  buildUploadSchema,
} from '../../../src/contract/index.ts';
import { describeResource, rulesOf } from '../field-rules.ts';
import {
  bytesOfBuild,
  chars,
  digest,
  id,
  integer,
  listUpTo,
  oneOf,
  principal,
  resource,
  revision,
  string,
  version,
} from '../formats.ts';
import { buildAttempt, upload, uploadRequest } from '../samples.ts';

describeResource('build attempt', {
  schema: buildAttemptSchema,
  sample: buildAttempt,
  open: ['diagnostics[]'],
  rules: {
    ...rulesOf(
      [version, 'schemaVersion'],
      [id('attempt'), 'buildAttemptId'],
      [id('org'), 'organizationId'],
      [id('prj'), 'projectId'],
      [oneOf('upload', 'draft'), 'sourceKind'],
      [principal, 'requestedBy'],
      [string, 'diagnostics[].code? diagnostics[].severity? diagnostics[].message? diagnostics[].path?'],
      [listUpTo(2000, 'src/index.ts'), 'sourceClosure'],
      [chars(1, 1024), 'sourceClosure[]'],
      [integer, 'createdAtMs updatedAtMs expectedEnvironmentVersion? finishedAtMs?'],
      [id('draft'), 'sourceDraftId?'],
      [oneOf(1), 'sourceRevision?'],
      [digest, 'sourceDigest? expectedBuildHash? expectedArtifactDigest? buildHash?'],
      [revision, 'revision?'],
      [bytesOfBuild, 'expectedBytes?'],
      [id('env'), 'advanceEnvironmentId?'],
    ),
    state: oneOf(
      'awaiting_upload',
      'queued',
      'fetching',
      'compiling',
      'verifying',
      'succeeded',
      'failed',
      'cancelled',
    ),
  },
});

const { advanceEnvironmentId, expectedEnvironmentVersion, ...plain } = uploadRequest;

describeResource('body of builds.uploads.create', {
  schema: buildUploadRequestSchema,
  sample: uploadRequest,
  rules: rulesOf(
    [digest, 'buildHash artifactDigest'],
    [bytesOfBuild, 'bytes'],
    [id('env'), 'advanceEnvironmentId?'],
    [integer, 'expectedEnvironmentVersion?'],
  ),
  absentWith: {
    advanceEnvironmentId: 'expectedEnvironmentVersion',
    expectedEnvironmentVersion: 'advanceEnvironmentId',
  },
});

const judge = (extra: object) => buildUploadRequestSchema.safeParse({ ...plain, ...extra }).success;

it('a build upload request names the environment to advance together with its expected version, or neither', () => {
  expect(judge({})).toBe(true);
  expect(judge({ advanceEnvironmentId, expectedEnvironmentVersion })).toBe(true);
  expect(judge({ advanceEnvironmentId })).toBe(false);
  expect(judge({ expectedEnvironmentVersion })).toBe(false);
});

describeResource('build upload', {
  schema: buildUploadSchema,
  sample: upload,
  rules: {
    ...rulesOf(
      [version, 'schemaVersion'],
      [resource(buildAttempt), 'attempt'],
      [oneOf('PUT'), 'method'],
      [chars(1, 4096), 'uploadUrl'],
      [integer, 'expiresAtMs'],
    ),
    headers: {
      accepts: [{}, { a: '', 'x-b': 'c' }],
      rejects: [{ a: 1 }, { a: null }, [], 'x', null],
      whole: true,
    },
  },
});
