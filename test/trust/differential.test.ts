import * as fc from 'fast-check';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { P256 } from '../../src/bytes/platform.ts';
import { toHex } from '../../src/bytes/text/encoding.ts';
import { publicKeyPem } from '../../src/trust/key/key.ts';
import { verifySignature } from '../../src/trust/key/signer.ts';
import { DAMAGES, damaged } from './damages.ts';
import {
  bytes32,
  codeOf,
  implementations,
  message,
  N,
  native,
  P,
  pointOf,
  portable,
  scalarOf,
} from './makers.ts';
import { outcomeOf } from '../bytes/thrown-by.ts';
import { isDeep, tries } from '../support/deep.ts';
import { forAll } from '../support/property.ts';
import { makeFolder } from '../support/folder.ts';

const run = promisify(execFile);
const names = Object.keys(DAMAGES);
/** From one flipped bit to the next: each place in a byte has its turn. */
const STEP = isDeep ? 1 : 5;

/** The verdict of an implementation on a signature, or the code of its refusal. */
function verify(
  point: Uint8Array,
  text: Uint8Array,
  signature: Uint8Array,
  implementation: P256,
): boolean | string {
  const result = outcomeOf(() =>
    verifySignature({ key: { point }, message: text, signature, implementation }),
  );
  return 'code' in result ? result.code : result.value;
}

const bothOutcomes = (point: Uint8Array, text: Uint8Array, signature: Uint8Array): (boolean | string)[] =>
  implementations.map(([, implementation]) => verify(point, text, signature, implementation));

describe('a signature, by both implementations at once', () => {
  const scalar = fc.bigInt({ min: 1n, max: N - 1n }).map(bytes32);

  const text = fc.uint8Array({ maxLength: 200 });
  const side = fc.constantFrom(native, portable);

  it.each(names)('has the expected verdict for any key, message and signer with this damage: %s', (name) => {
    const { expected } = DAMAGES[name]!;
    forAll(tries(2, 10), [scalar, text, side], (key, content, by) => {
      const signer = by.signer(key);
      const signature = damaged(signer.sign(content), name);
      expect(bothOutcomes(signer.point, content, signature)).toEqual([expected, expected]);
    });
  });

  it.each(names)('has the expected verdict without our strict parser, with this damage: %s', (name) => {
    const signer = native.signer(scalarOf(1));
    const signature = damaged(signer.sign(message), name);
    const accepted = implementations.map(([, by]) => by.verifier(signer.point).verify(message, signature));
    const expected = DAMAGES[name]!.expected === true;
    expect(accepted).toEqual([expected, expected]);
  });

  it('is refused with the same code after any bit flip', () => {
    const signer = portable.signer(scalarOf(5));
    const signature = signer.sign(message);
    for (let bit = 0; bit < signature.length * 8; bit += STEP) {
      const at = bit >> 3;
      const flipped = signature.with(at, signature[at]! ^ (1 << (bit & 7)));
      const [first, second] = bothOutcomes(signer.point, message, flipped);
      expect([bit, first]).toEqual([bit, second]);
      expect([bit, first]).not.toEqual([bit, true]);
    }
  });

  it('does not verify over a message with any flipped bit', () => {
    const signer = native.signer(scalarOf(6));
    const signature = signer.sign(message);
    for (let bit = 0; bit < message.length * 8; bit += STEP) {
      const at = bit >> 3;
      const flipped = message.with(at, message[at]! ^ (1 << (bit & 7)));
      expect([bit, ...bothOutcomes(signer.point, flipped, signature)]).toEqual([bit, false, false]);
    }
  });
});

it('both implementations refuse any bytes that are not a signature', () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.nat(255).map((tag) => Uint8Array.of(tag, 0)),
  );
  forAll(tries(30, 150), [anything], (bytes) => {
    for (const [, by] of implementations) expect(by.verifier(pointOf(1)).verify(message, bytes)).toBe(false);
  });
});

it.each(implementations)('the %s implementation generates scalars of 32 bytes that both accept', (_, by) => {
  const scalars = Array.from({ length: 300 }, () => by.generateScalar());
  expect(new Set(scalars.map(toHex)).size).toBe(300);
  for (const scalar of scalars) expect(scalar).toHaveLength(32);
  for (const [, other] of implementations) expect(other.signer(scalars[0]!).point).toHaveLength(65);
});

const folder = await makeFolder();

describe('the openssl command', () => {
  it('accepts and refuses every damaged input as both implementations do', async () => {
    const signer = native.signer(scalarOf(1));
    let signature = signer.sign(message);
    while (signature.length > 70) signature = signer.sign(message); // leaves room for a damage that makes it longer
    const [key, text] = [join(folder, 'key.pem'), join(folder, 'message')];
    await writeFile(key, publicKeyPem(signer.point));
    await writeFile(text, message);
    let count = 0;
    for (const [i, name] of names.entries()) {
      const bytes = damaged(signature, name);
      // The command reads no more of the file than the longest signature has, and never sees what follows.
      if (bytes.length > 72) continue;
      const file = join(folder, String(i));
      await writeFile(file, bytes);
      const verified = await run('openssl', ['dgst', '-sha256', '-verify', key, '-signature', file, text])
        .then(({ stdout }) => stdout === 'Verified OK\n')
        .catch((error: { code?: unknown }) => (error.code === 1 ? false : Promise.reject(error)));
      expect([name, verified]).toEqual([name, DAMAGES[name]!.expected === true]);
      count++;
    }
    expect(count).toBeGreaterThan(names.length - 6);
  });
});

/** x³ - 3x + b: what y² must be. */
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
const squareOf = (x: bigint): bigint => (((x ** 3n - 3n * x + B) % P) + P) % P;

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base % P];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

/** A point whose x is so small that x + p still fits into 32 bytes: a second spelling of the same point. */
function smallPoint(): { x: bigint; y: bigint } {
  for (let x = 1n; ; x++) {
    const y = power(squareOf(x), (P + 1n) / 4n); // p = 3 mod 4
    if ((y * y) % P === squareOf(x)) return { x, y };
  }
}

const outcomes = (act: 'uncompress' | 'verifier', point: Uint8Array): (string | undefined)[] =>
  implementations.map(([, by]) => codeOf(() => by[act](point)));
const uncompressed = (x: bigint, y: bigint): Uint8Array => Uint8Array.of(4, ...bytes32(x), ...bytes32(y));

describe('a point, by both implementations at once', () => {
  const { x, y } = smallPoint();
  const compressed = (a: bigint): Uint8Array => Uint8Array.of(2 + Number(y & 1n), ...bytes32(a));

  it('is accepted with coordinates below p, in either form', () => {
    expect(outcomes('uncompress', uncompressed(x, y))).toEqual([undefined, undefined]);
    expect(outcomes('uncompress', uncompressed(x, P - y))).toEqual([undefined, undefined]);
    const full = implementations.map(([, one]) => toHex(one.uncompress(compressed(x))));
    expect(full).toEqual([toHex(uncompressed(x, y)), toHex(uncompressed(x, y))]);
  });

  it('is refused in compressed form if its x has no y', () => {
    const offCurve = Array.from({ length: 40 }, (_, i) => BigInt(i)).filter(
      (a) => power(squareOf(a), (P - 1n) / 2n) !== 1n,
    );
    expect(offCurve.length).toBeGreaterThan(5);
    for (const a of offCurve)
      expect(outcomes('uncompress', compressed(a))).toEqual(['trust.KEY_INVALID', 'trust.KEY_INVALID']);
  });

  it('is accepted by both or by neither, for any bytes', () => {
    const near = fc
      .tuple(fc.integer({ min: 1, max: 9 }), fc.nat(64), fc.nat(255), fc.boolean())
      .map(([seed, at, byte, short]) => {
        const full = pointOf(seed);
        const point = short ? Uint8Array.of(2 + (full[64]! & 1), ...full.subarray(1, 33)) : full;
        return point.with(at % point.length, byte);
      });
    forAll(tries(40, 300), [fc.oneof(near, fc.uint8Array({ maxLength: 66 }))], (point) => {
      for (const act of ['uncompress', 'verifier'] as const) {
        const [first, second] = outcomes(act, point);
        expect(first).toBe(second);
      }
    });
  });
});
