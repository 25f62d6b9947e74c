import * as z from 'zod/mini';
import { compareUtf8, toUtf8 } from '../../bytes/text/encoding.ts';
import { digestOf } from '../../bytes/hash.ts';
import { allow, countSchema, digestSchema, evidenceExportIdSchema } from '../../contract/scalars.ts';
import { DrillproofError } from '../../errors.ts';
import { stableJson } from '../json.ts';

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
      throw conflictError(`${other.from} and ${unit.from} differ about ${unit.key}`);
    if (other === undefined || rank(unit) < rank(other)) byKey.set(unit.key, unit);
  }
  return [...byKey.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

// Selects the same one of two equal results that differ in a time or wording, in every order.
const rank = ({ value }: Unit<unknown>): string => stableJson(value);

export const sumOf = <T>(all: readonly T[], numberOf: (item: T) => number): number =>
  all.reduce((sum, item) => sum + numberOf(item), 0);

/** The share that a product covers, counted from 0. */
export const shardSchema = z
  .strictObject({
    index: countSchema.check(z.describe('from 0 to count - 1')),
    count: z.int().check(z.gte(1)),
    list: allow(digestSchema, 'digest of the whole list that was cut'),
  })
  .check(({ value, issues }) => {
    if (value.index < value.count) return;
    issues.push({ code: 'custom', input: value.index, path: ['index'], message: 'must be less than count' });
  });

export type ShardFacts = Readonly<z.infer<typeof shardSchema>>;
/** One of `count` shares of a piece of work, counted from 0. */
export type Shard = Pick<ShardFacts, 'index' | 'count'>;

// 48 bits of the digest: a number that is exact, and shares that are even.
const HEX_DIGITS = 12;

/**
 * The shard of a name, by its SHA-256 alone: other names never move it, and it is the same on every machine and in every
 * version (docs/archive/scale.md, Shards).
 */
export function shardOf(name: string, count: number): number {
  const hex = digestOf(toUtf8(name)).slice('sha256:'.length);
  return Number.parseInt(hex.slice(0, HEX_DIGITS), 16) % count;
}

export function selectShard<T>(
  all: readonly T[],
  nameOf: (item: T) => string,
  shard: Shard | undefined,
): readonly T[] {
  return shard === undefined ? all : all.filter((item) => shardOf(nameOf(item), shard.count) === shard.index);
}

/** A path by the export that it is named after, so that shards of a mirror and of its verification are the same. */
export function shardName(path: string): string {
  const [place = ''] = path.startsWith('s3://') ? path.split('?') : [path];
  const last = place.split(/[/\\]/).findLast((segment) => segment !== '') ?? path;
  return evidenceExportIdSchema.safeParse(last).success ? last : path;
}

/** Digests a list regardless of its order, to detect shards of different lists. */
export const listDigest = (names: readonly string[]): string =>
  digestOf(toUtf8(JSON.stringify(names.toSorted(compareUtf8))));

/** A report with the name that messages show. */
export type Named<R> = { readonly name: string; readonly report: R };

/** The values of a report. @throws DrillproofError `report.MERGE_CONFLICT` for one of another shard */
export const unitsOf = <V>(
  { name, report }: Named<{ readonly shard?: ShardFacts | undefined }>,
  values: readonly V[],
  keyOf: (value: V) => string,
): readonly Unit<V>[] =>
  values.map((value) => {
    const key = keyOf(value);
    assertInShard(name, key, report.shard);
    return { key, value, from: name };
  });

const conflictError = (message: string): DrillproofError =>
  new DrillproofError('report.MERGE_CONFLICT', message);

/**
 * Makes sure that reports are all the shards of one whole, or that none of them is a shard.
 * @throws DrillproofError `report.SHARD_MISSING`, `report.MERGE_CONFLICT`, `report.MERGE_MIXED`
 */
export function assertWholeOfShards(reports: readonly Named<{ readonly shard?: ShardFacts }>[]): void {
  const shards = reports.flatMap(({ report: { shard } }) => (shard === undefined ? [] : [shard]));
  const [first] = shards;
  if (first === undefined) return;
  if (shards.length < reports.length) {
    const whole = reports.find(({ report }) => report.shard === undefined)?.name ?? '';
    throw new DrillproofError('report.MERGE_MIXED', `${whole} is a complete report, and others are shards`);
  }
  for (const { name, report } of reports) {
    if (report.shard?.count !== first.count)
      throw conflictError(
        `${name} is one of ${report.shard?.count} shards, and others are of ${first.count}`,
      );
    if (report.shard.list !== first.list)
      throw conflictError(`${name} is a shard of a different list than ${reports[0]?.name}`);
  }
  assertComplete(first.count, new Set(shards.map(({ index }) => index)));
}

function assertComplete(count: number, present: ReadonlySet<number>): void {
  const missing = Array.from({ length: count }, (_, index) => index).filter((index) => !present.has(index));
  if (missing.length === 0) return;
  const first = missing.slice(0, 10).map((index) => `${index}/${count}`);
  const more = missing.length > first.length ? ` and ${missing.length - first.length} more` : '';
  const message = `there is no report of shard ${first.join(', ')}${more}`;
  throw new DrillproofError('report.SHARD_MISSING', message, { details: { missing } });
}

/** @throws DrillproofError `report.MERGE_CONFLICT` for an item in the report of a shard that it does not belong to */
function assertInShard(name: string, key: string, shard: ShardFacts | undefined): void {
  if (shard === undefined || shardOf(shardName(key), shard.count) === shard.index) return;
  throw conflictError(`${name} contains ${key}, which is not in shard ${shard.index}/${shard.count}`);
}
