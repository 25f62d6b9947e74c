import { DrillproofError } from '../../errors.ts';
import { canonicalJson } from './canonical.ts';
import { checkJsonLimits, type JsonLimits } from './limits.ts';
import { parseJsonText, type JsonValue } from './parse.ts';
import { fromUtf8 } from '../text/utf8.ts';

/**
 * Parses a document that must equal its own RFC 8785 bytes (formats §1, *Canonical or parsed*).
 *
 * Equality with the canonical form already rules out everything that strict parsing refuses (a second member of one
 * name, a number that its double changes and a lone surrogate are all lost or refused on the way there and back), so
 * the native parser serves here; the strict one names the fault when there is one.
 * @throws DrillproofError `json.NOT_CANONICAL`, and all that `parseJson` throws
 */
export function parseCanonicalJson(bytes: Uint8Array, limits: JsonLimits = {}): JsonValue {
  checkJsonLimits(bytes, limits); // the native parser has no limits of its own
  const text = fromUtf8(bytes);
  const value = equalsCanonical(text);
  if (value !== undefined) return value.value;
  parseJsonText(text);
  throw new DrillproofError('json.NOT_CANONICAL', 'the document differs from its own RFC 8785 form');
}

function equalsCanonical(text: string): { value: JsonValue } | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return canonicalJson(value) === text ? { value } : undefined;
  } catch {
    return undefined; // the strict parser says why
  }
}
