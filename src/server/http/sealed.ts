import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalBytes, fromBase64url, type JsonValue, toBase64url } from '../../bytes/index.ts';
import { fillPath, operationRow, type UploadAddressQuery } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';

/** HMAC-SHA-256 over a canonical document, and bytes after it. */
const seal = (key: Uint8Array, document: JsonValue, bytes: Uint8Array = new Uint8Array()): Buffer =>
  createHmac('sha256', key).update(canonicalBytes(document)).update(bytes).digest();

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

/** The bytes of a text in base64url; none when it is malformed, which no seal has. */
function decode(text: string): Uint8Array {
  try {
    return fromBase64url(text);
  } catch {
    return new Uint8Array();
  }
}

/** The list that a cursor belongs to; one made for another list is refused. */
export type CursorScope = {
  readonly list: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly evidenceExportId?: string;
  readonly authoringSessionId?: string;
};

export type Cursors = {
  /** A cursor that continues after an ordinal. */
  encode(scope: CursorScope, afterOrdinal: number): string;
  /** The ordinal to continue after; -1 without a cursor. @throws DrillproofError `control.CURSOR_INVALID` */
  decode(scope: CursorScope, cursor: string | undefined): number;
};

const POSITION_BYTES = 8;

/**
 * Cursors authenticated with HMAC-SHA-256: 8 bytes of position and 32 of MAC over the scope and the position, in
 * base64url. They grant nothing: every page is authorized again (control API, local-reports).
 */
export const createCursors = (key: Uint8Array): Cursors => ({
  encode(scope, afterOrdinal) {
    const position = Buffer.alloc(POSITION_BYTES);
    position.writeBigUInt64BE(BigInt(afterOrdinal));
    return toBase64url(Buffer.concat([position, seal(key, { ...scope }, position)]));
  },
  decode(scope, cursor) {
    if (cursor === undefined) return -1;
    const bytes = decode(cursor);
    const position = bytes.subarray(0, POSITION_BYTES);
    if (!sameBytes(bytes.subarray(POSITION_BYTES), seal(key, { ...scope }, position)))
      throw new DrillproofError('control.CURSOR_INVALID', 'the cursor does not belong to this list');
    return Number(Buffer.from(position).readBigUInt64BE());
  },
});

/** The claims of an upload address: which bytes, for which attempt, until when. */
export type UploadFacts = Omit<UploadAddressQuery, 'signature'> & {
  readonly projectId: string;
  readonly buildAttemptId: string;
};

export type UploadAddresses = {
  /** The address: below the public one of the control plane, or relative to the requested address. */
  sign(facts: UploadFacts): string;
  /** Whether this control plane signed the address. Its expiry is not checked. */
  isSigned(facts: UploadFacts, signature: string): boolean;
};

/**
 * Upload addresses, authenticated with HMAC-SHA-256 over all their claims. An address allows sending the bytes that it
 * names and nothing else. The Host header never changes one: the public address comes from configuration only.
 */
export function createUploadAddresses(key: Uint8Array, publicUrl: () => string): UploadAddresses {
  const sealFacts = ({
    projectId,
    buildAttemptId,
    artifactDigest,
    bytes,
    expiresAtMs,
  }: UploadFacts): Buffer => seal(key, { projectId, buildAttemptId, artifactDigest, bytes, expiresAtMs });
  return {
    sign(facts) {
      const { projectId, buildAttemptId, artifactDigest, bytes, expiresAtMs } = facts;
      const query = new URLSearchParams({
        artifactDigest,
        bytes: String(bytes),
        expiresAtMs: String(expiresAtMs),
        signature: toBase64url(sealFacts(facts)),
      });
      const path = fillPath(operationRow('builds.uploads.put'), { projectId, buildAttemptId });
      return `${publicUrl()}${path}?${query.toString()}`;
    },
    isSigned: (facts, signature) => sameBytes(decode(signature), sealFacts(facts)),
  };
}
