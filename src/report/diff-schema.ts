import * as z from 'zod';

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** The product of `diff`. */
export const reportDiffSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('report-diff'),
  equal: z.boolean().describe('whether both say the same of the same evidence'),
  changes: z.array(
    z.strictObject({
      change: z.enum(['appeared', 'vanished', 'changed']),
      way: z
        .array(z.string())
        .describe('members, and for items of lists a JSON array of what they are about'),
      judgement: z.boolean().describe('false for times, wordings and what follows from the results'),
      before: value.exactOptional(),
      after: value.exactOptional(),
    }),
  ),
});
