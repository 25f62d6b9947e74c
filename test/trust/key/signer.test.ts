import { describe, expect, it } from 'vitest';
import { createSigner, verifySignature } from '../../../src/trust/key/signer.ts';
import { keyIdOf } from '../../../src/trust/key/key.ts';
import { bytes32, codeOf, implementations, message, N, native, pointOf, scalarOf } from '../makers.ts';
import type { P256 } from '../../../src/bytes/platform.ts';

const signed = (seed: number, text = message): Uint8Array => native.signer(scalarOf(seed)).sign(text);

it('verifying many signatures imports a key once per implementation', () => {
  let imports = 0;
  const counting: P256 = { ...native, verifier: (point) => (imports++, native.verifier(point)) };
  for (let i = 0; i < 5; i++) {
    const check = { key: { point: pointOf(1) }, message, signature: signed(1), implementation: counting };
    expect(verifySignature(check)).toBe(true);
  }
  expect(imports).toBe(1);
});

it('many verified signatures never confuse keys, even if an array is reused', () => {
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

describe.each(implementations)('a signer, by the %s implementation', (_, implementation) => {
  it('signs under its own key id, and both implementations verify it', async () => {
    const signer = createSigner(scalarOf(3), implementation);
    const signature = await signer.sign(message);
    expect(signer.keyId).toBe(keyIdOf(pointOf(3)));
    expect(signer.point).toEqual(pointOf(3));
    for (const [, other] of implementations) {
      expect(verifySignature({ key: signer, message, signature, implementation: other })).toBe(true);
    }
  });

  it('keeps its key when the caller wipes the array', async () => {
    const scalar = Uint8Array.from(scalarOf(4));
    const signer = createSigner(scalar, implementation);
    scalar.fill(0);
    const signature = await signer.sign(message);
    expect(verifySignature({ key: { point: pointOf(4) }, message, signature })).toBe(true);
  });

  it('refuses a key outside 1…n-1', () => {
    expect(codeOf(() => createSigner(bytes32(0n), implementation))).toBe('trust.KEY_INVALID');
    expect(codeOf(() => createSigner(bytes32(N), implementation))).toBe('trust.KEY_INVALID');
  });

  it.each([
    ['a flipped bit', (signature: Uint8Array) => signature.with(signature.length - 1, signature.at(-1)! ^ 1)],
    ['a broken encoding', (signature: Uint8Array) => signature.subarray(1)],
  ])('lets no signature out with %s', async (__, spoil) => {
    const faulty: P256 = {
      ...implementation,
      signer(scalar) {
        const sound = implementation.signer(scalar);
        return { point: sound.point, sign: (text) => spoil(sound.sign(text)) };
      },
    };
    await expect(createSigner(scalarOf(3), faulty).sign(message)).rejects.toMatchObject({
      code: 'trust.SIGNER_FAULT',
    });
  });
});
