import * as z from 'zod';
import {
  digestSchema,
  idempotencyKeySchema,
  operationIdSchema,
  organizationIdSchema,
  projectIdSchema,
} from '../identifiers.ts';
import { operationErrorSchema } from './error.ts';
import { operationResultSchema } from './result.ts';
import { msSchema, schemaVersionSchema, textSchema } from '../scalars.ts';

export const operationStates = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const;

const operationKindSchema = z.string().regex(/^[a-z0-9]+(?:\.[a-z][A-Za-z0-9_-]*)+$/);

/** Long-running work and what became of it (control API, Operation). */
export const operationResourceSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  operationId: operationIdSchema,
  organizationId: organizationIdSchema,
  projectId: projectIdSchema.optional(),
  kind: operationKindSchema,
  state: z.enum(operationStates),
  resourceType: textSchema(1, 80).optional(),
  resourceId: textSchema(1, 128).optional(),
  error: operationErrorSchema.optional(),
  result: operationResultSchema.optional(),
  idempotencyKey: idempotencyKeySchema,
  requestHash: digestSchema,
  cancelRequestedAtMs: msSchema.optional(),
  startedAtMs: msSchema.optional(),
  finishedAtMs: msSchema.optional(),
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
});

/**
 * Work that takes time at a control plane, and its state (control API, Operation). Times are milliseconds since 1970.
 */
export type OperationResource = z.infer<typeof operationResourceSchema>;
