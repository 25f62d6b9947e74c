import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ArchiveReport, mergeArchives } from '../../../src/report/merge/archives.ts';
import { mergeScrubs } from '../../../src/report/merge/scrubs.ts';
import {
  assertWholeOfShards,
  listDigest,
  type Named,
  selectShard,
  type ShardFacts,
  shardName,
  shardOf,
} from '../../../src/report/merge/shard.ts';
import { codeOf } from '../../bytes/thrown-by.ts';
import { hashOf, idOf } from '../../support/evidence.ts';
import { forAll } from '../../support/property.ts';
import { scrubReport } from '../makers.ts';

const failureOf = (evidenceExportId: string): ArchiveReport['failures'][number] => ({
  evidenceExportId,
  code: 'io.LOCKED',
  message: 'held',
  action: 'Wait.',
  files: [],
});

/** The report on some exports, of which those with an odd number failed. */
function archive(numbers: readonly number[], rest: Partial<ArchiveReport> = {}): ArchiveReport {
  const ids = (odd: number) => numbers.filter((n) => n % 2 === odd).map((n) => idOf('evexp', n));
  const mirrored = ids(0);
  const failures = ids(1).map(failureOf);
  return {
    schemaVersion: 1,
    kind: 'mirror.archive',
    exports: numbers.length,
    complete: mirrored.length,
    failed: failures.length,
    untried: 0,
    older: 1,
    left: { failed: 2 },
    mirrored: mirrored.map((id) => ({ evidenceExportId: id, manifestDigest: hashOf(id) })),
    failures,
    codes: failures.length > 0 ? ['io.LOCKED'] : [],
    ...rest,
  };
}

const named = <R>(reports: readonly R[]): Named<R>[] =>
  reports.map((report, i) => ({ name: `${i}.json`, report }));
const inShards = (numbers: readonly number[], count: number) =>
  Array.from({ length: count }, (_, index) => {
    const own = numbers.filter((n) => shardOf(idOf('evexp', n), count) === index);
    return archive(own, { shard: { index, count } });
  });

describe('merging the mirrors of shards', () => {
  it('equals the report of one run over everything, in any order', () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 999 }), { maxLength: 40 });
    forAll(100, [numbers, fc.integer({ min: 1, max: 9 }), fc.nat()], (all, count, turn) => {
      const shards = inShards(all, count);
      const turned = shards.map((_, i) => shards[(i + turn) % count]!);
      assertWholeOfShards(named(turned));
      const sorted = all.toSorted((a, b) => a - b);
      expect(mergeArchives(named(turned))).toEqual({ ...archive(sorted), older: 1, left: { failed: 2 } });
      expect(mergeArchives(named([...turned, ...shards]))).toEqual(mergeArchives(named(shards)));
    });
  });

  it('adds failures without details and exports that were not tried', () => {
    const merged = mergeArchives(named([archive([1], { failed: 5, exports: 7, untried: 2 }), archive([2])]));
    expect(merged).toMatchObject({ exports: 8, complete: 1, failed: 5, untried: 2 });
  });

  const evidenceExportId = idOf('evexp', 2);
  it.each<[string, Partial<ArchiveReport>[]]>([
    ['two manifests of an export', [{}, { mirrored: [{ evidenceExportId, manifestDigest: hashOf('x') }] }]],
    ['an export and its failure', [{}, { mirrored: [], failures: [failureOf(evidenceExportId)] }]],
    ['an export of another shard', [{ shard: { index: 1 - shardOf(evidenceExportId, 2), count: 2 } }]],
  ])('refuses %s', (_what, facts) => {
    const reports = facts.map((rest) => archive([2], rest));
    expect(codeOf(() => mergeArchives(named(reports)))).toBe('report.MERGE_CONFLICT');
  });
});

const shardFacts = (index: number, count: number, list?: string): { shard?: ShardFacts } => ({
  shard: { index, count, ...(list !== undefined && { list }) },
});

it('the shards of a whole are refused if any shard is missing', () => {
  forAll(100, [fc.integer({ min: 2, max: 30 }), fc.nat(29)], (count, lost) => {
    const all = Array.from({ length: count }, (_, index) => shardFacts(index, count));
    expect(codeOf(() => assertWholeOfShards(named(all)))).toBeUndefined();
    const some = all.filter((_, index) => index !== lost % count);
    expect(codeOf(() => assertWholeOfShards(named(some)))).toBe('report.SHARD_MISSING');
  });
});

const [LIST, OTHER] = [hashOf('a'), hashOf('b')];
it.each([
  ['other numbers', [shardFacts(0, 2), shardFacts(1, 3)], 'report.MERGE_CONFLICT'],
  ['other lists', [shardFacts(0, 2, LIST), shardFacts(1, 2, OTHER)], 'report.MERGE_CONFLICT'],
  ['a list and none', [shardFacts(0, 2, LIST), shardFacts(1, 2)], 'report.MERGE_CONFLICT'],
  ['a shard and a complete report', [shardFacts(0, 1), {}], 'report.MERGE_MIXED'],
  ['complete reports alone', [{}, {}], undefined],
  ['a shard twice', [shardFacts(0, 1), shardFacts(0, 1)], undefined],
])('the shards of a whole are checked: %s', (_what, reports, code) => {
  expect(codeOf(() => assertWholeOfShards(named(reports)))).toBe(code);
  expect(codeOf(() => assertWholeOfShards(named(reports.toReversed())))).toBe(code);
});

describe('merging scrubs', () => {
  const [good, damaged] = [scrubReport('a', 'good'), scrubReport('b', 'damaged')];

  it('keeps each mirror once, with its faults, in any order', () => {
    const merged = mergeScrubs(named([damaged, good]));
    expect(merged).toEqual(mergeScrubs(named([good, damaged])));
    expect(merged.mirrors).toMatchObject([
      { name: 'a', faults: [] },
      { name: 'b', outcome: 'damaged', faults: [{ path: 'parts/1.zip' }] },
    ]);
    expect(merged).toMatchObject({ place: 'archive', strays: ['stray'] });
  });

  it('refuses a mirror that is good in one and damaged in the other', () => {
    expect(codeOf(() => mergeScrubs(named([damaged, scrubReport('b', 'good')])))).toBe(
      'report.MERGE_CONFLICT',
    );
  });
});

const names = fc.uniqueArray(fc.string(), { maxLength: 60 });
const itself = (name: string): string => name;

describe('the shards of a list', () => {
  it('contain each name exactly once, whatever the list and their number', () => {
    forAll(100, [names, fc.integer({ min: 1, max: 50 })], (all, count) => {
      const shards = Array.from({ length: count }, (_, index) => selectShard(all, itself, { index, count }));
      expect(shards.flat().toSorted()).toEqual(all.toSorted());
    });
  });

  it('do not change when names are added or reordered', () => {
    forAll(100, [names, names, fc.integer({ min: 1, max: 20 }), fc.nat(19)], (all, more, count, i) => {
      const shard = { index: i % count, count };
      const larger = new Set(selectShard([...more, ...all.toReversed()], itself, shard));
      for (const name of selectShard(all, itself, shard)) expect(larger.has(name)).toBe(true);
    });
  });

  it('are about as large as each other', () => {
    const ids = Array.from({ length: 8_000 }, (_, i) => idOf('evexp', i));
    for (let index = 0; index < 8; index++) {
      const { length } = selectShard(ids, itself, { index, count: 8 });
      expect(length).toBeGreaterThan(850);
      expect(length).toBeLessThan(1_150);
    }
  });

  // The expected numbers: printf evexp_000000000001 | sha256sum | cut -c1-12, as a number, modulo 8.
  it('follow from SHA-256 alone, so that no version ever moves anything', () => {
    const shards = [1, 2, 3, 4].map((n) => shardOf(idOf('evexp', n), 8));
    expect(shards).toEqual([7, 6, 0, 3]);
  });

  it('have a digest of the list that ignores its order and changes with its names', () => {
    expect(listDigest(['a', 'b'])).toBe(listDigest(['b', 'a']));
    expect(listDigest(['a', 'b'])).not.toBe(listDigest(['a', 'b', 'c']));
    expect(listDigest(['a', 'b'])).not.toBe(listDigest(['a,b']));
  });
});

it.each([
  ['/archive/evexp_000000000001', 'evexp_000000000001'],
  ['mirrors/evexp_000000000001/', 'evexp_000000000001'],
  ['D:\\archive\\evexp_000000000001', 'evexp_000000000001'],
  ['s3://bucket/a/evexp_000000000001/?endpoint=http://h/evexp_000000000002', 'evexp_000000000001'],
  ['evexp_000000000001', 'evexp_000000000001'],
  ['parts/one.zip', 'parts/one.zip'],
  ['/', '/'],
  ['', ''],
])('the path %j goes with %j', (path, name) => {
  expect(shardName(path)).toBe(name);
});
