import * as z from 'zod';
import { digestSchema, evidenceExportIdSchema } from '../../contract/index.ts';
import { codeSchema } from '../../verify/index.ts';

const count = z.int().min(0);

/** Which share of a whole a product is about. */
export const shardSchema = z
  .strictObject({
    index: count.describe('from 0 to count - 1'),
    count: z.int().min(1),
    list: digestSchema.exactOptional().describe('digest of the whole list that was cut'),
  })
  .check(({ value, issues }) => {
    if (value.index < value.count) return;
    issues.push({ code: 'custom', input: value.index, path: ['index'], message: 'there is no such shard' });
  });

/** What became of many exports that were to be mirrored: the product of `mirror --list` and `--all`. */
export const archiveSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('mirror.archive'),
  exports: count,
  complete: count,
  failed: count,
  untried: count,
  older: count.describe('exports left alone because they did not change since the time asked for'),
  left: z.record(z.string(), count).describe('exports that could not be mirrored, by their state'),
  mirrored: z.array(
    z.strictObject({ evidenceExportId: evidenceExportIdSchema, manifestDigest: digestSchema }),
  ),
  transfer: z
    .strictObject({
      files: count,
      fetched: count,
      resumed: count,
      linked: count,
      kept: count,
      bytes: count,
      transferredBytes: count,
      retries: count,
      transferMs: z.number().min(0),
    })
    .exactOptional(),
  failures: z
    .array(
      z.strictObject({
        evidenceExportId: evidenceExportIdSchema,
        code: codeSchema,
        message: z.string(),
        action: z.string().describe('what to do'),
        files: z.array(z.looseObject({ path: z.string(), code: codeSchema, message: z.string() })),
      }),
    )
    .describe('the first of them'),
  codes: z.array(codeSchema).describe('each code with which an export failed'),
  shard: shardSchema.exactOptional(),
  run: z
    .strictObject({ name: z.string(), workers: z.array(z.string()) })
    .exactOptional()
    .describe('of a queue: the work of all machines is told'),
});

export type ArchiveReport = z.infer<typeof archiveSchema>;
