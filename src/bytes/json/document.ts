import { DrillproofError } from '../../errors.ts';
import { canonicalJson } from './canonical.ts';
import { checkJsonLimits, type JsonLimits } from './limits.ts';
import { parseJsonText, type JsonValue } from './parse.ts';
import { fromUtf8 } from '../text/utf8.ts';

/**
 * Parses a document that must equal its own RFC 8785 bytes (formats §1, *Canonical or parsed*).
 *
 * Equality with the canonical form implies everything that strict parsing checks: a duplicate member, an inexact number
 * and a lone surrogate do not survive the round trip. So the native parser is used, and the strict parser only runs to
 * name the fault.
 * @throws DrillproofError `json.NOT_CANONICAL`, and all that `parseJson` throws
 */
export function parseCanonicalJson(bytes: Uint8Array, limits: JsonLimits = {}): JsonValue {
  checkJsonLimits(bytes, limits); // the native parser has no limits of its own
  const text = fromUtf8(bytes);
  const value = equalsCanonical(text);
  if (value !== undefined) return value.value;
  parseJsonText(text);
  throw new DrillproofError(
    'json.NOT_CANONICAL',
    'the document does not equal its canonical form (RFC 8785)',
  );
}

function equalsCanonical(text: string): { value: JsonValue } | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return canonicalJson(value) === text ? { value } : undefined;
  } catch {
    return undefined; // the strict parser says why
  }
}
