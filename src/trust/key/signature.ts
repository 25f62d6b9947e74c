import { platform } from '#platform';
import { assertEcdsaDer, type P256, type P256Verifier, toHex } from '../../bytes/index.ts';

/** What is to be checked: ECDSA P-256 with SHA-256 over `message` (FIPS 186-5 §6.4.2). */
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
 * Whether the signature verifies over the message with the key. The encoding is checked first, by our own rules, so
 * that every implementation accepts the same signatures.
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
  const result =
    implementation === platform.p256 ? results.get(message)?.get(nameOf(key.point, signature)) : undefined;
  return result ?? verifierOf(key.point, implementation).verify(message, signature);
}

// By the array of the message, which nothing changes; by the values of key and signature.
const results = new WeakMap<Uint8Array, Map<string, boolean>>();
const nameOf = (point: Uint8Array, signature: Uint8Array): string => `${toHex(point)} ${toHex(signature)}`;

/**
 * Verifies signatures where a faster implementation has to be waited for, so that `verifySignature` of the same message
 * has the result. Does nothing on other platforms.
 * @throws DrillproofError `encoding.DER_INVALID`
 */
export async function verifyAhead({ key, message, signature }: SignatureCheck): Promise<void> {
  const verifier = verifierOf(key.point, platform.p256);
  if (verifier.verifyLater === undefined) return;
  const byName = results.get(message) ?? new Map<string, boolean>();
  results.set(message, byName);
  byName.set(nameOf(key.point, signature), await verifier.verifyLater(message, signature));
}

function verifierOf(point: Uint8Array, implementation: P256): P256Verifier {
  const verifiers = cache.get(implementation) ?? new Map<string, P256Verifier>();
  cache.set(implementation, verifiers);
  // By value: the array could change in the caller's hands.
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
