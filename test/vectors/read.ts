import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

/** The folder of the published files. */
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
        verdict: z.enum(['valid', 'invalid']),
        code: z.optional(z.string()),
        codes: z.optional(z.array(z.string())),
        warnings: z.optional(z.array(z.string())),
      }),
    }),
  ),
});
type VectorFile = z.infer<typeof fileSchema>;

export const readVectors = (kind: string): VectorFile =>
  fileSchema.parse(JSON.parse(readFileSync(`${FOLDER}/${kind}.json`, 'utf8')));

/** The codes that a case expects. */
export const listCodes = ({ expected }: VectorFile['cases'][number]): string[] => [
  ...(expected.code === undefined ? [] : [expected.code]),
  ...(expected.codes ?? []),
  ...(expected.warnings ?? []),
];
