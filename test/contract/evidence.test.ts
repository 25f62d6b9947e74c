import { describe, expect, it } from 'vitest';
import {
  attestationSchema,
  evidenceBundleSchema,
  evidenceExportSchema,
  EVIDENCE_PREDICATE_TYPE,
  exportAttestationSchema,
  EXPORT_PREDICATE_TYPE,
  exportScopeSchema,
  localReportItemSchema,
  reproductionSchema,
} from '../../src/contract/index.ts';
import { describeResource } from './field-rules.ts';
import {
  anyValue,
  boolean,
  chars,
  chosenId,
  code,
  count,
  decimalBytes,
  digest,
  type Format,
  id,
  integer,
  integers,
  localReportId,
  nonEmpty,
  object,
  oneOf,
  opaqueId,
  principal,
  resource,
  seed,
  slug,
  version,
} from './formats.ts';
import {
  attestation,
  evidenceBundle,
  evidenceExport,
  exportAttestation,
  localReportItem,
  reproduction,
} from './samples.ts';

const controlCode = code(['control'], ['world', 'build', 'Control', '']);

const scope: Format = {
  accepts: [{ kind: 'organization' }, { kind: 'project', projectId: 'prj_0123456789ab' }],
  rejects: [
    {},
    { kind: 'other' },
    { kind: 'project' },
    { kind: 'project', projectId: 'prj_0' },
    { kind: 'organization', projectId: 'prj_0123456789ab' },
    { kind: 'project', projectId: 'prj_0123456789ab', x: 1 },
    'organization',
    null,
  ],
  whole: true,
};

describeResource('evidence export', {
  schema: evidenceExportSchema,
  sample: evidenceExport,
  rules: {
    schemaVersion: version,
    evidenceExportId: id('evexp'),
    organizationId: id('org'),
    scope,
    operationId: id('op'),
    state: oneOf('pending', 'generating', 'available', 'failed'),
    requestedBy: principal,
    fromAtMs: integer,
    throughAtMs: integer,
    selectionDigest: digest,
    bundleCount: integers(0, 10_000),
    completedBundleCount: integers(0, 10_000),
    sourceBytes: decimalBytes,
    archiveBytes: decimalBytes,
    createdAtMs: integer,
    updatedAtMs: integer,
    'localReportCount?': integers(1, 10_000),
    'completedLocalReportCount?': integers(0, 10_000),
    'manifestDigest?': digest,
    'manifestBytes?': decimalBytes,
    'failureCode?': {
      accepts: [...controlCode.accepts, 'control.ABC', `control.${'A'.repeat(80)}`],
      rejects: [...controlCode.rejects, 'control.AB', `control.${'A'.repeat(81)}`],
    },
    'completedAtMs?': integer,
    'deletion?': object,
    'deletion.state': anyValue,
    'deletion.version': integer,
    'deletion.operationId': id('op'),
    'deletion.requestedAtMs': integer,
  },
});

describe('the scope of an export', () => {
  it('is the organization or one project', () => {
    for (const value of scope.accepts) expect(exportScopeSchema.parse(value)).toEqual(value);
  });
});

describeResource('local report item', {
  schema: localReportItemSchema,
  sample: localReportItem,
  rules: {
    source: object,
    'source.ordinal': count,
    'source.projectId': id('prj'),
    'source.localReportId': localReportId,
    'source.submissionDigest': digest,
    'source.manifestDigest': digest,
    'source.archiveBytes': count,
    'source.provenance': object,
    'source.provenance.origin': oneOf('user_produced'),
    'source.provenance.trust': oneOf('unattested'),
    'source.provenance.uploadedBy': principal,
    'source.summary': object,
    'source.summary.runId': chosenId('run'),
    'source.summary.drillId': slug,
    'source.summary.targetId': opaqueId,
    'source.summary.reportedBuildHash': digest,
    'source.summary.reportedPackageLockHash': digest,
    'source.summary.seed': seed,
    'source.summary.reportedStatus': anyValue,
    'source.summary.artifactCount': count,
    'source.summary.expandedBytes': count,
    'source.summary.redacted': boolean,
    'source.summary.scenarioId?': slug,
    'source.summary.reportedVerdict?': anyValue,
    'source.createdAtMs': integer,
    'source.verifiedAtMs': integer,
    archive: object,
    'archive.localReportId': localReportId,
    'archive.path': nonEmpty,
    'archive.digest': digest,
    'archive.bytes': decimalBytes,
  },
});

describeResource('evidence bundle', {
  schema: evidenceBundleSchema,
  sample: evidenceBundle,
  rules: {
    schemaVersion: version,
    evidenceBundleId: id('evidence'),
    projectId: id('prj'),
    hostedRunId: id('hrun'),
    runId: chosenId('run'),
    manifestDigest: digest,
    signed: boolean,
    state: oneOf('available', 'deleted'),
    createdAtMs: integer,
    storage: object,
    'storage.objectCount': count,
    'storage.manifestBytes': count,
    'storage.artifactBytes': count,
    'storage.totalBytes': count,
    storageVerifiedAtMs: integer,
    'attestation?': resource(attestation),
    'deleteAtMs?': integer,
    'deletedAtMs?': integer,
  },
});

const signed = {
  schemaVersion: version,
  algorithm: oneOf('ecdsa-p256-sha256'),
  encoding: oneOf('der-base64url'),
  signature: nonEmpty,
  statement: object,
  'statement.schemaVersion': version,
  'statement.predicateType': chars(1, 1024),
  'statement.issuer': chars(1, 1024),
  'statement.keyId': chars(1, 256),
  'statement.issuedAtMs': integer,
  'statement.subject': object,
  'statement.subject.manifestDigest': digest,
};

describeResource('attestation', {
  schema: attestationSchema,
  sample: attestation,
  rules: {
    ...signed,
    'statement.subject.runId': chosenId('run'),
    'statement.subject.reproduction': resource(reproduction),
    'statement.subject.runResultHash': digest,
    'statement.subject.evidenceHash': digest,
    'statement.subject.stateHash': digest,
    'statement.subject.trajectoryHash': digest,
  },
});

describeResource('reproduction', {
  schema: reproductionSchema,
  sample: reproduction,
  rules: {
    schemaVersion: version,
    scope: oneOf('world_inputs'),
    drillId: slug,
    targetId: opaqueId,
    buildHash: digest,
    packageLockHash: digest,
    seed,
    originalTrial: integer,
    originalTrialCount: integer,
    originalAttempt: integer,
    originalAttemptLimit: integer,
    'scenarioId?': slug,
    'setupHash?': digest,
  },
});

describeResource('export attestation', {
  schema: exportAttestationSchema,
  sample: exportAttestation,
  rules: {
    ...signed,
    'statement.subject.evidenceExportId': id('evexp'),
    'statement.subject.organizationId': id('org'),
  },
});

describe('attestations of a bundle and of an export', () => {
  it('are never taken for each other', () => {
    expect(attestationSchema.safeParse(exportAttestation).success).toBe(false);
    expect(exportAttestationSchema.safeParse(attestation).success).toBe(false);
  });

  it('have predicate types of their own', () => {
    expect(EVIDENCE_PREDICATE_TYPE).toBe('urn:drillproof:attestation:evidence:v1');
    expect(EXPORT_PREDICATE_TYPE).toBe('urn:drillproof:attestation:export:v1');
  });
});
