import { describe, expect, it } from 'vitest';
import { type P256 } from '../../../src/bytes/index.ts';
import { verifySignature } from '../../../src/trust/index.ts';
import { codeOf, implementations, message, native, pointOf, scalarOf } from '../makers.ts';
import { isDeep } from '../../support/deep.ts';

const signed = (seed: number, text = message): Uint8Array => native.signer(scalarOf(seed)).sign(text);

describe.each(implementations)('a signature, by the %s implementation', (_, implementation) => {
  const verify = (signature: Uint8Array, changes = {}): boolean =>
    verifySignature({ key: { point: pointOf(1) }, message, signature, implementation, ...changes });
  const signature = signed(1);

  it('verifies over its message with its key', () => {
    expect(verify(signature)).toBe(true);
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
