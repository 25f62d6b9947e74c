import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalBytes, fromBase64url, toBase64url } from '../../bytes/index.ts';
import { fillPath, operationRow, type UploadAddressQuery } from '../../contract/index.ts';

/** The claims of an upload address: which bytes, for which attempt, until when. */
export type UploadFacts = Omit<UploadAddressQuery, 'signature'> & {
  readonly projectId: string;
  readonly buildAttemptId: string;
};

export type UploadAddresses = {
  /** The address: below the public one of the control plane, or relative to whatever it was asked at. */
  sign(facts: UploadFacts): string;
  /** Whether this control plane signed the address. Its expiry is not checked. */
  isSigned(facts: UploadFacts, signature: string): boolean;
};

/**
 * Upload addresses, authenticated with HMAC-SHA-256 over all their claims. An address allows sending the bytes that it
 * names and nothing else. The Host header never changes one: the public address comes from configuration only.
 */
export function createUploadAddresses(key: Uint8Array, publicUrl: () => string): UploadAddresses {
  const seal = ({ projectId, buildAttemptId, artifactDigest, bytes, expiresAtMs }: UploadFacts): Buffer =>
    createHmac('sha256', key)
      .update(canonicalBytes({ projectId, buildAttemptId, artifactDigest, bytes, expiresAtMs }))
      .digest();

  return {
    sign(facts) {
      const { projectId, buildAttemptId, artifactDigest, bytes, expiresAtMs } = facts;
      const query = new URLSearchParams({
        artifactDigest,
        bytes: String(bytes),
        expiresAtMs: String(expiresAtMs),
        signature: toBase64url(seal(facts)),
      });
      const path = fillPath(operationRow('builds.uploads.put'), { projectId, buildAttemptId });
      return `${publicUrl()}${path}?${query.toString()}`;
    },
    isSigned(facts, signature) {
      const wanted = seal(facts);
      const given = decoded(signature);
      return given?.length === wanted.length && timingSafeEqual(given, wanted);
    },
  };
}

function decoded(signature: string): Uint8Array | undefined {
  try {
    return fromBase64url(signature);
  } catch {
    return undefined;
  }
}
