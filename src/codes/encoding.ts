import type { CodeTable } from './entry.ts';

/** Codes of the encodings: UTF-8, JSON, base64url, hex, DER. */
export const encodingCodes = {
  'encoding.UTF8_INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The bytes are not well-formed UTF-8.',
    action: 'Ask the producer for the original file; do not re-encode it.',
    clause: 'RFC 8259 §8.1',
  },
  'encoding.HEX_INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The text is not lowercase hexadecimal of the required length.',
    action: 'Write digests as sha256: followed by 64 characters of 0-9 a-f.',
    clause: 'formats §1',
  },
  'encoding.BASE64URL_INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The text is not base64url without padding and with zero spare bits.',
    action: 'Ask the producer to encode as RFC 4648 §5 describes, without "=".',
    clause: 'RFC 4648 §5',
  },
  'encoding.DER_INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The bytes are not the one DER encoding of an ECDSA signature over P-256.',
    action:
      'Ask the producer for a strict DER signature: SEQUENCE of two positive minimal INTEGERs, nothing after.',
    clause: 'X.690 §8.3, §10.1; formats §2',
  },
  'json.INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The text is not JSON.',
    action: 'Look at the offset named; the file may be truncated or of another kind.',
    clause: 'RFC 8259 §2',
  },
  'json.BOM': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The JSON text begins with a byte order mark.',
    action: 'Ask the producer to write UTF-8 without a byte order mark.',
    clause: 'RFC 8259 §8.1',
  },
  'json.MEMBER_DUPLICATE': {
    class: 'malformed',
    severity: 'error',
    meaning: 'An object has two members of one name, so two readers could see two contents.',
    action: 'Treat the document as forged until its producer explains it.',
    clause: 'RFC 8785 §3.1; RFC 7493 §2.3',
  },
  'json.SURROGATE_LONE': {
    class: 'malformed',
    severity: 'error',
    meaning: 'A string holds half of a surrogate pair, which is no Unicode character.',
    action: 'Ask the producer for well-formed Unicode.',
    clause: 'RFC 7493 §2.1',
  },
  'json.NUMBER_INEXACT': {
    class: 'malformed',
    severity: 'error',
    meaning: 'A number has another decimal value than the double that holds it.',
    action: 'Ask the producer to write such a value as a string.',
    clause: 'RFC 7493 §2.2; formats §1',
  },
  'json.DEPTH_EXCEEDED': {
    class: 'limit',
    severity: 'error',
    meaning: 'Objects and arrays are nested deeper than the limit.',
    action: 'Evidence documents need a few levels; treat the document as hostile.',
    clause: 'RFC 8259 §9; formats §1',
  },
  'json.TOO_LARGE': {
    class: 'limit',
    severity: 'error',
    meaning: 'The document has more bytes than its kind may have.',
    action: 'Raise the limit in the options if you trust the source.',
    clause: 'formats, Limits',
  },
  'json.VALUES_EXCEEDED': {
    class: 'limit',
    severity: 'error',
    meaning: 'The document has more JSON values than the limit.',
    action: 'Raise the limit in the options if you trust the source.',
    clause: 'formats, Limits',
  },
  'json.NOT_CANONICAL': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The document differs from its own RFC 8785 form.',
    action: 'The file was edited or re-written after packing; get the original bytes.',
    clause: 'RFC 8785 §3; formats §1',
  },
  'json.NOT_REPRESENTABLE': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The value has no JSON form: not finite, not plain data, or a lone surrogate.',
    action: 'Pass only null, booleans, finite numbers, well-formed strings, arrays and plain objects.',
    clause: 'RFC 8785 §3.2',
  },
} as const satisfies CodeTable;
