import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trees } from './arbitraries.ts';
import { end64, join, le, makeEntry, rawZip } from './raw-zip.ts';
import { codeOf, contentOf, zipOf, type Content } from './support.ts';
import { tries } from '../support/deep.ts';
import { forAllAsync } from '../support/property.ts';

/** The content of an archive, or the code of its refusal. */
async function outcomeOf(bytes: Uint8Array): Promise<Content | string> {
  const outcome = await codeOf(contentOf(bytes));
  if (typeof outcome === 'string') expect(outcome).toMatch(/^zip\./);
  return outcome;
}

const plain = 'some bytes, some bytes';
const streamed = makeEntry('streamed', plain, 0, 'signed');

describe.each<[string, () => Promise<Uint8Array>]>([
  ['stored and deflated', () => zipOf({ 'manifest.json': '{}', 'objects/a': 'x'.repeat(300), b: 'y' })],
  ['with descriptors', async () => rawZip([streamed, makeEntry('s2', plain, 0, 'streamed')])],
  [
    'in ZIP64 format',
    async () =>
      rawZip([makeEntry('wide', plain, 0, 'wide')], { before: (place) => end64(place), entries: 0xffff }),
  ],
])('an archive %s', (_, archive) => {
  it('with any one byte changed is refused or reads the same', async () => {
    const original = await archive();
    const content = await contentOf(original);
    for (let at = 0; at < original.length; at++) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const changed = Uint8Array.from(original);
        changed[at]! ^= mask;
        const outcome = await outcomeOf(changed);
        if (typeof outcome !== 'string') expect(outcome, `byte ${at}`).toEqual(content);
      }
    }
  });

  it('cut at any length is refused', async () => {
    const original = await archive();
    for (let length = 0; length < original.length; length++) {
      expect(typeof (await outcomeOf(original.subarray(0, length))), `length ${length}`).toBe('string');
    }
  });

  it('with a byte more or less anywhere is refused', async () => {
    const original = await archive();
    for (let at = 0; at <= original.length; at++) {
      const [head, tail] = [original.subarray(0, at), original.subarray(at)];
      expect(typeof (await outcomeOf(join(head, le(0, 1), tail))), `inserted at ${at}`).toBe('string');
      if (tail.length > 0) expect(typeof (await outcomeOf(join(head, tail.subarray(1))))).toBe('string');
    }
  });
});

describe('any archive', () => {
  it('with a piece cut out, doubled or moved is refused or reads the same', async () => {
    const piece = fc.record({ from: fc.nat(), length: fc.nat(60), to: fc.nat() });
    await forAllAsync(tries(50, 200), [trees, piece], async (files, { from, length, to }) => {
      const original = await zipOf(files, { compression: 'store' });
      const start = from % original.length;
      const target = to % original.length;
      const cut = original.subarray(start, start + length);
      const rest = join(original.subarray(0, start), original.subarray(start + length));
      for (const changed of [
        rest,
        join(original.subarray(0, target), cut, original.subarray(target)),
        join(rest.subarray(0, target), cut, rest.subarray(target)),
      ]) {
        const outcome = await outcomeOf(changed);
        if (typeof outcome !== 'string') expect(new Map(outcome)).toEqual(new Map(Object.entries(files)));
      }
    });
  });

  it('that is random bytes is refused', async () => {
    await forAllAsync(tries(50, 300), [fc.uint8Array({ maxLength: 200 })], async (bytes) => {
      expect(typeof (await outcomeOf(bytes))).toBe('string');
    });
  });
});
