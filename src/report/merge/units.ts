import { DrillproofError } from '../../errors.ts';
import { stableJson } from '../json.ts';
import { shardName, shardOf, type ShardFacts } from './shard.ts';

/** A report of one shard, or of a whole, with the name by which people know it. */
export type Named<R> = { readonly name: string; readonly report: R };

/** What a report says of one export, mirror or path. */
export type Unit<V> = { readonly key: string; readonly value: V; readonly from: string };

const conflict = (message: string): DrillproofError => new DrillproofError('report.MERGE_CONFLICT', message);

/**
 * Makes sure that reports are all the shards of one whole, or that none of them is a shard.
 * @throws DrillproofError `report.SHARD_MISSING`, `report.MERGE_CONFLICT`, `report.MERGE_MIXED`
 */
export function assertWhole(reports: readonly Named<{ readonly shard?: ShardFacts }>[]): void {
  const shards = reports.flatMap(({ report: { shard } }) => (shard === undefined ? [] : [shard]));
  const [first] = shards;
  if (first === undefined) return;
  if (shards.length < reports.length) {
    const whole = reports.find(({ report }) => report.shard === undefined)?.name ?? '';
    throw new DrillproofError('report.MERGE_MIXED', `${whole} is of a whole, and others are of shards`);
  }
  for (const { name, report } of reports) {
    if (report.shard?.count !== first.count)
      throw conflict(`${name} is one of ${report.shard?.count} shards, and others are of ${first.count}`);
    if (report.shard.list !== first.list)
      throw conflict(`${name} is a shard of another list than ${reports[0]?.name}`);
  }
  assertComplete(first.count, new Set(shards.map(({ index }) => index)));
}

function assertComplete(count: number, present: ReadonlySet<number>): void {
  const missing = Array.from({ length: count }, (_, index) => index).filter((index) => !present.has(index));
  if (missing.length === 0) return;
  const named = missing.slice(0, 10).map((index) => `${index}/${count}`);
  const more = missing.length > named.length ? ` and ${missing.length - named.length} more` : '';
  const message = `there is no report of shard ${named.join(', ')}${more}`;
  throw new DrillproofError('report.SHARD_MISSING', message, { details: { missing } });
}

/** @throws DrillproofError `report.MERGE_CONFLICT` when something stands in a report of another shard than its own */
export function assertInShard(name: string, key: string, shard: ShardFacts | undefined): void {
  if (shard === undefined || shardOf(shardName(key), shard.count) === shard.index) return;
  throw conflict(`${name} speaks of ${key}, which is not in shard ${shard.index}/${shard.count}`);
}

/**
 * The units of all reports, each once, in an order that does not depend on that of the reports.
 * @throws DrillproofError `report.MERGE_CONFLICT` when two say different things of one, by `same`
 */
export function unite<V>(units: readonly Unit<V>[], same: (a: V, b: V) => boolean): readonly Unit<V>[] {
  const byKey = new Map<string, Unit<V>>();
  for (const unit of units) {
    const known = byKey.get(unit.key);
    if (known !== undefined && !same(known.value, unit.value))
      throw conflict(`${known.from} and ${unit.from} say different things of ${unit.key}`);
    if (known === undefined || rank(unit) < rank(known)) byKey.set(unit.key, unit);
  }
  return [...byKey.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

// Of two that judge alike and differ in a time or a wording, the same one is taken in every order.
const rank = ({ value }: Unit<unknown>): string => stableJson(value);

/** The sum of a number over all. */
export const sumOf = <T>(all: readonly T[], number: (one: T) => number): number =>
  all.reduce((sum, one) => sum + number(one), 0);
