import type { ArchiveReport } from './archive-schema.ts';
import { assertInShard, sumOf, unite, type Named, type Unit } from './units.ts';

type Mirrored = ArchiveReport['mirrored'][number];
type Failure = ArchiveReport['failures'][number];

/**
 * Reports on the mirrors of shards as one on all of them.
 * @throws DrillproofError `report.MERGE_CONFLICT`
 */
export function mergeArchives(reports: readonly Named<ArchiveReport>[]): ArchiveReport {
  const all = reports.map(({ report }) => report);
  const units = unite(reports.flatMap(unitsOf), (a, b) => verdictOf(a) === verdictOf(b));
  const mirrored = units.flatMap(({ value }) => ('code' in value ? [] : [value]));
  const failures = units.flatMap(({ value }) => ('code' in value ? [value] : []));
  const untold = sumOf(all, (one) => one.failed - one.failures.length);
  const untried = sumOf(all, (one) => one.untried);
  const failed = failures.length + untold;
  return {
    schemaVersion: 1,
    kind: 'mirror.archive',
    exports: mirrored.length + failed + untried,
    complete: mirrored.length,
    failed,
    untried,
    older: Math.max(0, ...all.map(({ older }) => older)),
    left: leftOf(all),
    mirrored,
    failures,
    codes: [...new Set(all.flatMap(({ codes }) => codes))].toSorted(),
    ...sumTransfers(all.map(({ transfer }) => transfer)),
  };
}

function unitsOf({ name, report }: Named<ArchiveReport>): readonly Unit<Mirrored | Failure>[] {
  return [...report.mirrored, ...report.failures].map((value) => {
    const key = value.evidenceExportId;
    assertInShard(name, key, report.shard);
    return { key, value, from: name };
  });
}

const verdictOf = (value: Mirrored | Failure): string =>
  'code' in value ? value.code : value.manifestDigest;

/** Each shard looks at the whole project and leaves out the same, so the most that one saw is what there is. */
function leftOf(all: readonly ArchiveReport[]): Record<string, number> {
  const left = new Map<string, number>();
  for (const report of all)
    for (const [state, times] of Object.entries(report.left))
      left.set(state, Math.max(times, left.get(state) ?? 0));
  return Object.fromEntries([...left].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

type Transfer = ArchiveReport['transfer'];

/** What was moved in all; times add up as those of machines do. */
export function sumTransfers(all: readonly Transfer[]): Pick<ArchiveReport, 'transfer'> {
  const transfers = all.filter((transfer) => transfer !== undefined);
  const sum = transfers.reduce(
    (a, b) => ({
      files: a.files + b.files,
      fetched: a.fetched + b.fetched,
      resumed: a.resumed + b.resumed,
      linked: a.linked + b.linked,
      kept: a.kept + b.kept,
      bytes: a.bytes + b.bytes,
      transferredBytes: a.transferredBytes + b.transferredBytes,
      retries: a.retries + b.retries,
      transferMs: a.transferMs + b.transferMs,
    }),
    NOTHING_MOVED,
  );
  return transfers.length === 0 ? {} : { transfer: sum };
}

const NOTHING_MOVED = {
  files: 0,
  fetched: 0,
  resumed: 0,
  linked: 0,
  kept: 0,
  bytes: 0,
  transferredBytes: 0,
  retries: 0,
  transferMs: 0,
};
