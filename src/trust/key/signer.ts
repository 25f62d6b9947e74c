import { assertEcdsaDer } from '../../bytes/der.ts';
import { BYTES, checkArguments, FUNCTION, TEXT, withMembers, withMethods } from '../../bytes/arguments.ts';
import type { P256, P256Verifier } from '../../bytes/platform.ts';
import { toHex } from '../../bytes/text/encoding.ts';
import { platform } from '#platform';
import { DrillproofError } from '../../errors.ts';
import { keyIdOf } from './key.ts';

export const SIGNER = withMembers('a Signer', { keyId: TEXT, sign: FUNCTION });
/** A signer, its issuer and a time. */
export const SIGNING = withMembers('a signer with its issuer', { signer: SIGNER, issuer: TEXT });

/** A signature to check: ECDSA P-256 with SHA-256 over `message` (FIPS 186-5 §6.4.2). */
export type SignatureCheck = {
  /** The key; only its uncompressed point counts. */
  readonly key: { readonly point: Uint8Array };
  readonly message: Uint8Array;
  /** DER. Either half of the range of s is valid, so nothing may be identified by these bytes. */
  readonly signature: Uint8Array;
  /** Default: that of the platform. */
  readonly implementation?: P256;
};

/** The most verifiers in the cache of an implementation; the oldest is removed first. */
const MAX_VERIFIERS = 256;

// Importing a key costs up to as much as a check, and an export is signed by few keys.
const cache = new WeakMap<P256, Map<string, P256Verifier>>();

/**
 * Verifies a signature over a message with a key. The encoding is checked first, by our own rules, so that every
 * implementation accepts the same signatures.
 * @throws DrillproofError `encoding.DER_INVALID` for a signature that is not strict DER, `trust.KEY_INVALID` for a
 *   point that is not on the curve
 */
export function verifySignature({
  key,
  message,
  signature,
  implementation = platform.p256,
}: SignatureCheck): boolean {
  assertEcdsaDer(signature);
  return findVerifier(key.point, implementation).verify(message, signature);
}

/** `verifySignature`, or a function with the same results. */
export type VerifySignature = (check: SignatureCheck) => boolean;

type Pair = Pick<SignatureCheck, 'key' | 'signature'>;
const nameOf = ({ key, signature }: Pair): string => `${toHex(key.point)} ${toHex(signature)}`;

/**
 * Verifies signatures of one message with the asynchronous implementation of the platform, if there is one. Returns
 * `verifySignature` with these results: 0.2 ms for each in browsers, where the synchronous implementation needs 2.2 ms.
 * @throws DrillproofError `encoding.DER_INVALID`
 */
export async function verifyAhead(
  message: Uint8Array,
  pairs: readonly Pair[],
  implementation: P256 = platform.p256,
): Promise<VerifySignature> {
  const results = new Map<string, boolean>();
  for (const pair of pairs) {
    const verifier = findVerifier(pair.key.point, implementation);
    if (verifier.verifyLater === undefined) continue;
    assertEcdsaDer(pair.signature);
    results.set(nameOf(pair), await verifier.verifyLater(message, pair.signature));
  }
  return (check) =>
    (check.message === message ? results.get(nameOf(check)) : undefined) ??
    verifySignature({ implementation, ...check });
}

function findVerifier(point: Uint8Array, implementation: P256): P256Verifier {
  const verifiers = cache.get(implementation) ?? new Map<string, P256Verifier>();
  cache.set(implementation, verifiers);
  // By value, because the caller could change the array.
  const name: string = Reflect.apply(String.fromCharCode, undefined, point);
  const cached = verifiers.get(name);
  if (cached !== undefined) return cached;
  const verifier = implementation.verifier(point);
  for (const oldest of verifiers.keys()) {
    if (verifiers.size < MAX_VERIFIERS) break;
    verifiers.delete(oldest);
  }
  verifiers.set(name, verifier);
  return verifier;
}

/** Something that signs: a private key in memory, or a device or service that holds one (formats §2). */
export type Signer = {
  /** The name of the key in statements. */
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
 * Verifies every signature once before it is returned. A bit flip while signing would damage evidence for good, and a
 * faulty signature can reveal the private key (Boneh, DeMillo, Lipton 1997).
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
