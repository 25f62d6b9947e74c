import * as z from 'zod/mini';
import { countSchema as count } from '../../contract/scalars.ts';
import { codeSchema } from '../../verify/report.ts';
import { type Named, shardSchema, sumOf, unite, unitsOf } from './shard.ts';
import { groupBy } from '../text/tally.ts';

const outcome = z.literal(['good', 'damaged', 'unreadable', 'unread']);
const outcomes = z.strictObject({ good: count, damaged: count, unreadable: count, unread: count });
const numbers = { files: count, read: count, readBytes: count, young: count, left: count, leftBytes: count };

const scrubbedSchema = z.strictObject({
  name: z.string(),
  evidenceExportId: z.exactOptional(z.string()),
  manifestDigest: z.exactOptional(z.string()),
  outcome,
  ...numbers,
});

const faultSchema = z.strictObject({
  path: z.string(),
  found: z.literal(['damaged', 'missing', 'unreadable', 'extra']),
  code: codeSchema,
  message: z.string(),
  repair: z.exactOptional(
    z.union([z.literal('repaired'), z.strictObject({ code: codeSchema, message: z.string() })]),
  ),
});

export const mirrorScrubSchema = z.extend(scrubbedSchema, { faults: z.array(faultSchema) });

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
  faults: z.array(z.extend(faultSchema, { mirror: z.string() })).check(z.describe('the first of them')),
  moreFaults: count,
  strays: z.array(z.string()),
  shard: z.exactOptional(shardSchema),
  run: z.exactOptional(z.strictObject({ name: z.string(), workers: z.array(z.string()) })),
});
export type ScrubReport = z.infer<typeof scrubSchema>;

type Fault = z.infer<typeof faultSchema>;
type Scrubbed = z.infer<typeof mirrorScrubSchema>;

/** Several scrubs as one: each mirror once with its faults, and facts that belong to no mirror. */
export type MergedScrub = Pick<ScrubReport, 'place' | 'moreFaults' | 'strays'> & {
  readonly mirrors: readonly Scrubbed[];
};

/**
 * Merges scrubs of shards or of several places.
 * @throws DrillproofError `report.MERGE_CONFLICT` when two differ in what they found of one mirror
 */
export function mergeScrubs(reports: readonly Named<ScrubReport>[]): MergedScrub {
  const all = reports.map(({ report }) => report);
  const units = reports.flatMap((named) => unitsOf(named, listMirrors(named), ({ name }) => name));
  return {
    place: removeRepeats(all.map(({ place }) => place)).join(', '),
    moreFaults: sumOf(all, ({ moreFaults }) => moreFaults),
    strays: removeRepeats(all.flatMap(({ strays }) => strays)),
    mirrors: unite(units, haveSameOutcome).map(({ value }) => value),
  };
}

function listMirrors({ report }: Named<ScrubReport>): readonly Scrubbed[] {
  const faults = groupBy(report.faults, ({ mirror }) => mirror);
  return report.results.map((result) => ({
    ...result,
    faults: (faults.get(result.name) ?? []).map(omitMirror),
  }));
}

const omitMirror = ({ mirror: _mirror, ...fault }: ScrubReport['faults'][number]): Fault => fault;

const haveSameOutcome = (a: Scrubbed, b: Scrubbed): boolean =>
  a.outcome === b.outcome && a.manifestDigest === b.manifestDigest;

const removeRepeats = (words: readonly string[]): string[] => [...new Set(words)].toSorted();
