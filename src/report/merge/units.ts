import { stableJson } from '../json.ts';
import { conflict } from './shard.ts';

/** The result of a report for one export, mirror or path. */
export type Unit<V> = { readonly key: string; readonly value: V; readonly from: string };

/**
 * The units of all reports, each once, in an order that does not depend on that of the reports.
 * @throws DrillproofError `report.MERGE_CONFLICT` if two differ about one, by `same`
 */
export function unite<V>(units: readonly Unit<V>[], same: (a: V, b: V) => boolean): readonly Unit<V>[] {
  const byKey = new Map<string, Unit<V>>();
  for (const unit of units) {
    const other = byKey.get(unit.key);
    if (other !== undefined && !same(other.value, unit.value))
      throw conflict(`${other.from} and ${unit.from} differ about ${unit.key}`);
    if (other === undefined || rank(unit) < rank(other)) byKey.set(unit.key, unit);
  }
  return [...byKey.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

// Of two with the same result that differ in a time or wording, the same one is taken in every order.
const rank = ({ value }: Unit<unknown>): string => stableJson(value);

/** The sum of a number over all. */
export const sumOf = <T>(all: readonly T[], numberOf: (item: T) => number): number =>
  all.reduce((sum, item) => sum + numberOf(item), 0);
