import * as z from 'zod/mini';
import {
  digestSchema,
  environmentIdSchema,
  evidenceBundleIdSchema,
  hostedRunIdSchema,
  opaqueIdSchema,
  organizationIdSchema,
  projectIdSchema,
  runIdSchema,
  seedSchema,
  sessionIdSchema,
  slugSchema,
} from '../identifiers.ts';
import { operationErrorSchema } from './operation.ts';
import {
  countSchema,
  integerSchema,
  msSchema,
  openEnumeration,
  openObjectSchema,
  schemaVersionSchema,
  textSchema,
  usSchema,
} from '../scalars.ts';

export const verdicts = ['passed', 'failed', 'inconclusive'] as const;
export const assertionKinds = ['state', 'trajectory', 'output'] as const;
export const assertionStatuses = ['passed', 'failed', 'error'] as const;

export const verdictSchema = openEnumeration(verdicts);

const assertionLocationSchema = z.strictObject({
  subject: z.string(),
  packageId: z.optional(slugSchema),
  namespace: z.optional(z.string()),
  path: z.optional(z.array(z.union([z.string(), countSchema]))),
  rowId: z.optional(z.string()),
});

const assertionDiffSchema = z.strictObject({
  operator: z.string(),
  matched: z.boolean(),
  details: z.optional(openObjectSchema),
});

/** What one assertion found. `expected` and `actual` are any JSON (control API, Hosted run, assertionResults). */
export const assertionResultSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  assertionId: opaqueIdSchema,
  kind: openEnumeration(assertionKinds),
  status: openEnumeration(assertionStatuses),
  gate: z.boolean(),
  message: z.optional(z.string()),
  expected: z.optional(z.unknown()),
  actual: z.optional(z.unknown()),
  location: z.optional(assertionLocationSchema),
  diff: z.optional(assertionDiffSchema),
  evidenceSequences: z.optional(z.array(integerSchema)),
});

/** One assertion of a run and whether it passed (control API, Hosted run, result). */
export type AssertionResult = z.infer<typeof assertionResultSchema>;

export const capturePolicies = ['never', 'on_failure', 'always'] as const;
export const captureKinds = ['log', 'screenshot', 'video', 'file'] as const;

const capturePolicySchema = openEnumeration(capturePolicies);
const captureKindSchema = openEnumeration(captureKinds);

const attachmentSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  kind: z.literal('file'),
  id: opaqueIdSchema,
  name: z.string(),
  mediaType: z.string(),
  bytes: countSchema,
  hash: digestSchema,
  redaction: z.optional(z.strictObject({ status: textSchema(1, 64), note: z.optional(z.string()) })),
});

const capturedSchema = z.strictObject({
  kind: captureKindSchema,
  policy: capturePolicySchema,
  attachment: attachmentSchema,
  interactionId: z.optional(opaqueIdSchema),
});

const captureErrorSchema = z.strictObject({
  code: textSchema(1, 128),
  message: z.string(),
  kind: captureKindSchema,
  interactionId: z.optional(opaqueIdSchema),
});

/** What was recorded of a run, and what was not (control API, Hosted run, capture). */
export const runCaptureSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  policies: z.strictObject({
    logs: capturePolicySchema,
    screenshots: capturePolicySchema,
    video: capturePolicySchema,
    files: capturePolicySchema,
  }),
  attachments: z.array(capturedSchema),
  errors: z.array(captureErrorSchema),
  discarded: z.strictObject({
    logs: countSchema,
    screenshots: countSchema,
    video: countSchema,
    files: countSchema,
  }),
});

const openObjectsSchema = z.array(openObjectSchema);

const toolOverrideSchema = z.strictObject({
  id: opaqueIdSchema,
  operation: z.strictObject({ packageId: slugSchema, operationId: opaqueIdSchema }),
  outcome: z.strictObject({ kind: textSchema(1, 64), value: z.optional(z.unknown()) }),
  when: z.optional(
    z.strictObject({ arguments: z.optional(openObjectSchema), actorId: z.optional(opaqueIdSchema) }),
  ),
  times: z.optional(integerSchema),
});

const setupScenarioSchema = z.strictObject({
  actors: openObjectsSchema,
  state: openObjectsSchema,
  faults: openObjectsSchema,
  initialEvents: openObjectsSchema,
  virtualTimeUs: usSchema,
  toolOverrides: z.array(toolOverrideSchema),
});

/** The world when the run began (control API, Hosted run, setup). */
export const runSetupSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  drillId: slugSchema,
  setup: z.strictObject({
    tools: z.strictObject({ packages: openObjectsSchema, behaviorOverrides: openObjectsSchema }),
    bindings: z.strictObject({ environment: openObjectSchema }),
    scenario: setupScenarioSchema,
  }),
  setupHash: digestSchema,
});

export const resultStatuses = ['completed', 'failed'] as const;
export const bindingEvidenceValues = ['complete', 'partial'] as const;
export const worldConsistencyValues = ['consistent', 'inconsistent'] as const;
export const checkpointKinds = ['interaction', 'final'] as const;

const bindingEvidenceSchema = openEnumeration(bindingEvidenceValues);

/** Which run this is, and of what (control API, Hosted run, identity). */
export const runIdentitySchema = z.strictObject({
  runId: runIdSchema,
  worldInstanceId: opaqueIdSchema,
  drillId: slugSchema,
  targetId: opaqueIdSchema,
  buildHash: digestSchema,
  packageLockHash: digestSchema,
  seed: seedSchema,
  trial: integerSchema,
  trialCount: integerSchema,
  attempt: integerSchema,
  attemptLimit: integerSchema,
  scenarioId: z.optional(slugSchema),
  setupHash: z.optional(digestSchema),
});

/** What the target is asked to do; `input` is any JSON. */
export const taskSchema = z.strictObject({ instruction: z.string(), input: z.optional(z.unknown()) });

const targetResultSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  status: openEnumeration(resultStatuses),
  attachments: z.optional(z.array(openObjectSchema)),
  output: z.optional(z.unknown()),
  error: z.optional(openObjectSchema),
});

const interactionResultSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  interactionId: opaqueIdSchema,
  actorId: opaqueIdSchema,
  task: taskSchema,
  scheduledAtVirtualUs: usSchema,
  startedAtVirtualUs: usSchema,
  finishedAtVirtualUs: usSchema,
  bindingEvidence: bindingEvidenceSchema,
  targetResult: targetResultSchema,
});

const checkpointSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  checkpointId: opaqueIdSchema,
  kind: openEnumeration(checkpointKinds),
  virtualTimeUs: usSchema,
  verdict: verdictSchema,
  assertionResults: z.array(assertionResultSchema),
  interactionId: z.optional(opaqueIdSchema),
});

const budgetUsageSchema = z.strictObject({
  toolCalls: z.strictObject({ limit: countSchema, attempted: countSchema, rejected: countSchema }),
  scheduledEvents: z.strictObject({ limit: countSchema, processed: countSchema, exhausted: z.boolean() }),
});

/** What a run came to; the object of role `run-result` in its evidence bundle (control API, Hosted run, result). */
export const runResultSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  identity: runIdentitySchema,
  startedAtVirtualUs: usSchema,
  finishedAtVirtualUs: usSchema,
  bindingEvidence: bindingEvidenceSchema,
  worldConsistency: openEnumeration(worldConsistencyValues),
  interactions: z.array(interactionResultSchema),
  checkpoints: z.array(checkpointSchema),
  budgetUsage: budgetUsageSchema,
  status: openEnumeration(resultStatuses),
  verdict: verdictSchema,
  assertionResults: z.array(assertionResultSchema),
  evidenceRange: z.strictObject({ fromSequence: integerSchema, toSequence: integerSchema }),
  stateHash: digestSchema,
  evidenceHash: digestSchema,
  trajectoryHash: digestSchema,
  setup: z.optional(runSetupSchema),
  capture: z.optional(runCaptureSchema),
});

/**
 * The result of a run: its identity, outcome, assertions and checkpoints (control API, Hosted run, result). Virtual
 * times are microseconds.
 */
export type RunResult = z.infer<typeof runResultSchema>;

export const hostedRunStates = ['created', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const;
/** The states in which a run has ended and can be rerun. */
export const terminalRunStates = ['succeeded', 'failed', 'cancelled', 'expired'] as const;
export const terminationOutcomes = ['completed', 'failed', 'cancelled', 'timed_out'] as const;

const runRequestSchema = z.strictObject({
  runId: runIdSchema,
  drillId: slugSchema,
  seed: seedSchema,
  trial: integerSchema,
  trialCount: integerSchema,
  attempt: integerSchema,
  attemptLimit: integerSchema,
});

const terminationSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  outcome: openEnumeration(terminationOutcomes),
  reason: z.optional(z.string()),
  requestedAtMs: z.optional(msSchema),
});

const pendingInteractionSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  interaction: z.strictObject({
    id: opaqueIdSchema,
    afterStartUs: usSchema,
    actorId: opaqueIdSchema,
    task: taskSchema,
  }),
  scheduledAtVirtualUs: usSchema,
  startedAtVirtualUs: usSchema,
  toolCallsAtStart: countSchema,
});

/** One run of a drill on the control plane (control API, Hosted run). */
export const hostedRunSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  hostedRunId: hostedRunIdSchema,
  evidenceBundleId: evidenceBundleIdSchema,
  organizationId: organizationIdSchema,
  projectId: projectIdSchema,
  environmentId: environmentIdSchema,
  sessionId: sessionIdSchema,
  buildHash: digestSchema,
  request: runRequestSchema,
  leaseGeneration: integerSchema,
  revision: integerSchema,
  state: openEnumeration(hostedRunStates),
  deadlineAtMs: msSchema,
  evidenceRetentionMs: integerSchema,
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
  rerunOfHostedRunId: z.optional(hostedRunIdSchema),
  identity: z.optional(runIdentitySchema),
  termination: z.optional(terminationSchema),
  pendingInteraction: z.optional(pendingInteractionSchema),
  result: z.optional(runResultSchema),
  failure: z.optional(operationErrorSchema),
  finishedAtMs: z.optional(msSchema),
});

/**
 * One execution of a drill at a control plane (control API, Hosted run). Members that end in `AtMs` are milliseconds
 * since 1970.
 */
export type HostedRun = z.infer<typeof hostedRunSchema>;
