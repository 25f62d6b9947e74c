import { cite } from './entry.ts';

const ledgers = cite('formats §9');
const tokens = cite('RFC 3161 §2.4.2');

/** Codes of timestamp tokens. A token can only add a proof, so one that does not count is a warning, and a false one is an error. */
export const timestampCodes = {
  'timestamp.INVALID': cite('RFC 3161 §2.4.2; RFC 5652 §5; formats §9').malformed(
    'The file is not a timestamp token: CMS SignedData with one signer and a TSTInfo.',
    'Get the token again; if the file is the response of an authority, write its token first (drillproof timestamp FILE --response REPLY).',
  ),
  'timestamp.ALGORITHM_REFUSED': ledgers.unsupported(
    'The token or a certificate of its chain uses an algorithm or key that is too weak, or unknown here.',
    'Get a token with SHA-256 that is signed with RSA of 2048 bits or more, or ECDSA on P-256, P-384 or P-521.',
  ),
  'timestamp.SIGNATURE_INVALID': cite('RFC 5652 §5.4, §5.6; formats §9').mismatch(
    'The signature of the token does not verify with the certificate that the signed attributes name.',
    'Treat the token as forged, and get a new one.',
  ),
  'timestamp.CERTIFICATE_INVALID': cite('RFC 3161 §2.3; RFC 5816 §2.2; formats §9').untrusted(
    'The certificate that signed the token may not sign timestamps, or is not the one that the signed attributes name.',
    'Do not rely on the token; get one from an authority whose certificate has only the critical purpose timeStamping.',
  ),
  'timestamp.CHAIN_INVALID': cite('RFC 5280 §6; formats §9').untrusted(
    'No chain from the certificate that signed the token to a trusted one was valid at the time of the token.',
    'Do not rely on the token; get one whose certificates were valid when it was made.',
  ),
  'timestamp.AUTHORITY_UNKNOWN': ledgers.untrusted(
    'No certificate of the trust store issued the one that signed the token, so the token proves nothing here.',
    'If you trust the authority, add its certificate (drillproof keys add CERTIFICATE --purpose timestamp).',
    'warning',
  ),
  'timestamp.AUTHORITY_REVOKED': ledgers.untrusted(
    'The trust store does not trust the authority for the time of the token, or revoked it as compromised.',
    'Rely on another token, or on a renewal that another authority made before the revocation.',
    'warning',
  ),
  'timestamp.IN_FUTURE': ledgers.expired(
    'The token states a time after the time of this verification.',
    'Check the clock of the machine, or the time of the verification that you gave (--as-of TIME).',
  ),
  'timestamp.NOT_CHECKED': ledgers.claimed(
    'A timestamp token is present, but the trust store has no certificate of a time authority, so it was not checked.',
    'Add the certificate of the authority (drillproof keys add CERTIFICATE --purpose timestamp).',
    'warning',
  ),
  'timestamp.SUBJECT_UNKNOWN': ledgers.extra(
    'The token is about other bytes than this evidence, so it proves nothing about it.',
    'Pass only tokens of this evidence.',
    'warning',
  ),
  'timestamp.IMPRINT_MISMATCH': tokens.mismatch(
    'The token is about other bytes than the file.',
    'Request a token for this file; the reply belongs to another one, or the file changed.',
  ),
  'timestamp.NONCE_MISMATCH': tokens.mismatch(
    'The token does not have the nonce of the request, so it may be an old reply.',
    'Request a new token.',
  ),
  'timestamp.REFUSED': tokens.refused(
    'The time authority did not grant a token.',
    'Read the reason in the message, and ask the authority or use another one.',
  ),
  'timestamp.UNREACHABLE': cite('RFC 3161 §3.4').inaccessible(
    'The time authority could not be reached, or its answer is not a response.',
    'Check the address and the network, or fetch the reply on another machine (drillproof timestamp FILE --response REPLY).',
  ),
} as const;

const challenge = cite('docs/verify/time.md, Challenges');

/** Codes of ledgers of challenges. */
export const challengeCodes = {
  'challenge.INVALID': challenge.malformed(
    'A line of the ledger is not a signed challenge of a known version, or repeats a seed.',
    'Get the original ledger; challenges are only added by "drillproof challenge issue".',
  ),
  'challenge.ORDER_MISMATCH': challenge.mismatch(
    'A challenge does not directly follow the one before it.',
    'Find out who removed or replaced a line, and get the original ledger from another copy.',
  ),
  'challenge.FORKED': challenge.mismatch(
    'Two different challenges follow the same one.',
    'Ask the issuer which of them belongs to the ledger; only one can.',
  ),
  'challenge.PREVIOUS_MISSING': challenge.missing(
    'The challenge before this one is missing, so the ledger has a gap.',
    'Get the whole ledger; a missing challenge could be one that was not answered.',
  ),
  'challenge.LAST_MISMATCH': challenge.mismatch(
    'The last challenge is not the expected one, so newer ones may be missing.',
    'Get the newest ledger from its issuer.',
  ),
} as const;
