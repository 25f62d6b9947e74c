import { describe, expect, it } from 'vitest';
import {
  buildAttemptSchema,
  buildUploadRequestSchema,
  buildUploadSchema,
} from '../../../src/contract/index.ts';
import { describeResource } from '../field-rules.ts';
import {
  bytesOfBuild,
  chars,
  digest,
  id,
  integer,
  list,
  listUpTo,
  object,
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
  rules: {
    schemaVersion: version,
    buildAttemptId: id('attempt'),
    organizationId: id('org'),
    projectId: id('prj'),
    sourceKind: oneOf('upload', 'draft'),
    requestedBy: principal,
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
    diagnostics: list,
    'diagnostics[]': object,
    'diagnostics[].code': chars(1, 128),
    'diagnostics[].severity': chars(1, 64),
    'diagnostics[].message': string,
    'diagnostics[].path?': string,
    sourceClosure: listUpTo(2000, 'src/index.ts'),
    'sourceClosure[]': chars(1, 1024),
    createdAtMs: integer,
    updatedAtMs: integer,
    'sourceDraftId?': id('draft'),
    'sourceRevision?': oneOf(1),
    'sourceDigest?': digest,
    'revision?': revision,
    'expectedBuildHash?': digest,
    'expectedArtifactDigest?': digest,
    'expectedBytes?': bytesOfBuild,
    'advanceEnvironmentId?': id('env'),
    'expectedEnvironmentVersion?': integer,
    'buildHash?': digest,
    'finishedAtMs?': integer,
  },
});

const { advanceEnvironmentId, expectedEnvironmentVersion, ...plain } = uploadRequest;

describeResource('body of builds.uploads.create', {
  schema: buildUploadRequestSchema,
  sample: uploadRequest,
  rules: {
    buildHash: digest,
    artifactDigest: digest,
    bytes: bytesOfBuild,
    'advanceEnvironmentId?': id('env'),
    'expectedEnvironmentVersion?': integer,
  },
  absentWith: {
    advanceEnvironmentId: 'expectedEnvironmentVersion',
    expectedEnvironmentVersion: 'advanceEnvironmentId',
  },
});

const judge = (extra: object) => buildUploadRequestSchema.safeParse({ ...plain, ...extra }).success;

describe('a build upload request', () => {
  it('names the environment to advance together with its expected version, or neither', () => {
    expect(judge({})).toBe(true);
    expect(judge({ advanceEnvironmentId, expectedEnvironmentVersion })).toBe(true);
    expect(judge({ advanceEnvironmentId })).toBe(false);
    expect(judge({ expectedEnvironmentVersion })).toBe(false);
  });
});

describeResource('build upload', {
  schema: buildUploadSchema,
  sample: upload,
  rules: {
    schemaVersion: version,
    attempt: resource(buildAttempt),
    method: oneOf('PUT'),
    uploadUrl: chars(1, 4096),
    headers: {
      accepts: [{}, { a: '', 'x-b': 'c' }],
      rejects: [{ a: 1 }, { a: null }, [], 'x', null],
      whole: true,
    },
    expiresAtMs: integer,
  },
});
