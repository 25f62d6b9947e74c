import { describe, expect, it } from 'vitest';
import { type P256, toHex, toUtf8 } from '../../../src/bytes/index.ts';
import { verifySignature } from '../../../src/trust/index.ts';
import {
  bytes32,
  codeOf,
  encode,
  implementations,
  integers,
  message,
  N,
  native,
  pointOf,
  scalarOf,
} from '../makers.ts';
import { isDeep } from '../../support/deep.ts';

const signed = (seed: number, text = message): Uint8Array => native.signer(scalarOf(seed)).sign(text);

describe.each(implementations)('a signature, by the %s implementation', (_, implementation) => {
  const verify = (signature: Uint8Array, changes = {}): boolean =>
    verifySignature({ key: { point: pointOf(1) }, message, signature, implementation, ...changes });
  const signature = signed(1);

  it('verifies over its message with its key', () => {
    expect(verify(signature)).toBe(true);
  });

  it('does not verify over another message or with another key', () => {
    expect(verify(signature, { message: toUtf8('{"statement":2}') })).toBe(false);
    expect(verify(signature, { message: new Uint8Array() })).toBe(false);
    expect(verify(signature, { key: { point: pointOf(2) } })).toBe(false);
  });

  it('verifies over an empty message that was signed', () => {
    expect(verify(signed(1, new Uint8Array()), { message: new Uint8Array() })).toBe(true);
  });

  it('is as good as its twin (r, n-s), and as bad', () => {
    const [r, s] = integers(signature);
    const twin = encode(r, N - s);
    expect(toHex(twin)).not.toBe(toHex(signature));
    expect(verify(twin)).toBe(true);
    expect(verify(twin, { message: toUtf8('x') })).toBe(false);
  });

  it('does not verify with its integers exchanged, negated or at their ends', () => {
    const [r, s] = integers(signature);
    for (const bad of [
      encode(s, r),
      encode(N - r, s),
      encode(1n, 1n),
      encode(N - 1n, N - 1n),
      encode(r, 1n),
    ]) {
      expect(verify(bad)).toBe(false);
    }
  });

  it.each([
    ['r = 0', encode(0n, 1n)],
    ['s = 0', encode(1n, 0n)],
    ['r = n', encode(N, 1n)],
    ['s = n', encode(1n, N)],
    ['s = n + 1', encode(1n, N + 1n)],
    ['a trailing byte', Uint8Array.of(...signature, 0)],
    ['a long-form length', Uint8Array.of(0x30, 0x81, ...signature.subarray(1))],
    ['a byte too few', signature.subarray(0, -1)],
    ['no bytes', new Uint8Array()],
    ['r and s side by side (IEEE P1363)', Uint8Array.of(...bytes32(5n), ...bytes32(6n))],
  ])('is no wrong signature but no signature with %s', (__, bytes) => {
    expect(codeOf(() => verify(bytes))).toBe('encoding.DER_INVALID');
  });

  it('is not looked at with a key off the curve', () => {
    const point = Uint8Array.from(pointOf(1), (byte, i) => (i === 64 ? byte ^ 1 : byte));
    expect(codeOf(() => verify(signature, { key: { point } }))).toBe('trust.KEY_INVALID');
    expect(codeOf(() => verify(signature, { key: { point: pointOf(1).subarray(0, 33) } }))).toBe(
      'trust.KEY_INVALID',
    );
  });

  it('does not verify when any one bit of it is flipped', () => {
    const step = isDeep ? 1 : 5; // each place in a byte has its turn
    for (let bit = 0; bit < signature.length * 8; bit += step) {
      const flipped = Uint8Array.from(signature, (byte, i) =>
        i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte,
      );
      let result: boolean | undefined;
      expect(codeOf(() => void (result = verify(flipped))) ?? result).toSatisfy(
        (outcome) => outcome === false || outcome === 'encoding.DER_INVALID',
      );
    }
  });
});

it('verifying many signatures imports a key once per implementation', () => {
  let imports = 0;
  const counting: P256 = { ...native, verifier: (point) => (imports++, native.verifier(point)) };
  for (let i = 0; i < 5; i++) {
    const check = { key: { point: pointOf(1) }, message, signature: signed(1), implementation: counting };
    expect(verifySignature(check)).toBe(true);
  }
  expect(imports).toBe(1);
});

it('verifying many signatures never confuses keys when an array is reused or when there are many', () => {
  const point = pointOf(1);
  const check = { key: { point }, message, signature: signed(1) };
  expect(verifySignature(check)).toBe(true);
  point.set(pointOf(2));
  expect(verifySignature(check)).toBe(false);
  for (let seed = 1; seed <= 300; seed++) {
    expect(verifySignature({ key: { point: pointOf(seed) }, message, signature: signed(1) })).toBe(
      seed === 1,
    );
  }
  expect(verifySignature({ key: { point: pointOf(1) }, message, signature: signed(1) })).toBe(true);
});
