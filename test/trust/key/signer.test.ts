import { describe, expect, it } from 'vitest';
import type { P256 } from '../../../src/bytes/platform.ts';
import { createSigner, keyIdOf, verifySignature } from '../../../src/trust/index.ts';
import { bytes32, codeOf, implementations, integers, message, N, pointOf, scalarOf } from '../makers.ts';

describe.each(implementations)('a signer, by the %s implementation', (_, implementation) => {
  it('signs what both implementations verify, under its own key id', async () => {
    const signer = createSigner(scalarOf(3), implementation);
    const signature = await signer.sign(message);
    expect(signer.keyId).toBe(keyIdOf(pointOf(3)));
    expect(signer.point).toEqual(pointOf(3));
    for (const [, other] of implementations) {
      expect(verifySignature({ key: signer, message, signature, implementation: other })).toBe(true);
    }
  });

  it('uses a nonce once: 250 signatures of one message have 250 different r', async () => {
    const signer = createSigner(scalarOf(3), implementation);
    const rs = new Set<bigint>();
    for (let i = 0; i < 250; i++) rs.add(integers(await signer.sign(message))[0]);
    expect(rs.size).toBe(250);
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
