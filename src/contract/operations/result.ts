import * as z from 'zod';
import {
  correlationIdSchema,
  digestSchema,
  operationIdSchema,
  pendingEventIdSchema,
  sessionIdSchema,
  slugSchema,
} from '../identifiers.ts';
import {
  codeOf,
  integerSchema,
  positiveIntegerSchema,
  schemaVersionSchema,
  textSchema,
  usSchema,
} from '../scalars.ts';

const shared = {
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
  ...shared,
  kind: z.literal('world.time.advance'),
  requestedUs: usSchema,
  startedUs: usSchema,
  reachedUs: usSchema,
  maxEvents: z.int().min(0).max(1_000_000),
  scheduledEventsProcessed: integerSchema,
  status: z.enum(['completed', 'failed', 'interrupted']),
  eventBudgetExhausted: z.boolean(),
  failure: z
    .strictObject({
      code: codeOf('control|framework|world').max(128),
      message: textSchema(1, 1000),
      scheduledEventId: pendingEventIdSchema.optional(),
    })
    .optional(),
});

/** Control API, Operation result kind world.fault.set. */
export const faultSetResultSchema = z.strictObject({
  ...shared,
  kind: z.literal('world.fault.set'),
  packageId: slugSchema,
  faultId: slugSchema,
  requestedActive: z.boolean(),
  virtualTimeUs: usSchema,
  status: z.enum(['completed', 'interrupted']),
  previouslyActive: z.boolean(),
  active: z.boolean(),
  changed: z.boolean(),
  failure: z
    .strictObject({ code: z.literal('control.FAULT_CONTROL_INTERRUPTED'), message: textSchema(1, 1000) })
    .optional(),
});

export const operationResultSchema = z.discriminatedUnion('kind', [
  timeAdvanceResultSchema,
  faultSetResultSchema,
]);
