import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalBytes, fromBase64url, toBase64url } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';

/** The list that a cursor belongs to; one made for another list is refused. */
export type CursorScope = {
  readonly list: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly evidenceExportId?: string;
};

export type Cursors = {
  /** A cursor that continues after an ordinal. */
  encode(scope: CursorScope, afterOrdinal: number): string;
  /** The ordinal to continue after; -1 without a cursor. @throws DrillproofError `control.CURSOR_INVALID` */
  decode(scope: CursorScope, cursor: string | undefined): number;
};

const POSITION_BYTES = 8;
const MAC_BYTES = 32;

/**
 * Cursors authenticated with HMAC-SHA-256: 8 bytes of position and 32 of MAC over the scope and the position, in
 * base64url. They grant nothing: every page is authorized again (control API, local-reports).
 */
export function createCursors(key: Uint8Array): Cursors {
  const seal = (scope: CursorScope, position: Uint8Array): Buffer =>
    createHmac('sha256', key)
      .update(canonicalBytes({ ...scope }))
      .update(position)
      .digest();

  return {
    encode(scope, afterOrdinal) {
      const position = Buffer.alloc(POSITION_BYTES);
      position.writeBigUInt64BE(BigInt(afterOrdinal));
      return toBase64url(Buffer.concat([position, seal(scope, position)]));
    },
    decode(scope, cursor) {
      if (cursor === undefined) return -1;
      const bytes = decoded(cursor);
      const position = bytes.subarray(0, POSITION_BYTES);
      const mac = bytes.subarray(POSITION_BYTES);
      if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, seal(scope, position))) throw invalid();
      return Number(Buffer.from(position).readBigUInt64BE());
    },
  };
}

function decoded(cursor: string): Uint8Array {
  try {
    return fromBase64url(cursor);
  } catch (cause) {
    throw invalid(cause);
  }
}

const invalid = (cause?: unknown): DrillproofError =>
  new DrillproofError('control.CURSOR_INVALID', 'the cursor does not belong to this list', { cause });
