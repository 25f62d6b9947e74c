import { parseJson } from '../bytes/json-parse.ts';
import { toUtf8 } from '../bytes/utf8.ts';
import * as z from 'zod';
import { DrillproofError } from '../errors.ts';

/** What a data folder and a place of blobs say of themselves, so that another version of the program refuses them. */
const VERSION = 1;
const markerSchema = z.object({ kind: z.string(), schemaVersion: z.number().int() });
const MAX_MARKER_BYTES = 4096;

export type MarkerKind = 'drillproof-data' | 'drillproof-blobs';

export const markerBytes = (kind: MarkerKind): Uint8Array =>
  toUtf8(`${JSON.stringify({ kind, schemaVersion: VERSION })}\n`);

/**
 * Whether what is marked so may be used by this program.
 * @throws DrillproofError `server.CONFIG_INVALID` for another kind or version, or what is no marker
 */
export function assertMarker(kind: MarkerKind, bytes: Uint8Array, where: string): void {
  const { data } = markerSchema.safeParse(parsed(bytes));
  if (data?.kind !== kind) {
    throw new DrillproofError('server.CONFIG_INVALID', `${where} is marked as the data of something else`);
  }
  if (data.schemaVersion !== VERSION) {
    const message = `${where} has data of version ${data.schemaVersion}, this program knows version ${VERSION}`;
    throw new DrillproofError('server.CONFIG_INVALID', message);
  }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes, { maxBytes: MAX_MARKER_BYTES });
  } catch {
    return undefined;
  }
}
