import * as z from 'zod/mini';
import { allow, countSchema as count, digestSchema, evidenceExportIdSchema } from '../../contract/scalars.ts';
import { codeSchema } from '../../verify/report.ts';
import { type Named, shardSchema, sumOf, unite, unitsOf } from './shard.ts';

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
  older: count.check(z.describe('exports left alone because they did not change since the time asked for')),
  left: z.record(z.string(), count).check(z.describe('exports that could not be mirrored, by their state')),
  mirrored: z.array(
    z.strictObject({ evidenceExportId: evidenceExportIdSchema, manifestDigest: digestSchema }),
  ),
  transfer: allow(transferSchema),
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
  shard: allow(shardSchema),
  run: allow(
    z.strictObject({ name: z.string(), workers: z.array(z.string()) }),
    'of a queue: the work of all machines together',
  ),
});

export type ArchiveReport = z.infer<typeof archiveSchema>;

type Mirrored = ArchiveReport['mirrored'][number];
type Failure = ArchiveReport['failures'][number];

export function mergeArchives(reports: readonly Named<ArchiveReport>[]): ArchiveReport {
  const all = reports.map(({ report }) => report);
  const items = reports.flatMap((named) =>
    unitsOf<Mirrored | Failure>(
      named,
      [...named.report.mirrored, ...named.report.failures],
      ({ evidenceExportId }) => evidenceExportId,
    ),
  );
  const units = unite(items, (a, b) => verdictOf(a) === verdictOf(b));
  const mirrored = units.flatMap(({ value }) => ('code' in value ? [] : [value]));
  const failures = units.flatMap(({ value }) => ('code' in value ? [value] : []));
  const unlisted = sumOf(all, ({ failed: times, failures: listed }) => times - listed.length);
  const untried = sumOf(all, (report) => report.untried);
  const failed = failures.length + unlisted;
  return {
    schemaVersion: 1,
    kind: 'mirror.archive',
    exports: mirrored.length + failed + untried,
    complete: mirrored.length,
    failed,
    untried,
    older: Math.max(0, ...all.map(({ older }) => older)),
    left: mergeLeft(all),
    mirrored,
    failures,
    codes: [...new Set(all.flatMap(({ codes }) => codes))].toSorted(),
    ...sumTransfers(all.map(({ transfer }) => transfer)),
  };
}

const verdictOf = (value: Mirrored | Failure): string =>
  'code' in value ? value.code : value.manifestDigest;

/** Each shard sees the whole project and omits the same exports, so the highest number is the right one. */
function mergeLeft(all: readonly ArchiveReport[]): Record<string, number> {
  const notMirrored = new Map<string, number>();
  for (const report of all)
    for (const [state, times] of Object.entries(report.left))
      notMirrored.set(state, Math.max(times, notMirrored.get(state) ?? 0));
  return Object.fromEntries([...notMirrored].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

type Transfer = ArchiveReport['transfer'];

const MEASURES = z.keyof(transferSchema).options;

/** The sum of all transfers; their times are machine time and add up. */
export function sumTransfers(all: readonly Transfer[]): Pick<ArchiveReport, 'transfer'> {
  const transfers = all.filter((transfer) => transfer !== undefined);
  if (transfers.length === 0) return {};
  const sums = MEASURES.map((measure) => [measure, sumOf(transfers, (transfer) => transfer[measure])]);
  return { transfer: transferSchema.parse(Object.fromEntries(sums)) };
}
