import type { CodeTable } from './entry.ts';

/** Codes of DSSE envelopes and the in-toto statements in them. */
export const dsseCodes = {
  'dsse.INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The document is no DSSE envelope: a member is absent or is not what it must be.',
    action: 'See the path and the rule named; whoever made the envelope has to make it again.',
    clause: 'DSSE 1.0.2, envelope; formats §2, DSSE',
  },
  'dsse.SIGNATURES_EXCEEDED': {
    class: 'limit',
    severity: 'error',
    meaning: 'The envelope has more signatures than the limit.',
    action: 'Treat the envelope as an attack; no statement here needs so many signers.',
    clause: 'formats, Limits',
  },
  'dsse.PAYLOAD_TYPE_UNSUPPORTED': {
    class: 'unsupported',
    severity: 'error',
    meaning: 'The payload of the envelope is of another type than an in-toto statement.',
    action: 'Give the envelope of an attestation; another payload never stands for one.',
    clause: 'DSSE 1.0.2, protocol; formats §2, DSSE',
  },
  'dsse.STATEMENT_INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The payload is no in-toto Statement v1 with a statement of drillproof as its predicate.',
    action: 'See the path and the rule named; the issuer has to sign again.',
    clause: 'in-toto Statement v1; formats §2, DSSE',
  },
  'dsse.SUBJECT_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The in-toto statement names another manifest than the statement that is its predicate.',
    action: 'Treat the envelope as forged or made by a broken signer: it says two things.',
    clause: 'formats §2, DSSE',
  },
  'dsse.SUBJECT_UNKNOWN': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'An envelope that was given beside an export is about a bundle that the export does not list.',
    action: 'Give only envelopes about this export; one that should count belongs to other evidence.',
    clause: 'formats §2, DSSE',
  },
  'dsse.KEYID_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'No signature of the envelope is said to be by the key that the signed statement names.',
    action: 'Treat the envelope as put together from others; ask the issuer for it.',
    clause: 'formats §2, DSSE',
  },
  'dsse.THRESHOLD_MISSED': {
    class: 'untrusted',
    severity: 'error',
    meaning: 'Fewer different trusted keys signed the envelope than were asked for.',
    action: 'Ask for an envelope with more signatures, or trust the keys of its other signers.',
    clause: 'DSSE 1.0.2, protocol; formats §2, DSSE',
  },
  'dsse.SIGNATURE_UNCOUNTED': {
    class: 'untrusted',
    severity: 'warning',
    meaning:
      'A further signature of the envelope counts for nothing: no trusted key that speaks here made it.',
    action: 'Nothing rests on it; add the key of that signer if you mean to rely on it.',
    clause: 'DSSE 1.0.2, protocol; formats §2, DSSE',
  },
} as const satisfies CodeTable;
