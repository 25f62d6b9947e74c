import * as z from 'zod';
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
import { operationErrorSchema } from '../operations/error.ts';
import { runIdentitySchema, runResultSchema, taskSchema } from './run-result.ts';
import {
  countSchema,
  integerSchema,
  msSchema,
  openEnumeration,
  schemaVersionSchema,
  usSchema,
} from '../scalars.ts';

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
  reason: z.string().optional(),
  requestedAtMs: msSchema.optional(),
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
  evidenceRetentionMs: countSchema,
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
  rerunOfHostedRunId: hostedRunIdSchema.optional(),
  identity: runIdentitySchema.optional(),
  termination: terminationSchema.optional(),
  pendingInteraction: pendingInteractionSchema.optional(),
  result: runResultSchema.optional(),
  failure: operationErrorSchema.optional(),
  finishedAtMs: msSchema.optional(),
});

/**
 * One execution of a drill at a control plane (control API, Hosted run). Members that end in `AtMs` are milliseconds
 * since 1970.
 */
export type HostedRun = z.infer<typeof hostedRunSchema>;
