import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selectShard, listDigest, shardName, shardOf } from '../../../src/report/merge/shard.ts';
import { idOf } from '../../support/evidence.ts';
import { forAll } from '../../support/property.ts';

const names = fc.uniqueArray(fc.string(), { maxLength: 60 });
const itself = (name: string): string => name;

describe('the shards of a list', () => {
  it('have everything exactly once, whatever the list and their number', () => {
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

  // What sha256sum says: printf evexp_000000000001 | sha256sum | cut -c1-12, as a number, modulo 8.
  it('follow from SHA-256 alone, so that no version ever moves anything', () => {
    const shards = [1, 2, 3, 4].map((n) => shardOf(idOf('evexp', n), 8));
    expect(shards).toEqual([7, 6, 0, 3]);
  });

  it('are one list in any order, and another with one thing more', () => {
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
