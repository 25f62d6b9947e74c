import * as z from 'zod/mini';
import * as scalars from '../scalars.ts';

const operationIssueSchema = z.looseObject({
  code: scalars.textSchema(1, 128),
  message: scalars.textSchema(1, 2000),
  path: z.optional(z.array(z.union([z.string(), scalars.countSchema]))),
  suggestion: z.optional(scalars.textSchema(1, 4000)),
});

const operationErrorEvidenceSchema = z.looseObject({
  runId: z.optional(scalars.runIdSchema),
  sequence: z.optional(scalars.positiveIntegerSchema),
});

/** The error of failed asynchronous work (control API, Operation error object). Open: unknown members are kept. */
export const operationErrorSchema = z.looseObject({
  schemaVersion: scalars.schemaVersionSchema,
  code: scalars.codesIn('[a-z0-9-]+'),
  source: z.enum(['framework', 'world', 'tool', 'target', 'assertion', 'reporter', 'control']),
  message: scalars.textSchema(1, 4000),
  retryable: z.boolean(),
  correlationId: z.optional(scalars.correlationIdSchema),
  issues: z._default(z.array(operationIssueSchema), []),
  details: z.optional(scalars.openObjectSchema),
  evidence: z.optional(operationErrorEvidenceSchema),
});

export interface OperationError extends z.infer<typeof operationErrorSchema> {}

const resultMembers = {
  schemaVersion: scalars.schemaVersionSchema,
  operationId: scalars.operationIdSchema,
  sessionId: scalars.sessionIdSchema,
  leaseGeneration: scalars.positiveIntegerSchema,
  buildHash: scalars.digestSchema,
  correlationId: scalars.correlationIdSchema,
  evidenceBeforeSequence: scalars.integerSchema,
  evidenceAfterSequence: scalars.integerSchema,
};

/** Control API, Operation result kind world.time.advance. */
export const timeAdvanceResultSchema = z.strictObject({
  ...resultMembers,
  kind: z.literal('world.time.advance'),
  requestedUs: scalars.usSchema,
  startedUs: scalars.usSchema,
  reachedUs: scalars.usSchema,
  maxEvents: z.int().check(z.gte(0), z.lte(1_000_000)),
  scheduledEventsProcessed: scalars.integerSchema,
  status: z.enum(['completed', 'failed', 'interrupted']),
  eventBudgetExhausted: z.boolean(),
  failure: z.optional(
    z.strictObject({
      code: scalars.codesIn('control|framework|world').check(z.maxLength(128)),
      message: scalars.textSchema(1, 1000),
      scheduledEventId: z.optional(scalars.pendingEventIdSchema),
    }),
  ),
});

/** Control API, Operation result kind world.fault.set. */
export const faultSetResultSchema = z.strictObject({
  ...resultMembers,
  kind: z.literal('world.fault.set'),
  packageId: scalars.slugSchema,
  faultId: scalars.slugSchema,
  requestedActive: z.boolean(),
  virtualTimeUs: scalars.usSchema,
  status: z.enum(['completed', 'interrupted']),
  previouslyActive: z.boolean(),
  active: z.boolean(),
  changed: z.boolean(),
  failure: z.optional(
    z.strictObject({
      code: z.literal('control.FAULT_CONTROL_INTERRUPTED'),
      message: scalars.textSchema(1, 1000),
    }),
  ),
});

export const operationResultSchema = z.discriminatedUnion('kind', [
  timeAdvanceResultSchema,
  faultSetResultSchema,
]);

export const operationStates = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const;

const operationKindSchema = z.string().check(z.regex(/^[a-z0-9]+(?:\.[a-z][A-Za-z0-9_-]*)+$/));

export const operationResourceSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  operationId: scalars.operationIdSchema,
  organizationId: scalars.organizationIdSchema,
  projectId: z.optional(scalars.projectIdSchema),
  kind: operationKindSchema,
  state: z.enum(operationStates),
  resourceType: z.optional(scalars.textSchema(1, 80)),
  resourceId: z.optional(scalars.textSchema(1, 128)),
  error: z.optional(operationErrorSchema),
  result: z.optional(operationResultSchema),
  idempotencyKey: scalars.idempotencyKeySchema,
  requestHash: scalars.digestSchema,
  cancelRequestedAtMs: z.optional(scalars.msSchema),
  startedAtMs: z.optional(scalars.msSchema),
  finishedAtMs: z.optional(scalars.msSchema),
  createdAtMs: scalars.msSchema,
  updatedAtMs: scalars.msSchema,
});

/**
 * Work that takes time at a control plane, and its state (control API, Operation). Times are milliseconds since 1970.
 */
export interface OperationResource extends z.infer<typeof operationResourceSchema> {}
