import * as z from 'zod';
import { correlationIdSchema, runIdSchema } from '../identifiers.ts';
import {
  codeOf,
  countSchema,
  openObjectSchema,
  positiveIntegerSchema,
  schemaVersionSchema,
  textSchema,
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
  path: z.array(z.union([z.string(), countSchema])).optional(),
  suggestion: textSchema(1, 4000).optional(),
});

const operationErrorEvidenceSchema = z.looseObject({
  runId: runIdSchema.optional(),
  sequence: positiveIntegerSchema.optional(),
});

/** Why asynchronous work failed (control API, Operation error object). Open: unknown members are kept. */
export const operationErrorSchema = z.looseObject({
  schemaVersion: schemaVersionSchema,
  code: codeOf('[a-z0-9-]+'),
  source: z.enum(operationErrorSources),
  message: textSchema(1, 4000),
  retryable: z.boolean(),
  correlationId: correlationIdSchema.optional(),
  issues: z.array(operationIssueSchema).default([]),
  details: openObjectSchema.optional(),
  evidence: operationErrorEvidenceSchema.optional(),
});

export type OperationError = z.infer<typeof operationErrorSchema>;
