import * as z from 'zod/mini';
import {
  correlationIdSchema,
  digestSchema,
  idempotencyKeySchema,
  operationIdSchema,
  organizationIdSchema,
  pendingEventIdSchema,
  projectIdSchema,
  runIdSchema,
  sessionIdSchema,
  slugSchema,
} from '../identifiers.ts';
import {
  codeSchema,
  countSchema,
  integerSchema,
  msSchema,
  openObjectSchema,
  positiveIntegerSchema,
  schemaVersionSchema,
  textSchema,
  usSchema,
} from '../scalars.ts';

export const operationErrorSources = [
  'framework',
  'world',
  'tool',
  'target',
  'assertion',
  'reporter',
  'control',
] as const;

const operationIssueSchema = z.looseObject({
  code: textSchema(1, 128),
  message: textSchema(1, 2000),
  path: z.optional(z.array(z.union([z.string(), countSchema]))),
  suggestion: z.optional(textSchema(1, 4000)),
});

const operationErrorEvidenceSchema = z.looseObject({
  runId: z.optional(runIdSchema),
  sequence: z.optional(positiveIntegerSchema),
});

/** Why asynchronous work failed (control API, Operation error object). Open: unknown members are kept. */
export const operationErrorSchema = z.looseObject({
  schemaVersion: schemaVersionSchema,
  code: codeSchema('[a-z0-9-]+'),
  source: z.enum(operationErrorSources),
  message: textSchema(1, 4000),
  retryable: z.boolean(),
  correlationId: z.optional(correlationIdSchema),
  issues: z._default(z.array(operationIssueSchema), []),
  details: z.optional(openObjectSchema),
  evidence: z.optional(operationErrorEvidenceSchema),
});

export type OperationError = z.infer<typeof operationErrorSchema>;

const resultMembers = {
  schemaVersion: schemaVersionSchema,
  operationId: operationIdSchema,
  sessionId: sessionIdSchema,
  leaseGeneration: positiveIntegerSchema,
  buildHash: digestSchema,
  correlationId: correlationIdSchema,
  evidenceBeforeSequence: integerSchema,
  evidenceAfterSequence: integerSchema,
};

/** Control API, Operation result kind world.time.advance. */
export const timeAdvanceResultSchema = z.strictObject({
  ...resultMembers,
  kind: z.literal('world.time.advance'),
  requestedUs: usSchema,
  startedUs: usSchema,
  reachedUs: usSchema,
  maxEvents: z.int().check(z.gte(0), z.lte(1_000_000)),
  scheduledEventsProcessed: integerSchema,
  status: z.enum(['completed', 'failed', 'interrupted']),
  eventBudgetExhausted: z.boolean(),
  failure: z.optional(
    z.strictObject({
      code: codeSchema('control|framework|world').check(z.maxLength(128)),
      message: textSchema(1, 1000),
      scheduledEventId: z.optional(pendingEventIdSchema),
    }),
  ),
});

/** Control API, Operation result kind world.fault.set. */
export const faultSetResultSchema = z.strictObject({
  ...resultMembers,
  kind: z.literal('world.fault.set'),
  packageId: slugSchema,
  faultId: slugSchema,
  requestedActive: z.boolean(),
  virtualTimeUs: usSchema,
  status: z.enum(['completed', 'interrupted']),
  previouslyActive: z.boolean(),
  active: z.boolean(),
  changed: z.boolean(),
  failure: z.optional(
    z.strictObject({ code: z.literal('control.FAULT_CONTROL_INTERRUPTED'), message: textSchema(1, 1000) }),
  ),
});

export const operationResultSchema = z.discriminatedUnion('kind', [
  timeAdvanceResultSchema,
  faultSetResultSchema,
]);

export const operationStates = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const;

const operationKindSchema = z.string().check(z.regex(/^[a-z0-9]+(?:\.[a-z][A-Za-z0-9_-]*)+$/));

/** Long-running work and what became of it (control API, Operation). */
export const operationResourceSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  operationId: operationIdSchema,
  organizationId: organizationIdSchema,
  projectId: z.optional(projectIdSchema),
  kind: operationKindSchema,
  state: z.enum(operationStates),
  resourceType: z.optional(textSchema(1, 80)),
  resourceId: z.optional(textSchema(1, 128)),
  error: z.optional(operationErrorSchema),
  result: z.optional(operationResultSchema),
  idempotencyKey: idempotencyKeySchema,
  requestHash: digestSchema,
  cancelRequestedAtMs: z.optional(msSchema),
  startedAtMs: z.optional(msSchema),
  finishedAtMs: z.optional(msSchema),
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
});

/**
 * Work that takes time at a control plane, and its state (control API, Operation). Times are milliseconds since 1970.
 */
export type OperationResource = z.infer<typeof operationResourceSchema>;
