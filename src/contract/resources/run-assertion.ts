import * as z from 'zod';
import { opaqueIdSchema, slugSchema } from '../identifiers.ts';
import {
  countSchema,
  integerSchema,
  openEnumeration,
  openObjectSchema,
  schemaVersionSchema,
} from '../scalars.ts';

export const verdicts = ['passed', 'failed', 'inconclusive'] as const;
export const assertionKinds = ['state', 'trajectory', 'output'] as const;
export const assertionStatuses = ['passed', 'failed', 'error'] as const;

export const verdictSchema = openEnumeration(verdicts);

const locationSchema = z.strictObject({
  subject: z.string(),
  packageId: slugSchema.optional(),
  namespace: z.string().optional(),
  path: z.array(z.union([z.string(), countSchema])).optional(),
  rowId: z.string().optional(),
});

const diffSchema = z.strictObject({
  operator: z.string(),
  matched: z.boolean(),
  details: openObjectSchema.optional(),
});

/** What one assertion found. `expected` and `actual` are any JSON (control API, Hosted run, assertionResults). */
export const assertionResultSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  assertionId: opaqueIdSchema,
  kind: openEnumeration(assertionKinds),
  status: openEnumeration(assertionStatuses),
  gate: z.boolean(),
  message: z.string().optional(),
  expected: z.unknown().optional(),
  actual: z.unknown().optional(),
  location: locationSchema.optional(),
  diff: diffSchema.optional(),
  evidenceSequences: z.array(integerSchema).optional(),
});

/** One assertion of a run and whether it passed (control API, Hosted run, result). */
export type AssertionResult = z.infer<typeof assertionResultSchema>;
