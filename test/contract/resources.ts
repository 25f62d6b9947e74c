// Every resource of the control API with the rules of its members, and a complete sample that follows from the rules.
import type * as z from 'zod/mini';
import {
  operationErrorSchema,
  timeAdvanceResultSchema,
  faultSetResultSchema,
  operationResourceSchema,
} from '../../src/contract/resources/operation.ts';
import {
  worldSessionSchema,
  environmentSchema,
  sessionExtendRequestSchema,
} from '../../src/contract/resources/session.ts';
import {
  turnRequestSchema,
  authoringSessionSchema,
  authoringTurnSchema,
} from '../../src/contract/resources/authoring.ts';
import {
  buildAttemptSchema,
  buildUploadRequestSchema,
  buildUploadSchema,
  buildUploadProgressSchema,
  toolSourceSchema,
} from '../../src/contract/resources/build.ts';
import {
  runIdentitySchema,
  assertionResultSchema,
  runSetupSchema,
  runCaptureSchema,
  runResultSchema,
  hostedRunSchema,
  hostedRunStates,
} from '../../src/contract/resources/run.ts';
import {
  reproductionSchema,
  attestationSchema,
  exportAttestationSchema,
} from '../../src/contract/resources/attestation.ts';
import {
  evidenceExportSchema,
  localReportItemSchema,
  evidenceBundleSchema,
} from '../../src/contract/resources/evidence.ts';
import { localReportPageSchema, evidenceExportPageSchema } from '../../src/contract/operations/answers.ts';
import { errorEnvelopeSchema } from '../../src/contract/operations/errors.ts';
import { type Row, type Resource, sampleOf, rulesOf } from './field-rules.ts';
import * as f from './formats.ts';

export const resources: Resource[] = [];

/** Adds a resource to the table, and returns its sample. */
function addResource<T>(
  name: string,
  schema: z.ZodMiniType<T>,
  rows: readonly Row[],
  more: Pick<Resource, 'open' | 'excluded' | 'together'> = {},
): T {
  const rules = rulesOf(rows);
  const sample = schema.parse(sampleOf(rules, more.excluded));
  resources.push({ name, schema, sample, rules, ...more });
  return sample;
}

const inProject: readonly Row[] = [
  [f.version, 'schemaVersion'],
  [f.id('org'), 'organizationId'],
  [f.id('prj'), 'projectId'],
];

export const operationError = addResource(
  'operation error',
  operationErrorSchema,
  [
    [f.version, 'schemaVersion'],
    [f.code(['control', 'a-b9', 'world'], ['Control', 'a_b', 'a.b', '']), 'code'],
    [f.oneOf('framework', 'world', 'tool', 'target', 'assertion', 'reporter', 'control'), 'source'],
    [f.chars(1, 4000), 'message issues[].suggestion?'],
    [f.boolean, 'retryable'],
    [f.chosenId('corr'), 'correlationId?'],
    [f.list, 'issues= issues[].path?'],
    [f.chars(1, 128), 'issues[].code'],
    [f.chars(1, 2000), 'issues[].message'],
    [f.pathStep, 'issues[].path[]'],
    [f.openObject, 'details?'],
    [f.object, 'evidence?'],
    [f.chosenId('run'), 'evidence.runId?'],
    [f.positive, 'evidence.sequence?'],
  ],
  { open: ['', 'issues[]', 'evidence'] },
);

const resultRows: readonly Row[] = [
  [f.version, 'schemaVersion'],
  [f.id('op'), 'operationId'],
  [f.id('ses'), 'sessionId'],
  [f.positive, 'leaseGeneration'],
  [f.digest, 'buildHash'],
  [f.chosenId('corr'), 'correlationId'],
  [f.integer, 'evidenceBeforeSequence evidenceAfterSequence'],
  [f.object, 'failure?'],
  [f.chars(1, 1000), 'failure.message'],
];

export const timeAdvance = addResource('result of world.time.advance', timeAdvanceResultSchema, [
  ...resultRows,
  [f.oneOf('world.time.advance'), 'kind'],
  [f.integer, 'requestedUs startedUs reachedUs scheduledEventsProcessed'],
  [f.integers(0, 1_000_000), 'maxEvents'],
  [f.oneOf('completed', 'failed', 'interrupted'), 'status'],
  [f.boolean, 'eventBudgetExhausted'],
  [f.chosenId('pending'), 'failure.scheduledEventId?'],
  [f.code(['control', 'framework', 'world'], ['tool', 'a-b', ''], { max: 128 }), 'failure.code'],
]);

export const faultSet = addResource('result of world.fault.set', faultSetResultSchema, [
  ...resultRows,
  [f.oneOf('world.fault.set'), 'kind'],
  [f.slug, 'packageId faultId'],
  [f.boolean, 'requestedActive previouslyActive active changed'],
  [f.integer, 'virtualTimeUs'],
  [f.oneOf('completed', 'interrupted'), 'status'],
  [f.oneOf('control.FAULT_CONTROL_INTERRUPTED'), 'failure.code'],
]);

export const operation = addResource('operation', operationResourceSchema, [
  [f.version, 'schemaVersion'],
  [f.id('op'), 'operationId'],
  [f.id('org'), 'organizationId'],
  [f.id('prj'), 'projectId?'],
  [f.operationKind, 'kind'],
  [f.oneOf('succeeded', 'pending', 'running', 'failed', 'cancelled'), 'state'],
  [f.chars(1, 80), 'resourceType?'],
  [f.chars(1, 128), 'resourceId?'],
  [f.resource(operationError), 'error?'],
  [{ ...f.resource(timeAdvance), accepts: [timeAdvance, faultSet] }, 'result?'],
  [f.idempotencyKey, 'idempotencyKey'],
  [f.digest, 'requestHash'],
  [f.integer, 'cancelRequestedAtMs? startedAtMs? finishedAtMs? createdAtMs updatedAtMs'],
]);

export const session = addResource(
  'world session',
  worldSessionSchema,
  [
    ...inProject,
    [f.id('env'), 'environmentId'],
    [f.id('ses'), 'sessionId parentSessionId?'],
    [f.digest, 'buildHash warmPool.setupHash'],
    [f.slug, 'drillId? scenarioId?'],
    [f.seed, 'seed'],
    [f.listUpTo(64, 'cbr_0123456789ab'), 'callbackReceiverBindingIds='],
    [f.id('cbr'), 'callbackReceiverBindingIds[]'],
    [
      f.oneOf('ready', 'creating', 'warming', 'resetting', 'degraded', 'expired', 'destroying', 'destroyed'),
      'state',
    ],
    [f.object, 'warmPool?'],
    [f.oneOf('preparing', 'ready', 'claimed', 'retired'), 'warmPool.state'],
    [f.positive, 'leaseGeneration'],
    [f.id('hsnap'), 'parentHostedSnapshotId?'],
    [f.integer, 'createdAtMs updatedAtMs expiresAtMs destroyedAtMs? version'],
  ],
  { excluded: { scenarioId: 'drillId' } },
);

export const environment = addResource('environment', environmentSchema, [
  ...inProject,
  [f.id('env'), 'environmentId'],
  [f.string, 'name'],
  [f.digest, 'buildHash?'],
  [f.integer, 'version createdAtMs updatedAtMs'],
]);

addResource('body of sessions.extend', sessionExtendRequestSchema, [
  [f.positive, 'expectedLeaseGeneration'],
  [f.integer, 'expectedVersion'],
  [f.integers(1, 604_800_000), 'ttlMs'],
]);

const model = f.chars(1, 64);
const effort = f.oneOf('low', 'medium', 'high', 'xhigh', 'max');
const maxTurns = f.integers(1, 200);
const maxBudgetUsd = f.numbers(1000);
const timeoutMs = f.integers(1000, 7_200_000);

addResource('body of authoring.turns.create', turnRequestSchema, [
  [f.chars(1, 32_768), 'prompt'],
  [model, 'model?'],
  [effort, 'effort?'],
  [maxTurns, 'maxTurns?'],
  [maxBudgetUsd, 'maxBudgetUsd?'],
  [timeoutMs, 'timeoutMs?'],
]);

export const authoringSession = addResource('authoring session', authoringSessionSchema, [
  ...inProject,
  [f.id('authsess'), 'authoringSessionId'],
  [f.opaqueId, 'repositoryBindingId activeTurnId? currentProposalId?'],
  [f.principal, 'createdBy'],
  [f.nonEmpty, 'branch baseRevision'],
  [f.anyValue('active', 'closed'), 'state'],
  [f.integer, 'version createdAtMs updatedAtMs closedAtMs?'],
]);

export const authoringTurn = addResource('authoring turn', authoringTurnSchema, [
  ...inProject,
  [f.opaqueId, 'authoringTurnId proposalId? agentSessionId?'],
  [f.id('authsess'), 'authoringSessionId'],
  [f.string, 'prompt actualModel? resultText?'],
  [model, 'model'],
  [effort, 'effort'],
  [maxTurns, 'maxTurns'],
  [maxBudgetUsd, 'maxBudgetUsd'],
  [timeoutMs, 'timeoutMs'],
  [f.anyValue('queued'), 'state'],
  [f.id('op'), 'operationId'],
  [f.integer, 'createdAtMs cancelRequestedAtMs? startedAtMs? finishedAtMs?'],
  [f.integer, 'sequence turnsUsed? durationMs?'],
  [f.number, 'estimatedCostUsd?'],
  [f.resource(operationError), 'error?'],
]);

const bytesOfBuild = f.integers(1, 67_108_864);
const attemptState = f.oneOf(
  'awaiting_upload',
  'queued',
  'fetching',
  'compiling',
  'verifying',
  'succeeded',
  'failed',
  'cancelled',
);

export const buildAttempt = addResource(
  'build attempt',
  buildAttemptSchema,
  [
    ...inProject,
    [f.id('attempt'), 'buildAttemptId'],
    [f.oneOf('upload', 'draft'), 'sourceKind'],
    [f.principal, 'requestedBy'],
    [attemptState, 'state'],
    [f.string, 'diagnostics[].code? diagnostics[].severity? diagnostics[].message? diagnostics[].path?'],
    [f.listUpTo(2000, 'src/index.ts'), 'sourceClosure'],
    [f.chars(1, 1024), 'sourceClosure[]'],
    [f.integer, 'createdAtMs updatedAtMs expectedEnvironmentVersion? finishedAtMs?'],
    [f.id('draft'), 'sourceDraftId?'],
    [f.oneOf(1), 'sourceRevision?'],
    [f.digest, 'sourceDigest? expectedBuildHash? expectedArtifactDigest? buildHash?'],
    [f.revision, 'revision?'],
    [bytesOfBuild, 'expectedBytes?'],
    [f.id('env'), 'advanceEnvironmentId?'],
  ],
  { open: ['diagnostics[]'] },
);

addResource(
  'body of builds.uploads.create',
  buildUploadRequestSchema,
  [
    [f.digest, 'buildHash artifactDigest'],
    [bytesOfBuild, 'bytes'],
    [f.id('env'), 'advanceEnvironmentId?'],
    [f.integer, 'expectedEnvironmentVersion?'],
  ],
  {
    together: {
      advanceEnvironmentId: 'expectedEnvironmentVersion',
      expectedEnvironmentVersion: 'advanceEnvironmentId',
    },
  },
);

export const buildUpload = addResource('build upload', buildUploadSchema, [
  [f.version, 'schemaVersion'],
  [f.resource(buildAttempt), 'attempt'],
  [f.oneOf('PUT'), 'method'],
  [f.chars(1, 4096), 'uploadUrl'],
  [f.integer, 'expiresAtMs'],
  [
    {
      accepts: [{}, { a: '', 'x-b': 'c' }],
      rejects: [{ a: 1 }, { a: null }, [], 'x', null],
      whole: true,
    },
    'headers',
  ],
]);

addResource('progress of a build upload', buildUploadProgressSchema, [
  [f.version, 'schemaVersion'],
  [f.id('attempt'), 'buildAttemptId'],
  [attemptState, 'state'],
  [bytesOfBuild, 'bytes'],
  [f.integers(0, 67_108_864), 'receivedBytes'],
]);

export const toolSource = addResource('tool source', toolSourceSchema, [
  ...inProject,
  [f.digest, 'buildHash manifestHash artifactHash ui.assets[].artifactHash'],
  [f.slug, 'packageId'],
  [f.semver, 'version'],
  [f.oneOf('javascript'), 'implementation.kind'],
  [{ accepts: ['', 'x'], rejects: [1, null, []] }, 'implementation.source'],
  [f.integers(0, 1_048_576), 'implementation.bytes'],
  [f.object, 'ui?'],
  [f.nonEmpty, 'ui.entry ui.assets[].path ui.assets[].mediaType'],
  [f.count, 'ui.assets[].bytes'],
]);

const identity = addResource('run identity', runIdentitySchema, [
  [f.chosenId('run'), 'runId'],
  [f.opaqueId, 'worldInstanceId targetId'],
  [f.slug, 'drillId scenarioId?'],
  [f.digest, 'buildHash packageLockHash setupHash?'],
  [f.seed, 'seed'],
  [f.integer, 'trial trialCount attempt attemptLimit'],
]);

const assertionResult = addResource('assertion result', assertionResultSchema, [
  [f.version, 'schemaVersion'],
  [f.opaqueId, 'assertionId'],
  [f.anyValue('state'), 'kind'],
  [f.anyValue('failed'), 'status'],
  [f.boolean, 'gate diff.matched'],
  [f.string, 'message? location.subject location.namespace? location.rowId? diff.operator'],
  [f.json, 'expected? actual?'],
  [f.object, 'location? diff?'],
  [f.slug, 'location.packageId?'],
  [f.list, 'location.path? evidenceSequences?'],
  [f.pathStep, 'location.path[]'],
  [f.openObject, 'diff.details?'],
  [f.integer, 'evidenceSequences[]'],
]);

const setup = addResource('run setup', runSetupSchema, [
  [f.version, 'schemaVersion'],
  [f.slug, 'drillId setup.scenario.toolOverrides[].operation.packageId'],
  [f.openObject, 'setup.tools.packages[] setup.tools.behaviorOverrides[] setup.bindings.environment'],
  [f.openObject, 'setup.scenario.actors[] setup.scenario.state[] setup.scenario.faults[]'],
  [f.openObject, 'setup.scenario.initialEvents[] setup.scenario.toolOverrides[].when.arguments?'],
  [f.integer, 'setup.scenario.virtualTimeUs setup.scenario.toolOverrides[].times?'],
  [f.opaqueId, 'setup.scenario.toolOverrides[].id setup.scenario.toolOverrides[].operation.operationId'],
  [f.opaqueId, 'setup.scenario.toolOverrides[].when.actorId?'],
  [f.anyValue('error'), 'setup.scenario.toolOverrides[].outcome.kind'],
  [f.json, 'setup.scenario.toolOverrides[].outcome.value?'],
  [f.object, 'setup.scenario.toolOverrides[].when?'],
  [f.digest, 'setupHash'],
]);

const capture = addResource('run capture', runCaptureSchema, [
  [f.version, 'schemaVersion attachments[].attachment.schemaVersion'],
  [f.anyValue('always'), 'policies.logs policies.screenshots policies.video policies.files'],
  [f.anyValue('always'), 'attachments[].policy'],
  [f.anyValue('file'), 'attachments[].kind errors[].kind'],
  [f.anyValue('none'), 'attachments[].attachment.redaction.status'],
  [f.oneOf('file'), 'attachments[].attachment.kind'],
  [f.opaqueId, 'attachments[].attachment.id attachments[].interactionId? errors[].interactionId?'],
  [f.string, 'attachments[].attachment.name attachments[].attachment.mediaType errors[].message'],
  [f.string, 'attachments[].attachment.redaction.note?'],
  [f.count, 'discarded.logs discarded.screenshots discarded.video discarded.files'],
  [f.count, 'attachments[].attachment.bytes'],
  [f.digest, 'attachments[].attachment.hash'],
  [f.object, 'attachments[].attachment.redaction?'],
  [f.chars(1, 128), 'errors[].code'],
]);

export const runResult = addResource('run result', runResultSchema, [
  [f.version, 'schemaVersion interactions[].schemaVersion interactions[].targetResult.schemaVersion'],
  [f.version, 'checkpoints[].schemaVersion'],
  [f.unversioned(identity), 'identity'],
  [f.integer, 'startedAtVirtualUs finishedAtVirtualUs evidenceRange.fromSequence evidenceRange.toSequence'],
  [f.integer, 'interactions[].scheduledAtVirtualUs interactions[].startedAtVirtualUs'],
  [f.integer, 'interactions[].finishedAtVirtualUs checkpoints[].virtualTimeUs'],
  [f.anyValue('complete'), 'bindingEvidence interactions[].bindingEvidence'],
  [f.anyValue('consistent'), 'worldConsistency'],
  [f.anyValue('completed'), 'interactions[].targetResult.status status'],
  [f.anyValue('final'), 'checkpoints[].kind'],
  [f.anyValue('failed'), 'checkpoints[].verdict verdict'],
  [f.opaqueId, 'interactions[].interactionId interactions[].actorId'],
  [f.opaqueId, 'checkpoints[].checkpointId checkpoints[].interactionId?'],
  [f.string, 'interactions[].task.instruction'],
  [f.json, 'interactions[].task.input? interactions[].targetResult.output?'],
  [f.list, 'interactions[].targetResult.attachments?'],
  [f.openObject, 'interactions[].targetResult.attachments[] interactions[].targetResult.error?'],
  [f.resource(assertionResult), 'checkpoints[].assertionResults[] assertionResults[]'],
  [f.count, 'budgetUsage.toolCalls.limit budgetUsage.toolCalls.attempted budgetUsage.toolCalls.rejected'],
  [f.count, 'budgetUsage.scheduledEvents.limit budgetUsage.scheduledEvents.processed'],
  [f.boolean, 'budgetUsage.scheduledEvents.exhausted'],
  [f.digest, 'stateHash evidenceHash trajectoryHash'],
  [f.resource(setup), 'setup?'],
  [f.resource(capture), 'capture?'],
]);

export const hostedRun = addResource('hosted run', hostedRunSchema, [
  ...inProject,
  [f.version, 'termination.schemaVersion pendingInteraction.schemaVersion'],
  [f.id('hrun'), 'hostedRunId rerunOfHostedRunId?'],
  [f.id('evidence'), 'evidenceBundleId'],
  [f.id('env'), 'environmentId'],
  [f.id('ses'), 'sessionId'],
  [f.digest, 'buildHash'],
  [f.chosenId('run'), 'request.runId'],
  [f.slug, 'request.drillId'],
  [f.seed, 'request.seed'],
  [f.integer, 'request.trial request.trialCount request.attempt request.attemptLimit leaseGeneration'],
  [f.integer, 'revision evidenceRetentionMs deadlineAtMs createdAtMs updatedAtMs finishedAtMs?'],
  [f.integer, 'termination.requestedAtMs? pendingInteraction.interaction.afterStartUs'],
  [f.integer, 'pendingInteraction.scheduledAtVirtualUs pendingInteraction.startedAtVirtualUs'],
  [f.anyValue(...hostedRunStates), 'state'],
  [f.anyValue('completed'), 'termination.outcome'],
  [f.count, 'pendingInteraction.toolCallsAtStart'],
  [f.unversioned(identity), 'identity?'],
  [f.object, 'termination? pendingInteraction?'],
  [f.string, 'termination.reason? pendingInteraction.interaction.task.instruction'],
  [f.opaqueId, 'pendingInteraction.interaction.id pendingInteraction.interaction.actorId'],
  [f.json, 'pendingInteraction.interaction.task.input?'],
  [f.resource(runResult), 'result?'],
  [f.resource(operationError), 'failure?'],
]);

const scope: f.Format = {
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

export const evidenceExport = addResource('evidence export', evidenceExportSchema, [
  [f.version, 'schemaVersion'],
  [f.id('evexp'), 'evidenceExportId'],
  [f.id('org'), 'organizationId'],
  [scope, 'scope'],
  [f.id('op'), 'operationId deletion.operationId'],
  [f.oneOf('available', 'pending', 'generating', 'failed'), 'state'],
  [f.principal, 'requestedBy'],
  [f.integer, 'fromAtMs throughAtMs createdAtMs updatedAtMs completedAtMs? deletion.version'],
  [f.integer, 'deletion.requestedAtMs'],
  [f.digest, 'selectionDigest manifestDigest?'],
  [f.integers(0, 10_000), 'bundleCount completedBundleCount completedLocalReportCount?'],
  [f.decimalBytes, 'sourceBytes archiveBytes manifestBytes?'],
  [f.integers(1, 10_000), 'localReportCount?'],
  [f.code(['control'], ['world', 'build', 'Control', ''], { min: 11, max: 88 }), 'failureCode?'],
  [f.object, 'deletion?'],
  [f.anyValue('requested'), 'deletion.state'],
]);

export const localReportItem = addResource('local report item', localReportItemSchema, [
  [f.integer, 'source.ordinal source.archiveBytes source.summary.artifactCount'],
  [f.integer, 'source.summary.expandedBytes source.createdAtMs source.verifiedAtMs'],
  [f.id('prj'), 'source.projectId'],
  [f.localReportId, 'source.localReportId archive.localReportId'],
  [f.digest, 'source.submissionDigest source.manifestDigest archive.digest'],
  [f.digest, 'source.summary.reportedBuildHash source.summary.reportedPackageLockHash'],
  [f.oneOf('user_produced'), 'source.provenance.origin'],
  [f.oneOf('unattested'), 'source.provenance.trust'],
  [f.principal, 'source.provenance.uploadedBy'],
  [f.chosenId('run'), 'source.summary.runId'],
  [f.slug, 'source.summary.drillId source.summary.scenarioId?'],
  [f.opaqueId, 'source.summary.targetId'],
  [f.seed, 'source.summary.seed'],
  [f.anyValue('passed'), 'source.summary.reportedStatus source.summary.reportedVerdict?'],
  [f.boolean, 'source.summary.redacted'],
  [f.nonEmpty, 'archive.path'],
  [f.decimalBytes, 'archive.bytes'],
]);

const reproduction = addResource('reproduction', reproductionSchema, [
  [f.version, 'schemaVersion'],
  [f.oneOf('world_inputs'), 'scope'],
  [f.slug, 'drillId scenarioId?'],
  [f.opaqueId, 'targetId'],
  [f.digest, 'buildHash packageLockHash setupHash?'],
  [f.seed, 'seed'],
  [f.integer, 'originalTrial originalTrialCount originalAttempt originalAttemptLimit'],
]);

const signed: readonly Row[] = [
  [f.version, 'schemaVersion statement.schemaVersion'],
  [f.oneOf('ecdsa-p256-sha256'), 'algorithm'],
  [f.oneOf('der-base64url'), 'encoding'],
  [f.nonEmpty, 'signature'],
  [f.chars(1, 1024), 'statement.predicateType statement.issuer'],
  [f.chars(1, 256), 'statement.keyId'],
  [f.integer, 'statement.issuedAtMs'],
  [f.digest, 'statement.subject.manifestDigest'],
];

export const attestation = addResource('attestation', attestationSchema, [
  ...signed,
  [f.chosenId('run'), 'statement.subject.runId'],
  [f.resource(reproduction), 'statement.subject.reproduction'],
  [f.digest, 'statement.subject.runResultHash statement.subject.evidenceHash'],
  [f.digest, 'statement.subject.stateHash statement.subject.trajectoryHash'],
]);

export const exportAttestation = addResource('export attestation', exportAttestationSchema, [
  ...signed,
  [f.id('evexp'), 'statement.subject.evidenceExportId'],
  [f.id('org'), 'statement.subject.organizationId'],
]);

export const evidenceBundle = addResource('evidence bundle', evidenceBundleSchema, [
  [f.version, 'schemaVersion'],
  [f.id('evidence'), 'evidenceBundleId'],
  [f.id('prj'), 'projectId'],
  [f.id('hrun'), 'hostedRunId'],
  [f.chosenId('run'), 'runId'],
  [f.digest, 'manifestDigest'],
  [f.boolean, 'signed'],
  [f.oneOf('available', 'deleted'), 'state'],
  [f.integer, 'createdAtMs storageVerifiedAtMs deleteAtMs? deletedAtMs?'],
  [f.integer, 'storage.objectCount storage.manifestBytes storage.artifactBytes storage.totalBytes'],
  [f.resource(attestation), 'attestation?'],
]);

addResource('page of local reports', localReportPageSchema, [
  [f.listUpTo(100, localReportItem), 'items'],
  [f.unversioned(localReportItem), 'items[]'],
  [f.chars(1, 2048), 'nextCursor?'],
]);

addResource('page of evidence exports', evidenceExportPageSchema, [
  [f.listUpTo(100, evidenceExport), 'items'],
  [f.resource(evidenceExport), 'items[]'],
  [f.chars(1, 2048), 'nextCursor?'],
]);

addResource(
  'error envelope',
  errorEnvelopeSchema,
  [
    [f.code(['control', 'world'], ['build', 'framework', 'Control', 'controls', '']), 'code'],
    [f.nonEmpty, 'message correlationId'],
    [f.boolean, 'retryable'],
    [f.oneOf('platform', 'simulated_provider'), 'source'],
    [f.positive, 'retryAfterMs?'],
    [f.string, 'operationId? issues[].path issues[].code issues[].message'],
    [f.list, 'issues?'],
    [f.openObject, 'details?'],
    [f.object, 'evidence?'],
    [
      { accepts: ['', 'x'.repeat(256)], rejects: ['x'.repeat(257), 1, null] },
      'evidence.sessionId? evidence.runId? evidence.buildHash?',
    ],
    [f.count, 'evidence.journalSeq?'],
  ],
  { open: [''] },
);
