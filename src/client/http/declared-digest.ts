import { type Digest, digestOf } from '../../bytes/index.ts';
import { TransportError } from '../../errors.ts';

/**
 * Checks the bytes of a whole answer against the `Repr-Digest` that came with them (RFC 9530 §3). It finds what was
 * changed on the way and proves nothing else: who changes both goes unnoticed. Without one there is nothing to check.
 * @throws TransportError `transport.DIGEST_MISMATCH`, which may pass when the answer is asked for again
 */
export function assertDeclaredDigest(bytes: Uint8Array, declared: Digest | undefined): void {
  if (declared === undefined || digestOf(bytes) === declared) return;
  throw new TransportError('transport.DIGEST_MISMATCH', 'the answer is not what its Repr-Digest declares', {
    details: { passes: true },
  });
}
