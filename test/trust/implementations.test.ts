import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes/index.ts';
import { codeOf, implementations, message, native, pointOf, portable } from './makers.ts';
import { tries } from '../support/deep.ts';
import { forAll } from '../support/property.ts';

describe('the two implementations', () => {
  it('agree on any bytes, strict DER or not', () => {
    const verifiers = [native.verifier(pointOf(1)), portable.verifier(pointOf(1))];
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc.nat(255).map((tag) => Uint8Array.of(tag, 0)),
    );
    forAll(tries(30, 150), [anything], (bytes) => {
      for (const verifier of verifiers) expect(verifier.verify(message, bytes)).toBe(false);
    });
  });

  it('make scalars of 32 bytes that both take', () => {
    for (const [, implementation] of implementations) {
      const scalars = Array.from({ length: 300 }, () => implementation.generateScalar());
      expect(new Set(scalars.map(toHex)).size).toBe(300);
      for (const each of scalars) expect(each).toHaveLength(32);
      expect(codeOf(() => implementations.map(([, other]) => other.signer(scalars[0]!)))).toBeUndefined();
    }
  });
});
