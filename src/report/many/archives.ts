import * as z from 'zod/mini';
import {
  optionalMember,
  countSchema as count,
  digestSchema,
  evidenceExportIdSchema,
} from '../../contract/scalars.ts';
import { codeSchema } from '../../verify/report-schema.ts';

const transferSchema = z.strictObject({
  files: count,
  fetched: count,
  resumed: count,
  linked: count,
  kept: count,
  bytes: count,
  transferredBytes: count,
  retries: count,
  transferMs: z.number().check(z.gte(0)),
});

export const archiveSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('mirror.archive'),
  exports: count,
  complete: count,
  failed: count,
  untried: count,
  kept: count.check(z.describe('exports that the archive holds by its inventory, and that were not read')),
  unavailable: z
    .record(z.string(), count)
    .check(z.describe('exports that could not be mirrored, by their state')),
  mirrored: z.array(
    z.strictObject({ evidenceExportId: evidenceExportIdSchema, manifestDigest: digestSchema }),
  ),
  transfer: optionalMember(transferSchema),
  missing: optionalMember(
    z.strictObject({ exports: count, files: count, bytes: count }),
    'of a dry run: what is fetched',
  ),
  deletedAtSource: optionalMember(
    z.array(
      z.strictObject({
        evidenceExportId: evidenceExportIdSchema,
        mirror: z
          .enum(['kept', 'held', 'removed', 'absent'])
          .check(z.describe('what the archive has of it; held: a hold prevents its removal')),
        deletedAtSourceAtMs: optionalMember(count, 'when a run first saw it'),
      }),
    ),
    'the exports that the source has deleted',
  ),
  failures: z
    .array(
      z.strictObject({
        evidenceExportId: evidenceExportIdSchema,
        code: codeSchema,
        message: z.string(),
        action: z.string().check(z.describe('what to do')),
        files: z.array(z.looseObject({ path: z.string(), code: codeSchema, message: z.string() })),
      }),
    )
    .check(z.describe('the first of them')),
  codes: z.array(codeSchema).check(z.describe('each code with which an export failed')),
  run: optionalMember(
    z.strictObject({ name: z.string(), workers: z.array(z.string()) }),
    'of a queue: the work of all machines together',
  ),
});

export type ArchiveReport = z.infer<typeof archiveSchema>;

type Transfer = ArchiveReport['transfer'];

const MEASURES = z.keyof(transferSchema).options;

/** The sum of all transfers; their times are machine time and add up. */
export function sumTransfers(all: readonly Transfer[]): Pick<ArchiveReport, 'transfer'> {
  const transfers = all.filter((transfer) => transfer !== undefined);
  if (transfers.length === 0) return {};
  const sums = MEASURES.map((measure) => [
    measure,
    transfers.reduce((sum, transfer) => sum + transfer[measure], 0),
  ]);
  return { transfer: transferSchema.parse(Object.fromEntries(sums)) };
}
