import * as z from 'zod/mini';
import { operationErrorSchema } from './operation.ts';
import * as scalars from '../scalars.ts';

export const verdicts = ['passed', 'failed', 'inconclusive'] as const;
const verdictSchema = scalars.openEnumeration(verdicts);

const assertionLocationSchema = z.strictObject({
  subject: z.string(),
  packageId: z.optional(scalars.slugSchema),
  namespace: z.optional(z.string()),
  path: z.optional(z.array(z.union([z.string(), scalars.countSchema]))),
  rowId: z.optional(z.string()),
});

const assertionDiffSchema = z.strictObject({
  operator: z.string(),
  matched: z.boolean(),
  details: z.optional(scalars.openObjectSchema),
});

/** The result of one assertion. `expected` and `actual` are any JSON (control API, Hosted run, assertionResults). */
export const assertionResultSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  assertionId: scalars.opaqueIdSchema,
  kind: scalars.openEnumeration(['state', 'trajectory', 'output']),
  status: scalars.openEnumeration(['passed', 'failed', 'error']),
  gate: z.boolean(),
  message: z.optional(z.string()),
  expected: z.optional(z.unknown()),
  actual: z.optional(z.unknown()),
  location: z.optional(assertionLocationSchema),
  diff: z.optional(assertionDiffSchema),
  evidenceSequences: z.optional(z.array(scalars.integerSchema)),
});

/** One assertion of a run and whether it passed (control API, Hosted run, result). */
export type AssertionResult = z.infer<typeof assertionResultSchema>;

const capturePolicySchema = scalars.openEnumeration(['never', 'on_failure', 'always']);
const captureKindSchema = scalars.openEnumeration(['log', 'screenshot', 'video', 'file']);

const attachmentSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  kind: z.literal('file'),
  id: scalars.opaqueIdSchema,
  name: z.string(),
  mediaType: z.string(),
  bytes: scalars.countSchema,
  hash: scalars.digestSchema,
  redaction: z.optional(z.strictObject({ status: scalars.textSchema(1, 64), note: z.optional(z.string()) })),
});

const capturedSchema = z.strictObject({
  kind: captureKindSchema,
  policy: capturePolicySchema,
  attachment: attachmentSchema,
  interactionId: z.optional(scalars.opaqueIdSchema),
});

const captureErrorSchema = z.strictObject({
  code: scalars.textSchema(1, 128),
  message: z.string(),
  kind: captureKindSchema,
  interactionId: z.optional(scalars.opaqueIdSchema),
});

/** The recordings of a run, and those that failed (control API, Hosted run, capture). */
export const runCaptureSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  policies: z.strictObject({
    logs: capturePolicySchema,
    screenshots: capturePolicySchema,
    video: capturePolicySchema,
    files: capturePolicySchema,
  }),
  attachments: z.array(capturedSchema),
  errors: z.array(captureErrorSchema),
  discarded: z.strictObject({
    logs: scalars.countSchema,
    screenshots: scalars.countSchema,
    video: scalars.countSchema,
    files: scalars.countSchema,
  }),
});

const openObjectsSchema = z.array(scalars.openObjectSchema);

const toolOverrideSchema = z.strictObject({
  id: scalars.opaqueIdSchema,
  operation: z.strictObject({ packageId: scalars.slugSchema, operationId: scalars.opaqueIdSchema }),
  outcome: z.strictObject({ kind: scalars.textSchema(1, 64), value: z.optional(z.unknown()) }),
  when: z.optional(
    z.strictObject({
      arguments: z.optional(scalars.openObjectSchema),
      actorId: z.optional(scalars.opaqueIdSchema),
    }),
  ),
  times: z.optional(scalars.integerSchema),
});

const setupScenarioSchema = z.strictObject({
  actors: openObjectsSchema,
  state: openObjectsSchema,
  faults: openObjectsSchema,
  initialEvents: openObjectsSchema,
  virtualTimeUs: scalars.usSchema,
  toolOverrides: z.array(toolOverrideSchema),
});

/** The world when the run began (control API, Hosted run, setup). */
export const runSetupSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  drillId: scalars.slugSchema,
  setup: z.strictObject({
    tools: z.strictObject({ packages: openObjectsSchema, behaviorOverrides: openObjectsSchema }),
    bindings: z.strictObject({ environment: scalars.openObjectSchema }),
    scenario: setupScenarioSchema,
  }),
  setupHash: scalars.digestSchema,
});

const resultStatuses = ['completed', 'failed'] as const;
const bindingEvidenceSchema = scalars.openEnumeration(['complete', 'partial']);

export const runIdentitySchema = z.strictObject({
  runId: scalars.runIdSchema,
  worldInstanceId: scalars.opaqueIdSchema,
  drillId: scalars.slugSchema,
  targetId: scalars.opaqueIdSchema,
  buildHash: scalars.digestSchema,
  packageLockHash: scalars.digestSchema,
  seed: scalars.seedSchema,
  trial: scalars.integerSchema,
  trialCount: scalars.integerSchema,
  attempt: scalars.integerSchema,
  attemptLimit: scalars.integerSchema,
  scenarioId: z.optional(scalars.slugSchema),
  setupHash: z.optional(scalars.digestSchema),
});

const taskSchema = z.strictObject({ instruction: z.string(), input: z.optional(z.unknown()) });

const targetResultSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  status: scalars.openEnumeration(resultStatuses),
  attachments: z.optional(z.array(scalars.openObjectSchema)),
  output: z.optional(z.unknown()),
  error: z.optional(scalars.openObjectSchema),
});

const interactionResultSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  interactionId: scalars.opaqueIdSchema,
  actorId: scalars.opaqueIdSchema,
  task: taskSchema,
  scheduledAtVirtualUs: scalars.usSchema,
  startedAtVirtualUs: scalars.usSchema,
  finishedAtVirtualUs: scalars.usSchema,
  bindingEvidence: bindingEvidenceSchema,
  targetResult: targetResultSchema,
});

const checkpointSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  checkpointId: scalars.opaqueIdSchema,
  kind: scalars.openEnumeration(['interaction', 'final']),
  virtualTimeUs: scalars.usSchema,
  verdict: verdictSchema,
  assertionResults: z.array(assertionResultSchema),
  interactionId: z.optional(scalars.opaqueIdSchema),
});

const budgetUsageSchema = z.strictObject({
  toolCalls: z.strictObject({
    limit: scalars.countSchema,
    attempted: scalars.countSchema,
    rejected: scalars.countSchema,
  }),
  scheduledEvents: z.strictObject({
    limit: scalars.countSchema,
    processed: scalars.countSchema,
    exhausted: z.boolean(),
  }),
});

/** The result of a run, which is the object of role `run-result` in its evidence bundle (control API, Hosted run, result). */
export const runResultSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  identity: runIdentitySchema,
  startedAtVirtualUs: scalars.usSchema,
  finishedAtVirtualUs: scalars.usSchema,
  bindingEvidence: bindingEvidenceSchema,
  worldConsistency: scalars.openEnumeration(['consistent', 'inconsistent']),
  interactions: z.array(interactionResultSchema),
  checkpoints: z.array(checkpointSchema),
  budgetUsage: budgetUsageSchema,
  status: scalars.openEnumeration(resultStatuses),
  verdict: verdictSchema,
  assertionResults: z.array(assertionResultSchema),
  evidenceRange: z.strictObject({ fromSequence: scalars.integerSchema, toSequence: scalars.integerSchema }),
  stateHash: scalars.digestSchema,
  evidenceHash: scalars.digestSchema,
  trajectoryHash: scalars.digestSchema,
  setup: z.optional(runSetupSchema),
  capture: z.optional(runCaptureSchema),
});

/**
 * The result of a run: its identity, outcome, assertions and checkpoints (control API, Hosted run, result). Virtual
 * times are microseconds.
 */
export interface RunResult extends z.infer<typeof runResultSchema> {}

export const hostedRunStates = ['created', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const;
/** The states in which a run has ended and can be rerun. */
export const terminalRunStates = ['succeeded', 'failed', 'cancelled', 'expired'] as const;
const runRequestSchema = z.strictObject({
  runId: scalars.runIdSchema,
  drillId: scalars.slugSchema,
  seed: scalars.seedSchema,
  trial: scalars.integerSchema,
  trialCount: scalars.integerSchema,
  attempt: scalars.integerSchema,
  attemptLimit: scalars.integerSchema,
});

const terminationSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  outcome: scalars.openEnumeration(['completed', 'failed', 'cancelled', 'timed_out']),
  reason: z.optional(z.string()),
  requestedAtMs: z.optional(scalars.msSchema),
});

const pendingInteractionSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  interaction: z.strictObject({
    id: scalars.opaqueIdSchema,
    afterStartUs: scalars.usSchema,
    actorId: scalars.opaqueIdSchema,
    task: taskSchema,
  }),
  scheduledAtVirtualUs: scalars.usSchema,
  startedAtVirtualUs: scalars.usSchema,
  toolCallsAtStart: scalars.countSchema,
});

/** One run of a drill on the control plane (control API, Hosted run). */
export const hostedRunSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  hostedRunId: scalars.hostedRunIdSchema,
  evidenceBundleId: scalars.evidenceBundleIdSchema,
  organizationId: scalars.organizationIdSchema,
  projectId: scalars.projectIdSchema,
  environmentId: scalars.environmentIdSchema,
  sessionId: scalars.sessionIdSchema,
  buildHash: scalars.digestSchema,
  request: runRequestSchema,
  leaseGeneration: scalars.integerSchema,
  revision: scalars.integerSchema,
  state: scalars.openEnumeration(hostedRunStates),
  deadlineAtMs: scalars.msSchema,
  evidenceRetentionMs: scalars.integerSchema,
  createdAtMs: scalars.msSchema,
  updatedAtMs: scalars.msSchema,
  rerunOfHostedRunId: z.optional(scalars.hostedRunIdSchema),
  identity: z.optional(runIdentitySchema),
  termination: z.optional(terminationSchema),
  pendingInteraction: z.optional(pendingInteractionSchema),
  result: z.optional(runResultSchema),
  failure: z.optional(operationErrorSchema),
  finishedAtMs: z.optional(scalars.msSchema),
});

/**
 * One execution of a drill at a control plane (control API, Hosted run). Members that end in `AtMs` are milliseconds
 * since 1970.
 */
export interface HostedRun extends z.infer<typeof hostedRunSchema> {}
