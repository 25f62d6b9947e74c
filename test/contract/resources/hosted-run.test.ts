import { expect, it } from 'vitest';
import {
  assertionResultSchema,
  hostedRunSchema,
  hostedRunStates,
  runCaptureSchema,
  runIdentitySchema,
  runResultSchema,
  runSetupSchema,
  terminalRunStates,
} from '../../../src/contract/index.ts';
import { describeResource, rulesOf } from '../field-rules.ts';
import {
  anyValue,
  boolean,
  chars,
  chosenId,
  count,
  digest,
  id,
  integer,
  json,
  list,
  object,
  oneOf,
  opaqueId,
  openObject,
  resource,
  seed,
  slug,
  string,
  version,
} from '../formats.ts';
import {
  assertionResult,
  capture,
  hostedRun,
  identity,
  operationError,
  runResult,
  setup,
} from '../samples.ts';

const unversioned = (sample: object) => ({ ...resource(sample), rejects: ['x', 1, [], {}, null] });
const pathStep = { accepts: ['', 'a', 0], rejects: [-1, 1.5, true, null] };

it('states of a hosted run end in four ways', () => {
  expect(
    hostedRunStates.filter((state) => !terminalRunStates.some((terminal) => terminal === state)),
  ).toEqual(['created', 'running']);
});

describeResource('hosted run', {
  schema: hostedRunSchema,
  sample: hostedRun,
  rules: rulesOf(
    [version, 'schemaVersion termination.schemaVersion pendingInteraction.schemaVersion'],
    [id('hrun'), 'hostedRunId rerunOfHostedRunId?'],
    [id('evidence'), 'evidenceBundleId'],
    [id('org'), 'organizationId'],
    [id('prj'), 'projectId'],
    [id('env'), 'environmentId'],
    [id('ses'), 'sessionId'],
    [digest, 'buildHash'],
    [chosenId('run'), 'request.runId'],
    [slug, 'request.drillId'],
    [seed, 'request.seed'],
    [
      integer,
      'request.trial request.trialCount request.attempt request.attemptLimit leaseGeneration',
      'revision deadlineAtMs createdAtMs updatedAtMs termination.requestedAtMs?',
      'pendingInteraction.interaction.afterStartUs pendingInteraction.scheduledAtVirtualUs',
      'pendingInteraction.startedAtVirtualUs finishedAtMs?',
    ],
    [anyValue, 'state termination.outcome'],
    [count, 'pendingInteraction.toolCallsAtStart'],
    [integer, 'evidenceRetentionMs'],
    [unversioned(identity), 'identity?'],
    [object, 'termination? pendingInteraction?'],
    [string, 'termination.reason? pendingInteraction.interaction.task.instruction'],
    [opaqueId, 'pendingInteraction.interaction.id pendingInteraction.interaction.actorId'],
    [json, 'pendingInteraction.interaction.task.input?'],
    [resource(runResult), 'result?'],
    [resource(operationError), 'failure?'],
  ),
});

describeResource('run identity', {
  schema: runIdentitySchema,
  sample: identity,
  rules: rulesOf(
    [chosenId('run'), 'runId'],
    [opaqueId, 'worldInstanceId targetId'],
    [slug, 'drillId scenarioId?'],
    [digest, 'buildHash packageLockHash setupHash?'],
    [seed, 'seed'],
    [integer, 'trial trialCount attempt attemptLimit'],
  ),
});

describeResource('run result', {
  schema: runResultSchema,
  sample: runResult,
  open: ['interactions[].targetResult.attachments[]', 'interactions[].targetResult.error'],
  rules: rulesOf(
    [
      version,
      'schemaVersion interactions[].schemaVersion interactions[].targetResult.schemaVersion',
      'checkpoints[].schemaVersion',
    ],
    [unversioned(identity), 'identity'],
    [
      integer,
      'startedAtVirtualUs finishedAtVirtualUs interactions[].scheduledAtVirtualUs',
      'interactions[].startedAtVirtualUs interactions[].finishedAtVirtualUs',
      'checkpoints[].virtualTimeUs evidenceRange.fromSequence evidenceRange.toSequence',
    ],
    [
      anyValue,
      'bindingEvidence worldConsistency interactions[].bindingEvidence',
      'interactions[].targetResult.status checkpoints[].kind checkpoints[].verdict status',
      'verdict',
    ],
    [
      opaqueId,
      'interactions[].interactionId interactions[].actorId checkpoints[].checkpointId',
      'checkpoints[].interactionId?',
    ],
    [string, 'interactions[].task.instruction'],
    [json, 'interactions[].task.input? interactions[].targetResult.output?'],
    [list, 'interactions[].targetResult.attachments?'],
    [openObject, 'interactions[].targetResult.attachments[] interactions[].targetResult.error?'],
    [resource(assertionResult), 'checkpoints[].assertionResults[] assertionResults[]'],
    [
      count,
      'budgetUsage.toolCalls.limit budgetUsage.toolCalls.attempted',
      'budgetUsage.toolCalls.rejected budgetUsage.scheduledEvents.limit',
      'budgetUsage.scheduledEvents.processed',
    ],
    [boolean, 'budgetUsage.scheduledEvents.exhausted'],
    [digest, 'stateHash evidenceHash trajectoryHash'],
    [resource(setup), 'setup?'],
    [resource(capture), 'capture?'],
  ),
});

describeResource('assertion result', {
  schema: assertionResultSchema,
  sample: assertionResult,
  open: ['diff.details'],
  rules: rulesOf(
    [version, 'schemaVersion'],
    [opaqueId, 'assertionId'],
    [anyValue, 'kind status'],
    [boolean, 'gate diff.matched'],
    [string, 'message? location.subject location.namespace? location.rowId? diff.operator'],
    [json, 'expected? actual?'],
    [object, 'location? diff?'],
    [slug, 'location.packageId?'],
    [list, 'location.path? evidenceSequences?'],
    [pathStep, 'location.path[]'],
    [openObject, 'diff.details?'],
    [integer, 'evidenceSequences[]'],
  ),
});

describeResource('run setup', {
  schema: runSetupSchema,
  sample: setup,
  open: [
    'setup.tools.packages[]',
    'setup.tools.behaviorOverrides[]',
    'setup.bindings.environment',
    'setup.scenario.actors[]',
    'setup.scenario.state[]',
    'setup.scenario.faults[]',
    'setup.scenario.initialEvents[]',
    'setup.scenario.toolOverrides[].when.arguments',
  ],
  rules: rulesOf(
    [version, 'schemaVersion'],
    [slug, 'drillId setup.scenario.toolOverrides[].operation.packageId'],
    [
      openObject,
      'setup.tools.packages[] setup.tools.behaviorOverrides[] setup.bindings.environment',
      'setup.scenario.actors[] setup.scenario.state[] setup.scenario.faults[]',
      'setup.scenario.initialEvents[] setup.scenario.toolOverrides[].when.arguments?',
    ],
    [integer, 'setup.scenario.virtualTimeUs setup.scenario.toolOverrides[].times?'],
    [
      opaqueId,
      'setup.scenario.toolOverrides[].id',
      'setup.scenario.toolOverrides[].operation.operationId',
      'setup.scenario.toolOverrides[].when.actorId?',
    ],
    [anyValue, 'setup.scenario.toolOverrides[].outcome.kind'],
    [json, 'setup.scenario.toolOverrides[].outcome.value?'],
    [object, 'setup.scenario.toolOverrides[].when?'],
    [digest, 'setupHash'],
  ),
});

describeResource('run capture', {
  schema: runCaptureSchema,
  sample: capture,
  rules: rulesOf(
    [version, 'schemaVersion attachments[].attachment.schemaVersion'],
    [
      anyValue,
      'policies.logs policies.screenshots policies.video policies.files attachments[].kind',
      'attachments[].policy attachments[].attachment.redaction.status errors[].kind',
    ],
    [oneOf('file'), 'attachments[].attachment.kind'],
    [opaqueId, 'attachments[].attachment.id attachments[].interactionId? errors[].interactionId?'],
    [
      string,
      'attachments[].attachment.name attachments[].attachment.mediaType',
      'attachments[].attachment.redaction.note? errors[].message',
    ],
    [
      count,
      'attachments[].attachment.bytes discarded.logs discarded.screenshots discarded.video',
      'discarded.files',
    ],
    [digest, 'attachments[].attachment.hash'],
    [object, 'attachments[].attachment.redaction?'],
    [chars(1, 128), 'errors[].code'],
  ),
});
