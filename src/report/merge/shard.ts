import { compareUtf8, digestOf, toUtf8 } from '../../bytes/index.ts';
import { evidenceExportIdSchema } from '../../contract/index.ts';

/** One of `count` shares of a piece of work, counted from 0. */
export type Shard = { readonly index: number; readonly count: number };

/** What a product says of the shard that it is about; `list` is the digest of the whole list that was cut. */
export type ShardFacts = Shard & { readonly list?: string };

// 48 bits of the digest: a number that is exact, and shares that are even.
const HEX_DIGITS = 12;

/**
 * The shard that something belongs to, by the SHA-256 of its name alone: what else there is never moves it, and every
 * machine and version sees it alike (docs/scale.md, Shards).
 */
export function shardOf(name: string, count: number): number {
  const hex = digestOf(toUtf8(name)).slice('sha256:'.length);
  return Number.parseInt(hex.slice(0, HEX_DIGITS), 16) % count;
}

/** Those of a list that belong to a shard; all of them without one. */
export function inShard<T>(
  all: readonly T[],
  nameOf: (one: T) => string,
  of: Shard | undefined,
): readonly T[] {
  return of === undefined ? all : all.filter((one) => shardOf(nameOf(one), of.count) === of.index);
}

/** A path by the export that it is named after, so that shards of a mirror and of its verification are the same. */
export function shardName(path: string): string {
  const [place = ''] = path.startsWith('s3://') ? path.split('?') : [path];
  const last = place.split(/[/\\]/).findLast((segment) => segment !== '') ?? path;
  return evidenceExportIdSchema.safeParse(last).success ? last : path;
}

/** Whether two shards were cut from the same list, whatever order it came in. */
export const listDigest = (names: readonly string[]): string =>
  digestOf(toUtf8(JSON.stringify(names.toSorted(compareUtf8))));
