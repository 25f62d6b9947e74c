import { cite } from './entry.ts';

/** Codes of the encodings: UTF-8, JSON, base64url, hex, DER. */
export const encodingCodes = {
  'encoding.UTF8_INVALID': cite('RFC 8259 §8.1').malformed(
    'The bytes are not well-formed UTF-8.',
    'Get the original file from its producer instead of converting this one.',
  ),
  'encoding.HEX_INVALID': cite('formats §1').malformed(
    'The text is not lowercase hexadecimal of the required length.',
    'Write digests as sha256: followed by 64 characters of 0-9 a-f.',
  ),
  'encoding.BASE64URL_INVALID': cite('RFC 4648 §5').malformed(
    'The text is not base64url, or it has padding or spare bits that are not zero.',
    'Encode it as RFC 4648 §5 describes, without "=".',
  ),
  'encoding.DER_INVALID': cite('X.690 §8.3, §10.1; formats §2').malformed(
    'The bytes are not a strict DER encoding of an ECDSA signature over P-256.',
    'Encode the signature as a SEQUENCE of two positive, minimal INTEGERs with nothing after it.',
  ),
  'json.INVALID': cite('RFC 8259 §2').malformed(
    'The text is not JSON.',
    'Look at the offset in the message; the file may be truncated or of another kind.',
  ),
  'json.BOM': cite('RFC 8259 §8.1').malformed(
    'The JSON text starts with a byte order mark.',
    'Write the file as UTF-8 without a byte order mark.',
  ),
  'json.MEMBER_DUPLICATE': cite('RFC 8785 §3.1; RFC 7493 §2.3').malformed(
    'An object has two members with the same name, so two readers could read different values.',
    'Treat the document as forged until its producer explains it.',
  ),
  'json.SURROGATE_LONE': cite('RFC 7493 §2.1').malformed(
    'A string contains half of a surrogate pair, which is not a Unicode character.',
    'Ask the producer for well-formed Unicode.',
  ),
  'json.NUMBER_INEXACT': cite('RFC 7493 §2.2; formats §1').malformed(
    'A number changes its decimal value when it is read as a double.',
    'Ask the producer to write the value as a string.',
  ),
  'json.DEPTH_EXCEEDED': cite('RFC 8259 §9; formats §1').limit(
    'Objects and arrays are nested deeper than the limit.',
    'Treat the document as an attack; evidence needs only a few levels.',
  ),
  'json.TOO_LARGE': cite('formats, Limits').limit(
    'The document has more bytes than the limit for its kind.',
    'Do not trust it; only a program that uses the library can raise the limit.',
  ),
  'json.VALUES_EXCEEDED': cite('formats, Limits').limit(
    'The document has more JSON values than the limit.',
    'Do not trust it; only a program that uses the library can raise the limit.',
  ),
  'json.NOT_CANONICAL': cite('RFC 8785 §3; formats §1').malformed(
    'The document does not equal its own canonical form (RFC 8785).',
    'Get the original bytes; the file was rewritten after packing.',
  ),
  'json.NOT_REPRESENTABLE': cite('RFC 8785 §3.2').malformed(
    'The value has no JSON form: it is not finite, not plain data, or contains a lone surrogate.',
    'Pass only null, booleans, finite numbers, well-formed strings, arrays and plain objects.',
  ),
} as const;
