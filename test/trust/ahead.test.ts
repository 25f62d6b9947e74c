import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readRawEcdsa } from '../../src/bytes/der.ts';
import { digestOf, digestStream } from '../../src/bytes/hash.ts';
import { fromHex, toHex } from '../../src/bytes/text/encoding.ts';
import { once } from '../../src/bytes/async.ts';
import { platform } from '../../src/bytes/platform-portable.ts';
import { verifyAhead } from '../../src/trust/key/signer.ts';
import { codeOf, integers, message, native, pointOf, portable, scalarOf } from './makers.ts';

type Case = {
  readonly id: string;
  readonly input: { readonly point: string; readonly message: string; readonly signature: string };
  readonly expected: { readonly verdict: string };
};
const read = (kind: string): readonly Case[] =>
  (JSON.parse(readFileSync(`vectors/${kind}.json`, 'utf8')) as { cases: Case[] }).cases;

const decoded = read('signatures').flatMap(({ id, input, expected }) => {
  const signature = fromHex(input.signature);
  if (codeOf(() => readRawEcdsa(signature)) !== undefined) return [];
  const point = fromHex(input.point);
  if (codeOf(() => portable.verifier(point)) !== undefined) return [];
  return [{ id, point, text: fromHex(input.message), signature, valid: expected.verdict === 'valid' }];
});

describe('Web Crypto and noble', () => {
  test.each(decoded)('agree on the vector $id', async ({ point, text, signature, valid }) => {
    const verifier = portable.verifier(point);
    expect(verifier.verify(text, signature)).toBe(valid);
    expect(await verifier.verifyLater!(text, signature)).toBe(valid);
  });

  test('agree on SHA-256 below and above the size from which Web Crypto computes it', async () => {
    for (const size of [0, 2048, 2049, 100_000]) {
      const bytes = new Uint8Array(size).fill(7);
      expect(await platform.sha256HexLater!(bytes)).toBe(platform.sha256Hex(bytes));
    }
  });

  test('noble verifies where the page has no Web Crypto', async () => {
    const { crypto } = globalThis;
    const signature = native.signer(scalarOf(3)).sign(message);
    Object.defineProperty(globalThis, 'crypto', { value: {}, configurable: true });
    try {
      expect(await portable.verifier(pointOf(3)).verifyLater!(message, signature)).toBe(true);
      expect(await portable.verifier(pointOf(4)).verifyLater!(message, signature)).toBe(false);
      const bytes = new Uint8Array(5000);
      expect(await platform.sha256HexLater!(bytes)).toBe(platform.sha256Hex(bytes));
    } finally {
      Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true });
    }
  });
});

test('readRawEcdsa gives r and s in 32 bytes each, whatever their length in DER', () => {
  for (let seed = 1; seed < 40; seed++) {
    const signature = native.signer(scalarOf(seed)).sign(message);
    const hex = integers(signature).map((number) => number.toString(16).padStart(64, '0'));
    expect(toHex(readRawEcdsa(signature))).toBe(hex.join(''));
  }
  expect(codeOf(() => readRawEcdsa(Uint8Array.of(0x30, 0)))).toBe('encoding.DER_INVALID');
});

test.each([
  ['Web Crypto', portable],
  ['Node.js, which needs none,', native],
])('a signature verified ahead by %s counts for its own message, key and bytes only', async (_, p256) => {
  const key = { point: pointOf(1) };
  const signature = native.signer(scalarOf(1)).sign(message);
  const verify = await verifyAhead(message, [{ key, signature }], p256);
  expect(verify({ key, message, signature })).toBe(true);
  expect(verify({ key: { point: pointOf(2) }, message, signature })).toBe(false);
  expect(verify({ key, message: message.slice(1), signature })).toBe(false);
  const other = native.signer(scalarOf(1)).sign(message.slice(1));
  expect(verify({ key, message, signature: other })).toBe(false);
  const wrong = await verifyAhead(message, [{ key, signature: other }], p256);
  expect(wrong({ key, message, signature: other })).toBe(false);
  expect(wrong({ key, message, signature })).toBe(true);
});

test('digestStream has the same result for a stream that it collects', async () => {
  const bytes = new Uint8Array(70_000).fill(9);
  const expected = { digest: digestOf(bytes), bytes: bytes.length };
  expect(await digestStream(once(bytes), bytes.length)).toEqual(expected);
  expect(await digestStream(once(bytes))).toEqual(expected);
});
