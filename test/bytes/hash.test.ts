import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { DIGEST, createDigester, digestOf, digestStream, isDigest } from '../../src/bytes/hash.ts';
import { forAll, forAllAsync } from '../support/property.ts';

const EMPTY = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** 3 MB that no pattern of the block size repeats in. */
const sample = Uint8Array.from({ length: 3_000_001 }, (_, i) => (i * i + (i >> 7)) & 0xff);

describe('digests', () => {
  it('of nothing and of "abc" are those of FIPS 180-4', () => {
    expect(digestOf(new Uint8Array())).toBe(EMPTY);
    expect(digestOf(Buffer.from('abc'))).toBe(
      'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('are those of the sha256sum program', () => {
    const answer = execFileSync('sha256sum', ['-b', '-'], { input: sample, encoding: 'utf8' });
    expect(`sha256:${answer.slice(0, 64)}`).toBe(digestOf(sample));
  });

  it('do not depend on the chunks, and count their bytes', async () => {
    const chunkings = fc.array(fc.uint8Array({ maxLength: 150 }), { maxLength: 8 });
    await forAllAsync(100, [chunkings], async (chunks) => {
      const bytes = Buffer.concat(chunks);
      const hash = createHash('sha256').update(bytes).digest('hex');
      const expected = { digest: `sha256:${hash}`, bytes: bytes.length };
      const sum = createDigester();
      for (const chunk of chunks) sum.update(chunk);
      expect({ digest: sum.digest(), bytes: sum.bytes }).toEqual(expected);
      expect(await digestStream(Readable.from(chunks, { objectMode: true }))).toEqual(expected);
    });
  });

  it('let the error of a stream through', async () => {
    const broken = new Error('made for a test');
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield Uint8Array.of(1);
      throw broken;
    }
    await expect(digestStream(stream())).rejects.toBe(broken);
  });
});

test('a digest has the form of its pattern, and nothing else has it', () => {
  const start = fc.constantFrom('sha256:', 'SHA256:', '');
  const near = fc.tuple(start, fc.stringMatching(/^[0-9a-f]{62,66}[gA\n]?$/)).map((parts) => parts.join(''));
  forAll(500, [fc.oneof(near, fc.constant(`${EMPTY}\n`))], (text) => {
    expect(isDigest(text)).toBe(DIGEST.test(text));
  });
  expect([EMPTY, [EMPTY], undefined].map(isDigest)).toEqual([true, false, false]);
});
