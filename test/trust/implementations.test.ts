import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type P256, toHex } from '../../src/bytes/index.ts';
import { verifySignature } from '../../src/trust/index.ts';
import {
  bytes32,
  codeOf,
  encode,
  implementations,
  integers,
  message,
  N,
  native,
  P,
  pointOf,
  portable,
} from './makers.ts';
import { tries } from '../support/deep.ts';
import { forAll } from '../support/property.ts';

describe('the two implementations', () => {
  const scalar = fc.bigInt({ min: 1n, max: N - 1n }).map(bytes32);
  type Damage =
    | { kind: 'none' }
    | { kind: 'byte'; at: number; to: number }
    | { kind: 's'; of: (r: bigint, s: bigint) => bigint };
  const damage: fc.Arbitrary<Damage> = fc.oneof(
    fc.record({ kind: fc.constant('byte' as const), at: fc.nat(71), to: fc.nat(255) }),
    fc.record({
      kind: fc.constant('s' as const),
      of: fc.constantFrom<(r: bigint, s: bigint) => bigint>(
        (_, s) => N - s,
        () => 1n,
        () => N - 1n,
        (r) => r,
      ),
    }),
    fc.record({ kind: fc.constant('none' as const) }),
  );
  const damaged = (signature: Uint8Array, how: Damage): Uint8Array => {
    if (how.kind === 'none') return signature;
    if (how.kind === 'byte') {
      return Uint8Array.from(signature, (byte, i) => (i === how.at % signature.length ? how.to : byte));
    }
    const [r, s] = integers(signature);
    return encode(r, how.of(r, s));
  };

  it('give one key one public half and agree on each signature, damaged or not', () => {
    forAll(
      tries(30, 150),
      [scalar, fc.uint8Array({ maxLength: 300 }), damage, fc.boolean()],
      (key, text, how, byNative) => {
        const [a, b] = [native.signer(key), portable.signer(key)];
        expect(a.point).toEqual(b.point);
        const signature = damaged((byNative ? a : b).sign(text), how);
        const outcomes = [native, portable].map((implementation) => {
          let result: boolean | undefined;
          const check = { key: a, message: text, signature, implementation };
          return codeOf(() => void (result = verifySignature(check))) ?? result;
        });
        expect(outcomes[0]).toBe(outcomes[1]);
        if (how.kind === 'none') expect(outcomes[0]).toBe(true);
      },
    );
  });

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

  it('take the same private keys', () => {
    const scalars = [
      new Uint8Array(),
      new Uint8Array(32),
      bytes32(1n),
      bytes32(N - 1n),
      bytes32(N),
      bytes32(N + 1n),
      new Uint8Array(32).fill(255),
      bytes32(7n).subarray(1),
      Uint8Array.of(0, ...bytes32(7n)),
    ];
    const outcomes = (one: P256) => scalars.map((each) => codeOf(() => one.signer(each)));
    expect(outcomes(native)).toEqual(outcomes(portable));
    expect(outcomes(native).map((code) => code === undefined)).toEqual(
      [0, 0, 1, 1, 0, 0, 0, 0, 0].map(Boolean),
    );
  });

  it('take the same points', () => {
    const good = pointOf(1);
    const [x, y] = [good.subarray(1, 33), good.subarray(33)];
    const points = [
      good,
      Uint8Array.of(2, ...x),
      Uint8Array.of(3, ...x),
      Uint8Array.of(4, ...x),
      Uint8Array.of(2, ...x, ...y),
      Uint8Array.of(6, ...x, ...y),
      Uint8Array.of(7, ...x, ...y),
      Uint8Array.of(5, ...x, ...y),
      Uint8Array.of(4, ...x, ...y, 0),
      Uint8Array.of(4, ...y, ...x),
      Uint8Array.of(4, ...bytes32(P), ...y),
      Uint8Array.of(4, ...new Uint8Array(64)),
      Uint8Array.of(2, ...new Uint8Array(32).fill(255)),
      Uint8Array.of(0),
      new Uint8Array(65),
      new Uint8Array(),
    ];
    for (const act of ['uncompress', 'verifier'] as const) {
      const outcomes = (one: P256) => points.map((each) => codeOf(() => one[act](each)));
      expect(outcomes(native)).toEqual(outcomes(portable));
    }
    const full = (one: P256) => points.slice(0, 3).map((each) => toHex(one.uncompress(each)));
    expect(full(native)).toEqual(full(portable));
    expect(full(native)[0]).toBe(toHex(good));
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
