import * as z from 'zod';
import { codeSchema } from '../../verify/index.ts';
import { shardSchema } from './archive-schema.ts';

const count = z.int().min(0);
const outcome = z.literal(['good', 'damaged', 'unreadable', 'unread']);
const outcomes = z.strictObject({ good: count, damaged: count, unreadable: count, unread: count });
const numbers = { files: count, read: count, readBytes: count, young: count, left: count, leftBytes: count };

/** What a scrub says of one mirror, without its faults. */
const scrubbedSchema = z.strictObject({
  name: z.string(),
  evidenceExportId: z.string().exactOptional(),
  manifestDigest: z.string().exactOptional(),
  outcome,
  ...numbers,
});

const faultSchema = z.strictObject({
  path: z.string(),
  found: z.literal(['damaged', 'missing', 'unreadable', 'extra']),
  code: codeSchema,
  message: z.string(),
  repair: z
    .union([z.literal('repaired'), z.strictObject({ code: codeSchema, message: z.string() })])
    .exactOptional(),
});

/** One mirror with its faults, as the workers of a queue tell it to each other. */
export const mirrorScrubSchema = scrubbedSchema.extend({ faults: z.array(faultSchema) });

/** What a scrub found, mirror by mirror: the product of `drillproof scrub`. */
export const scrubSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('scrub'),
  place: z.string(),
  outcome,
  mirrors: count,
  outcomes,
  ...numbers,
  results: z.array(scrubbedSchema),
  faults: z.array(faultSchema.extend({ mirror: z.string() })).describe('the first of them'),
  moreFaults: count,
  strays: z.array(z.string()),
  shard: shardSchema.exactOptional(),
  run: z.strictObject({ name: z.string(), workers: z.array(z.string()) }).exactOptional(),
});
export type ScrubReport = z.infer<typeof scrubSchema>;
