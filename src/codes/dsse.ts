import { cite } from './entry.ts';

/** Codes of DSSE envelopes and the in-toto statements in them. */
export const dsseCodes = {
  'dsse.INVALID': cite('DSSE 1.0.2, envelope; formats §2, DSSE').malformed(
    'The document is not a DSSE envelope.',
    'Correct the member at the path in the finding, and make the envelope again.',
  ),
  'dsse.SIGNATURES_EXCEEDED': cite('formats, Limits').limit(
    'The envelope has more signatures than the limit.',
    'Treat the envelope as an attack; no statement needs so many signers.',
  ),
  'dsse.PAYLOAD_TYPE_UNSUPPORTED': cite('DSSE 1.0.2, protocol; formats §2, DSSE').unsupported(
    'The payload of the envelope is not an in-toto statement.',
    'Use an envelope whose payload type is application/vnd.in-toto+json.',
  ),
  'dsse.STATEMENT_INVALID': cite('in-toto Statement v1; formats §2, DSSE').malformed(
    'The payload is not an in-toto Statement v1 with a drillproof statement as its predicate.',
    'Correct the member at the path in the finding, and ask the issuer to sign again.',
  ),
  'dsse.SUBJECT_MISMATCH': cite('formats §2, DSSE').mismatch(
    'The in-toto statement and its predicate name different manifests.',
    'Treat the envelope as forged or made by a broken signer.',
  ),
  'dsse.SUBJECT_UNKNOWN': cite('formats §2, DSSE').mismatch(
    'An envelope that was given with an export is about a bundle that the export does not list.',
    'Pass only envelopes about this export.',
  ),
  'dsse.KEYID_MISMATCH': cite('formats §2, DSSE').mismatch(
    'No signature of the envelope has the key id that the signed statement names.',
    'Ask the issuer for the original envelope; this one was assembled from others.',
  ),
  'dsse.THRESHOLD_MISSED': cite('DSSE 1.0.2, protocol; formats §2, DSSE').untrusted(
    'Fewer trusted keys signed the envelope than the threshold requires.',
    'Get an envelope with more signatures, or trust the keys of its other signers.',
  ),
  'dsse.SIGNATURE_UNCOUNTED': cite('DSSE 1.0.2, protocol; formats §2, DSSE').untrusted(
    'An additional signature does not count, because it is not by a trusted key that is valid for the statement.',
    'Add the key of that signer if you want to rely on it.',
    'warning',
  ),
} as const;
