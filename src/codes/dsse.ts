import type { CodeTable } from './entry.ts';

/** Codes of DSSE envelopes and the in-toto statements in them. */
export const dsseCodes = {
  'dsse.INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The document is not a DSSE envelope.',
    action: 'Correct the member at the path in the finding, and make the envelope again.',
    clause: 'DSSE 1.0.2, envelope; formats §2, DSSE',
  },
  'dsse.SIGNATURES_EXCEEDED': {
    class: 'limit',
    severity: 'error',
    meaning: 'The envelope has more signatures than the limit.',
    action: 'Treat the envelope as an attack; no statement needs so many signers.',
    clause: 'formats, Limits',
  },
  'dsse.PAYLOAD_TYPE_UNSUPPORTED': {
    class: 'unsupported',
    severity: 'error',
    meaning: 'The payload of the envelope is not an in-toto statement.',
    action: 'Use an envelope whose payload type is application/vnd.in-toto+json.',
    clause: 'DSSE 1.0.2, protocol; formats §2, DSSE',
  },
  'dsse.STATEMENT_INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The payload is not an in-toto Statement v1 with a drillproof statement as its predicate.',
    action: 'Correct the member at the path in the finding, and ask the issuer to sign again.',
    clause: 'in-toto Statement v1; formats §2, DSSE',
  },
  'dsse.SUBJECT_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The in-toto statement and its predicate name different manifests.',
    action: 'Treat the envelope as forged or made by a broken signer.',
    clause: 'formats §2, DSSE',
  },
  'dsse.SUBJECT_UNKNOWN': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'An envelope that was given with an export is about a bundle that the export does not list.',
    action: 'Pass only envelopes about this export.',
    clause: 'formats §2, DSSE',
  },
  'dsse.KEYID_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'No signature of the envelope has the key id that the signed statement names.',
    action: 'Ask the issuer for the original envelope; this one was assembled from others.',
    clause: 'formats §2, DSSE',
  },
  'dsse.THRESHOLD_MISSED': {
    class: 'untrusted',
    severity: 'error',
    meaning: 'Fewer trusted keys signed the envelope than the threshold requires.',
    action: 'Get an envelope with more signatures, or trust the keys of its other signers.',
    clause: 'DSSE 1.0.2, protocol; formats §2, DSSE',
  },
  'dsse.SIGNATURE_UNCOUNTED': {
    class: 'untrusted',
    severity: 'warning',
    meaning:
      'An additional signature does not count, because it is not by a trusted key that is valid for the statement.',
    action: 'Add the key of that signer if you want to rely on it.',
    clause: 'DSSE 1.0.2, protocol; formats §2, DSSE',
  },
} as const satisfies CodeTable;
