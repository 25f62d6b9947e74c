import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { fromBase64url, toBase64url } from '../../bytes/text/encoding.ts';
import type { JsonValue } from '../../bytes/json/parse.ts';
import { fillPath } from '../../contract/operations/rows.ts';
import { operationRow } from '../../contract/operations/operations.ts';
import type { UploadAddressQuery } from '../../contract/resources/build.ts';
import { DrillproofError } from '../../errors.ts';

const seal = (key: Uint8Array, document: JsonValue, bytes: Uint8Array = new Uint8Array()): Buffer =>
  createHmac('sha256', key).update(canonicalBytes(document)).update(bytes).digest();

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

/** Decodes base64url; malformed text gives no bytes, which never equal a seal. */
function decode(text: string): Uint8Array {
  try {
    return fromBase64url(text);
  } catch {
    return new Uint8Array();
  }
}

/** The list of a cursor; a cursor of another list is refused. */
export type CursorScope = {
  readonly list: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly evidenceExportId?: string;
  readonly authoringSessionId?: string;
};

export type Cursors = ReturnType<typeof createCursors>;

const POSITION_BYTES = 8;

/**
 * Creates cursors with an HMAC-SHA-256: in base64url, 8 bytes of position and 32 of MAC over the scope and the position.
 * They grant nothing: every page is authorized again (control API, local-reports).
 */
export const createCursors = (key: Uint8Array) => ({
  encode(scope: CursorScope, afterOrdinal: number): string {
    const position = Buffer.alloc(POSITION_BYTES);
    position.writeBigUInt64BE(BigInt(afterOrdinal));
    return toBase64url(Buffer.concat([position, seal(key, { ...scope }, position)]));
  },
  /** Returns the ordinal to continue after; -1 without a cursor. @throws DrillproofError `control.CURSOR_INVALID` */
  decode(scope: CursorScope, cursor: string | undefined): number {
    if (cursor === undefined) return -1;
    const bytes = decode(cursor);
    const position = bytes.subarray(0, POSITION_BYTES);
    if (!sameBytes(bytes.subarray(POSITION_BYTES), seal(key, { ...scope }, position)))
      throw new DrillproofError('control.CURSOR_INVALID', 'the cursor does not belong to this list');
    return Number(Buffer.from(position).readBigUInt64BE());
  },
});

export type UploadFacts = Omit<UploadAddressQuery, 'signature'> & {
  readonly projectId: string;
  readonly buildAttemptId: string;
};

export type UploadAddresses = ReturnType<typeof createUploadAddresses>;

/**
 * Creates upload addresses with an HMAC-SHA-256 over all claims. An address only allows sending the bytes that it names.
 * The Host header has no influence: the public address comes from the configuration.
 */
export function createUploadAddresses(key: Uint8Array, publicUrl: () => string) {
  const sealFacts = (facts: UploadFacts): Buffer => seal(key, { ...facts });
  return {
    /** Returns an address below the public address, or one relative to the requested address. */
    sign(facts: UploadFacts): string {
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
    /** Returns whether this control plane signed the address; the expiry is not checked. */
    isSigned: (facts: UploadFacts, signature: string): boolean =>
      sameBytes(decode(signature), sealFacts(facts)),
  };
}
