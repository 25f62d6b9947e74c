import { assertInShard, sumOf, unite, type Named } from './units.ts';
import type { ScrubReport } from './scrub-schema.ts';

type Fault = Omit<ScrubReport['faults'][number], 'mirror'>;
type Scrubbed = ScrubReport['results'][number] & { readonly faults: readonly Fault[] };

/** What several scrubs found: each mirror once, by name, with its faults, and what is told of no mirror. */
export type MergedScrub = Pick<ScrubReport, 'place' | 'moreFaults' | 'strays'> & {
  readonly mirrors: readonly Scrubbed[];
};

/**
 * Scrubs of shards, or of several places, as one.
 * @throws DrillproofError `report.MERGE_CONFLICT` when two differ in what they found of one mirror
 */
export function mergeScrubs(reports: readonly Named<ScrubReport>[]): MergedScrub {
  const all = reports.map(({ report }) => report);
  return {
    place: distinct(all.map(({ place }) => place)).join(', '),
    moreFaults: sumOf(all, ({ moreFaults }) => moreFaults),
    strays: distinct(all.flatMap(({ strays }) => strays)),
    mirrors: unite(reports.flatMap(unitsOf), findAlike).map(({ value }) => value),
  };
}

function unitsOf({ name: from, report }: Named<ScrubReport>) {
  const faults = new Map<string, Fault[]>();
  for (const { mirror, ...fault } of report.faults)
    faults.set(mirror, [...(faults.get(mirror) ?? []), fault]);
  return report.results.map((result) => {
    assertInShard(from, result.name, report.shard);
    return { key: result.name, value: { ...result, faults: faults.get(result.name) ?? [] }, from };
  });
}

const findAlike = (a: Scrubbed, b: Scrubbed): boolean =>
  a.outcome === b.outcome && a.manifestDigest === b.manifestDigest;

const distinct = (words: readonly string[]): string[] => [...new Set(words)].toSorted();
