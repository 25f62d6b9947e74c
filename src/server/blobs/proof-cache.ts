import type { Digest } from '../../bytes/index.ts';

type Proof = { readonly identity: string; readonly matches: Promise<boolean> };

export type ProofCache = {
  /** The result of `hash`, computed once for each identity of the bytes under a digest. */
  check(digest: Digest, identity: string, hash: () => Promise<boolean>): Promise<boolean>;
};

const MAX_PROOFS = 100_000;

/**
 * Remembers which stored bytes were hashed, and whether they matched. Simultaneous requests share one hash; a
 * hash that failed is forgotten.
 */
export function proofCache(maxProofs: number = MAX_PROOFS): ProofCache {
  const proofs = new Map<Digest, Proof>();
  const forgetOldest = (): void => {
    const oldest = proofs.keys().next();
    if (proofs.size > maxProofs && oldest.done !== true) proofs.delete(oldest.value);
  };
  return {
    check(digest, identity, hash) {
      const known = proofs.get(digest);
      if (known?.identity === identity) return known.matches;
      const proof: Proof = { identity, matches: hash() };
      proofs.delete(digest);
      proofs.set(digest, proof);
      forgetOldest();
      proof.matches.catch(() => {
        if (proofs.get(digest) === proof) proofs.delete(digest);
      });
      return proof.matches;
    },
  };
}
