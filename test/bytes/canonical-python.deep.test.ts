import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBytes, parseCanonicalJson } from '../../src/bytes/json/canonical.ts';
import { jsonValues } from './documents.ts';

/** Compares our form of each value with Python's, byte for byte. */
function compare(values: readonly unknown[]): void {
  const input = values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const output = execFileSync('python3', ['test/bytes/canonical.py'], { input, maxBuffer: 256 * 2 ** 20 });
  const theirs = output.toString('latin1').split('\n').slice(0, -1);
  expect(theirs).toHaveLength(values.length);
  for (const [i, value] of values.entries()) {
    const ours = Buffer.from(canonicalBytes(value));
    if (ours.toString('latin1') !== theirs[i]) expect(ours.toString()).toBe(theirs[i]);
    parseCanonicalJson(ours);
  }
}

/** The double with these 64 bits. */
function doubleOf(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

/** The doubles on both sides of one, and itself. */
function around(value: number): number[] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  return [bits - 1n, bits, bits + 1n].map(doubleOf);
}

const finite = (values: readonly number[]): number[] => values.filter(Number.isFinite);

describe('canonical JSON equals, byte for byte, the RFC 8785 form by Python', () => {
  it('for the powers of ten and of two and their neighbours, of either sign', () => {
    const tens = Array.from({ length: 633 }, (_, i) => Number(`1e${i - 324}`)).filter((x) => x > 0);
    const twos = Array.from({ length: 2098 }, (_, i) => 2 ** (i - 1074));
    const all = finite([...tens, ...twos].flatMap(around));
    compare([...all, ...all.map((x) => -x)]);
  });

  it('for the ends of the subnormal and the normal numbers, and of the integers that a double holds', () => {
    const ends = [2 ** -1074, 2 ** -1022, Number.MAX_VALUE, 2 ** 53, 1e21, 1e-6, 1e-7, 0.1, 0.3, 1 / 3];
    compare(finite([0, -0, ...ends.flatMap(around), 999999999999999900000, 9007199254740991, 5e-324]));
  });

  it('for doubles of any 64 bits', () => {
    const bits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    compare(finite(fc.sample(bits, 20_000).map(doubleOf)));
  });

  it('for every character that a string may hold, one at a time and as a name', () => {
    const points = Array.from({ length: 0x3000 }, (_, i) => i);
    const more = [0xd7ff, 0xe000, 0xfb33, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff];
    const texts = [...points, ...more].map((point) => String.fromCodePoint(point));
    compare([...texts, ...texts.map((text) => ({ [text]: 1, '\u{1F600}': 2, '\uFB33': 3, a: 4 }))]);
  });

  it('for any JSON value', () => {
    compare(fc.sample(jsonValues, 2000));
  });
});
