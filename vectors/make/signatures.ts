import { p256 } from '@noble/curves/nist.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { hexOf, utf8 } from './bytes.ts';
import { ecdsa } from './der.ts';
import { N, P, pointOf, signDer } from './keys.ts';

export type SignedMessage = {
  readonly point: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
};

const { Point } = p256;
const Fn = Point.Fn;

/** r and s of a strict DER signature. */
export function numbersOf(signature: Uint8Array): [r: bigint, s: bigint] {
  const { r, s } = p256.Signature.fromBytes(signature, 'der');
  return [r, s];
}

/** The first of a row of messages whose signature has a number (0: r, 1: s) that fills less than 32 bytes. */
export function shortSignature(name: string, which: 0 | 1): SignedMessage {
  for (let n = 0; ; n++) {
    const message = utf8(`short ${which} ${n}`);
    const signature = signDer(name, message);
    if (numbersOf(signature)[which] < 2n ** 248n) return { point: pointOf(name), message, signature };
  }
}

const numberOf = (message: Uint8Array): bigint => Fn.create(BigInt(`0x${hexOf(sha256(message))}`));
const bytesOf = (point: InstanceType<typeof Point>): Uint8Array => point.toBytes(false);

/** The key under which (r, s) is a signature of the message whose nonce point is R: Q = r⁻¹(sR − eG). */
function keyFor(nonce: InstanceType<typeof Point>, r: bigint, s: bigint, message: Uint8Array): Uint8Array {
  const inverse = Fn.inv(r);
  const e = numberOf(message);
  const key = nonce.multiply(Fn.mul(inverse, s)).subtract(Point.BASE.multiply(Fn.mul(inverse, e)));
  return bytesOf(key);
}

/** The first point of the curve whose x is at least n. There are about 2^128 such x, of which half have a point. */
function pointBeyondOrder(): { nonce: InstanceType<typeof Point>; r: bigint } {
  for (let r = 1n; N + r < P; r++) {
    try {
      const x = (N + r).toString(16).padStart(64, '0');
      return { nonce: Point.fromHex(`02${x}`), r };
    } catch {
      // no point has this x
    }
  }
  throw new Error('there is such a point');
}

/** Signatures that take a verifier where random ones never do. */
export function boundarySignatures(
  message: Uint8Array,
): readonly (SignedMessage & { readonly id: string; readonly comment: string; readonly valid: boolean })[] {
  const beyond = pointBeyondOrder();
  const e = numberOf(message);
  const k = 0x1234567890abcdefn;
  const r = Fn.create(Point.BASE.multiply(k).toAffine().x);
  const half = Fn.mul(e, Fn.inv(r)); // the private key for which u1·G and u2·Q are one point
  const s = Fn.mul(Fn.mul(2n, e), Fn.inv(k));
  return [
    {
      id: 'x-beyond-order',
      comment: 'x of the nonce point is at least n, so r is x - n',
      valid: true,
      point: keyFor(beyond.nonce, beyond.r, 7n, message),
      message,
      signature: ecdsa(beyond.r, 7n),
    },
    {
      id: 'doubling',
      comment: 'both summands are one point, so that adding them is doubling',
      valid: true,
      point: bytesOf(Point.BASE.multiply(half)),
      message,
      signature: ecdsa(r, s),
    },
    {
      id: 'sum-at-infinity',
      comment: 'both summands cancel out: the sum has no x',
      valid: false,
      point: bytesOf(Point.BASE.multiply(Fn.neg(half))),
      message,
      signature: ecdsa(r, s),
    },
    {
      id: 's-one',
      comment: 's is 1',
      valid: true,
      point: keyFor(Point.BASE.multiply(k), r, 1n, message),
      message,
      signature: ecdsa(r, 1n),
    },
    {
      id: 's-largest',
      comment: 's is n-1',
      valid: true,
      point: keyFor(Point.BASE.multiply(k), r, N - 1n, message),
      message,
      signature: ecdsa(r, N - 1n),
    },
    {
      id: 'key-is-generator',
      comment: 'the key is the generator: the private key is 1',
      valid: true,
      point: bytesOf(Point.BASE),
      message,
      signature: p256.sign(message, privateOne(), { format: 'der', lowS: false, extraEntropy: false }),
    },
    {
      id: 'key-is-generator-forged',
      comment: 'the same with r and s of 1',
      valid: false,
      point: bytesOf(Point.BASE),
      message,
      signature: ecdsa(1n, 1n),
    },
  ];
}

const privateOne = (): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? 1 : 0));
