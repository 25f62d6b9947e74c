import { expect, it } from 'vitest';
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
import { describeResource, rulesOf } from './field-rules.ts';
import {
  anyValue,
  boolean,
  chars,
  chosenId,
  code,
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
    ...rulesOf(
      [version, 'schemaVersion'],
      [id('evexp'), 'evidenceExportId'],
      [id('org'), 'organizationId'],
      [scope, 'scope'],
      [id('op'), 'operationId deletion.operationId'],
      [oneOf('pending', 'generating', 'available', 'failed'), 'state'],
      [principal, 'requestedBy'],
      [
        integer,
        'fromAtMs throughAtMs createdAtMs updatedAtMs completedAtMs? deletion.version',
        'deletion.requestedAtMs',
      ],
      [digest, 'selectionDigest manifestDigest?'],
      [integers(0, 10_000), 'bundleCount completedBundleCount completedLocalReportCount?'],
      [decimalBytes, 'sourceBytes archiveBytes manifestBytes?'],
      [integers(1, 10_000), 'localReportCount?'],
      [object, 'deletion?'],
      [anyValue, 'deletion.state'],
    ),
    'failureCode?': {
      accepts: [...controlCode.accepts, 'control.ABC', `control.${'A'.repeat(80)}`],
      rejects: [...controlCode.rejects, 'control.AB', `control.${'A'.repeat(81)}`],
    },
  },
});

it('the scope of an export is the organization or one project', () => {
  for (const value of scope.accepts) expect(exportScopeSchema.parse(value)).toEqual(value);
});

describeResource('local report item', {
  schema: localReportItemSchema,
  sample: localReportItem,
  rules: rulesOf(
    [
      integer,
      'source.ordinal source.archiveBytes source.summary.artifactCount',
      'source.summary.expandedBytes',
    ],
    [id('prj'), 'source.projectId'],
    [localReportId, 'source.localReportId archive.localReportId'],
    [
      digest,
      'source.submissionDigest source.manifestDigest source.summary.reportedBuildHash',
      'source.summary.reportedPackageLockHash archive.digest',
    ],
    [oneOf('user_produced'), 'source.provenance.origin'],
    [oneOf('unattested'), 'source.provenance.trust'],
    [principal, 'source.provenance.uploadedBy'],
    [chosenId('run'), 'source.summary.runId'],
    [slug, 'source.summary.drillId source.summary.scenarioId?'],
    [opaqueId, 'source.summary.targetId'],
    [seed, 'source.summary.seed'],
    [anyValue, 'source.summary.reportedStatus source.summary.reportedVerdict?'],
    [boolean, 'source.summary.redacted'],
    [integer, 'source.createdAtMs source.verifiedAtMs'],
    [nonEmpty, 'archive.path'],
    [decimalBytes, 'archive.bytes'],
  ),
});

describeResource('evidence bundle', {
  schema: evidenceBundleSchema,
  sample: evidenceBundle,
  rules: rulesOf(
    [version, 'schemaVersion'],
    [id('evidence'), 'evidenceBundleId'],
    [id('prj'), 'projectId'],
    [id('hrun'), 'hostedRunId'],
    [chosenId('run'), 'runId'],
    [digest, 'manifestDigest'],
    [boolean, 'signed'],
    [oneOf('available', 'deleted'), 'state'],
    [integer, 'createdAtMs storageVerifiedAtMs deleteAtMs? deletedAtMs?'],
    [integer, 'storage.objectCount storage.manifestBytes storage.artifactBytes storage.totalBytes'],
    [resource(attestation), 'attestation?'],
  ),
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
    ...rulesOf(
      [chosenId('run'), 'statement.subject.runId'],
      [resource(reproduction), 'statement.subject.reproduction'],
      [
        digest,
        'statement.subject.runResultHash statement.subject.evidenceHash',
        'statement.subject.stateHash statement.subject.trajectoryHash',
      ],
    ),
  },
});

describeResource('reproduction', {
  schema: reproductionSchema,
  sample: reproduction,
  rules: rulesOf(
    [version, 'schemaVersion'],
    [oneOf('world_inputs'), 'scope'],
    [slug, 'drillId scenarioId?'],
    [opaqueId, 'targetId'],
    [digest, 'buildHash packageLockHash setupHash?'],
    [seed, 'seed'],
    [integer, 'originalTrial originalTrialCount originalAttempt originalAttemptLimit'],
  ),
});

describeResource('export attestation', {
  schema: exportAttestationSchema,
  sample: exportAttestation,
  rules: {
    ...signed,
    ...rulesOf(
      [id('evexp'), 'statement.subject.evidenceExportId'],
      [id('org'), 'statement.subject.organizationId'],
    ),
  },
});

it('attestations of a bundle and of an export are never accepted as each other', () => {
  expect(attestationSchema.safeParse(exportAttestation).success).toBe(false);
  expect(exportAttestationSchema.safeParse(attestation).success).toBe(false);
});

it('attestations of a bundle and of an export have predicate types of their own', () => {
  expect(EVIDENCE_PREDICATE_TYPE).toBe('urn:drillproof:attestation:evidence:v1');
  expect(EXPORT_PREDICATE_TYPE).toBe('urn:drillproof:attestation:export:v1');
});
