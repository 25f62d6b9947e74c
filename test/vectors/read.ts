import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

/** Where the published files lie. */
export const FOLDER = 'vectors';

const fileSchema = z.object({
  kind: z.string(),
  numberOfCases: z.int(),
  flags: z.record(z.string(), z.string()),
  cases: z.array(
    z.object({
      id: z.string(),
      comment: z.string(),
      flags: z.array(z.string()),
      input: z.unknown(),
      expected: z.looseObject({
        verdict: z.string(),
        code: z.optional(z.string()),
        codes: z.optional(z.array(z.string())),
        warnings: z.optional(z.array(z.string())),
      }),
    }),
  ),
});
export type VectorFile = z.infer<typeof fileSchema>;

export const readVectors = (kind: string): VectorFile =>
  fileSchema.parse(JSON.parse(readFileSync(`${FOLDER}/${kind}.json`, 'utf8')));

/** A verdict that the harness does not know must not pass for one that it has checked. */
export function assertKnownVerdict(verdict: string): void {
  if (verdict !== 'valid' && verdict !== 'invalid') throw new TypeError(`unknown verdict ${verdict}`);
}
