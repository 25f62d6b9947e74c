import { BYTES, checkArguments, type P256, withMethods } from '../../bytes/index.ts';
import { platform } from '#platform';
import { DrillproofError } from '../../errors.ts';
import { keyIdOf } from './key.ts';
import { verifySignature, type SignatureCheck } from './signature.ts';

/** Something that signs: a private key in memory, or a device or service that holds one (formats §2). */
export type Signer = {
  /** How statements name the key. */
  readonly keyId: string;
  /** The public key, uncompressed (65 bytes). */
  readonly point: Uint8Array;
  /** An ECDSA P-256 signature with SHA-256 over the message, in strict DER (formats §2). */
  sign(message: Uint8Array): Promise<Uint8Array>;
};

/**
 * A signer with a P-256 private key in memory: 32 bytes, big-endian (formats §2). The key is copied.
 * @throws DrillproofError `trust.KEY_INVALID` for a number outside 1…n-1
 * @example
 * const signer = createSigner(scalar);
 * const signature = await signer.sign(canonicalBytes({ hello: 'world' }));
 */
export function createSigner(scalar: Uint8Array, implementation: P256 = platform.p256): Signer {
  checkArguments(
    { scalar: BYTES, implementation: withMethods('a P256', 'signer', 'verifier') },
    { scalar, implementation },
  );
  const inner = implementation.signer(scalar);
  const key = { keyId: keyIdOf(inner.point), point: inner.point };
  return {
    ...key,
    async sign(message) {
      const signature = inner.sign(message);
      assertVerifies({ key, message, signature, implementation });
      return signature;
    },
  };
}

/**
 * A signature by any signer, verified before anything is done with it.
 * @throws DrillproofError `trust.SIGNER_FAULT` when it does not verify or is not strict DER, and what the signer throws
 */
export async function signChecked(signer: Signer, message: Uint8Array): Promise<Uint8Array> {
  const signature = await signer.sign(message);
  assertVerifies({ key: signer, message, signature });
  return signature;
}

/**
 * Every signature is verified once before it gets out. A bit that flips while signing would spoil evidence for good,
 * and a spoilt signature can give the private key away (Boneh, DeMillo, Lipton 1997).
 */
function assertVerifies(check: SignatureCheck): void {
  let cause: unknown;
  try {
    if (verifySignature(check)) return;
  } catch (error) {
    cause = error;
  }
  throw new DrillproofError('trust.SIGNER_FAULT', 'the signature just made does not verify', { cause });
}
