import * as z from 'zod';
import { digestSchema, opaqueIdSchema, runIdSchema, seedSchema, slugSchema } from '../identifiers.ts';
import { assertionResultSchema, verdictSchema } from './run-assertion.ts';
import { runCaptureSchema } from './run-capture.ts';
import { runSetupSchema } from './run-setup.ts';
import {
  countSchema,
  integerSchema,
  openEnumeration,
  openObjectSchema,
  schemaVersionSchema,
  usSchema,
} from '../scalars.ts';

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
  scenarioId: slugSchema.optional(),
  setupHash: digestSchema.optional(),
});

/** What the target is asked to do; `input` is any JSON. */
export const taskSchema = z.strictObject({ instruction: z.string(), input: z.unknown().optional() });

const targetResultSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  status: openEnumeration(resultStatuses),
  attachments: z.array(openObjectSchema).optional(),
  output: z.unknown().optional(),
  error: openObjectSchema.optional(),
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
  interactionId: opaqueIdSchema.optional(),
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
  setup: runSetupSchema.optional(),
  capture: runCaptureSchema.optional(),
});

/**
 * The result of a run: its identity, outcome, assertions and checkpoints (control API, Hosted run, result). Virtual
 * times are microseconds.
 */
export type RunResult = z.infer<typeof runResultSchema>;
