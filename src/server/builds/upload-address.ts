import { createHmac, timingSafeEqual } from 'node:crypto';
import { fromBase64url, toBase64url } from '../../bytes/text/base64url.ts';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { fillPath, operationRow, type UploadAddressQuery } from '../../contract/index.ts';

/** What an upload address stands for: these bytes, of this attempt, until then. */
export type UploadFacts = Omit<UploadAddressQuery, 'signature'> & {
  readonly projectId: string;
  readonly buildAttemptId: string;
};

export type UploadAddresses = {
  /** The address: below the public one of the control plane, or relative to whatever it was asked at. */
  sign(facts: UploadFacts): string;
  /** Whether this control plane gave the address out. It says nothing of its end. */
  isSigned(facts: UploadFacts, signature: string): boolean;
};

/**
 * Upload addresses, authenticated with HMAC-SHA-256 over all that they say. Who has one may send the bytes that it
 * names and nothing else. A Host header never changes one: only configuration says where the control plane is.
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
