import * as z from 'zod/mini';
import { countSchema as count } from '../../contract/scalars.ts';
import { SEVERITIES } from '../../codes/entry.ts';
import { codeSchema } from '../../verify/report-schema.ts';

/** `unread` if no fault was found but the time ended; `good` if all files were read, now or recently enough. */
const outcome = z.literal(['good', 'damaged', 'unreadable', 'unread']);
const outcomes = z.strictObject({ good: count, damaged: count, unreadable: count, unread: count });
/** Files of a mirror, and their bytes: those read now, those read recently, and those that are due and were not read. */
const numbers = {
  files: count,
  read: count,
  readBytes: count,
  recent: count,
  unread: count,
  unreadBytes: count,
};

const scrubbedSchema = z.strictObject({
  name: z.string(),
  evidenceExportId: z.exactOptional(z.string()),
  manifestDigest: z.exactOptional(z.string()),
  outcome,
  ...numbers,
});

const faultSchema = z.strictObject({
  path: z.string(),
  /** An `unreadable` file could be right or wrong. */
  found: z.literal(['damaged', 'missing', 'unreadable', 'extra']),
  code: codeSchema,
  message: z.string(),
  /** The digest or value that it should have, if one is known. */
  expected: z.exactOptional(z.string()),
  /** If exactly this was acknowledged. It then fails nothing. */
  acknowledged: z.exactOptional(
    z
      .strictObject({ by: z.string(), reason: z.string(), atMs: count })
      .check(z.describe('who accepted exactly this damage')),
  ),
  /** The result of a repair; absent if none was requested. */
  repair: z.exactOptional(
    z.union([z.literal('repaired'), z.strictObject({ code: codeSchema, message: z.string() })]),
  ),
});

export type ScrubFault = z.infer<typeof faultSchema>;

export const mirrorScrubSchema = z.extend(scrubbedSchema, { faults: z.readonly(z.array(faultSchema)) });
/** The result of the scrub of one mirror. */
export type MirrorScrub = z.infer<typeof mirrorScrubSchema>;

/** The product of `drillproof scrub`. */
export const scrubSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('scrub'),
  place: z.string(),
  outcome,
  mirrors: count,
  outcomes,
  ...numbers,
  results: z.array(scrubbedSchema),
  faults: z
    .array(z.extend(faultSchema, { mirror: z.string(), severity: z.enum(SEVERITIES), action: z.string() }))
    .check(z.describe('the first of them')),
  moreFaults: count,
  knownFaults: count.check(z.describe('faults that were acknowledged, which fail nothing')),
  strays: z.array(z.string()),
  inventory: z.exactOptional(
    z
      .strictObject({ number: count, head: z.exactOptional(z.string()) })
      .check(z.describe('its last line; a signature of this report pins it')),
  ),
  run: z.exactOptional(z.strictObject({ name: z.string(), workers: z.array(z.string()) })),
});
export type ScrubReport = z.infer<typeof scrubSchema>;
