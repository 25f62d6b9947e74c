import { cite } from './entry.ts';

const keys = cite('formats §3');
const signers = cite('formats §2, Signer command');

/** Codes of keys, trust stores and signatures. */
export const trustCodes = {
  'trust.STORE_INVALID': cite('RFC 7517 §5; formats §3').usage(
    'The trust store is not a JWK Set of the required form.',
    'Write it again as docs/verify/keys.md describes (drillproof keys add).',
  ),
  'trust.STORE_EMPTY': keys.usage(
    'The trust store contains no keys, so no signature can be trusted.',
    'Add at least one public key (drillproof keys add).',
  ),
  'trust.KEY_INVALID': cite('RFC 7518 §6.2; RFC 5480 §2').usage(
    'The key file is not a PEM or JWK key of the required form, or its point is not on the curve.',
    'Export the key again in one of the forms in docs/verify/keys.md.',
  ),
  'trust.KEY_UNSUPPORTED': cite('RFC 7518 §3.4; formats §3').usage(
    'The key is not an ECDSA key on P-256, or is for another use or algorithm.',
    'Use an EC P-256 key with use "sig" and alg "ES256".',
  ),
  'trust.KEY_PRIVATE': keys.usage(
    'The file contains a private key where a public key is required.',
    'Remove the private key from that file at once, and use the public key.',
  ),
  'trust.KEY_PUBLIC': cite('formats §2').usage(
    'The file contains a public key, but signing needs the private key.',
    'Pass the PEM file with the private key to the command that signs.',
  ),
  'trust.KEY_ENCRYPTED': cite('RFC 5958 §3; formats §2').usage(
    'The private key is encrypted with a passphrase, which is not supported.',
    'Decrypt it with "openssl pkey -in KEY.pem -out PLAIN.pem", or sign with --signer.',
  ),
  'trust.SIGNER_FAULT': cite('FIPS 186-5 §6.4; formats §2').internal(
    'A new signature does not verify with its own key, so it was discarded.',
    'Do not sign on this machine or with this signer until the fault is found.',
  ),
  'trust.SIGNER_FAILED': signers.inaccessible(
    'The signer command could not be started, or ended with an error.',
    'Run the command with a message on standard input to see its error.',
  ),
  'trust.SIGNER_TIMEOUT': signers.inaccessible(
    'The signer command did not answer before the timeout and was stopped.',
    'Check whether it waits for a PIN or a touch, or raise --signer-timeout.',
  ),
  'trust.SIGNER_OUTPUT': signers.internal(
    'The output of the signer command is not a signature.',
    'Write one signature, in DER or base64 of DER, and nothing else to standard output.',
  ),
  'trust.KEY_DUPLICATE': keys.usage(
    'Two keys have the same issuer and key id.',
    'Remove one of the two keys.',
  ),
  'trust.KEY_UNKNOWN': keys.untrusted(
    'The trust store has no key with this issuer and key id.',
    'If the issuer confirms the key through another channel, add it to the trust store (drillproof keys add).',
  ),
  'trust.KEY_REVOKED': keys.untrusted(
    'The key is revoked, and the revocation does not keep this statement valid.',
    'Do not rely on the evidence; ask the issuer for a signature by a current key.',
  ),
  'trust.KEY_EXPIRED': keys.expired(
    'The statement was issued after the key expired.',
    'Ask the issuer why a retired key was used.',
  ),
  'trust.KEY_NOT_YET_VALID': keys.expired(
    'The statement was issued before the key became valid.',
    'Ask the issuer for the correct validity period of the key, or treat the statement as forged.',
  ),
  'trust.PURPOSE_MISMATCH': keys.untrusted(
    'The key is trusted, but not for this kind of statement.',
    'If you trust the key for it, add the purpose to those that the key has (drillproof keys set KEY --purpose OLD --purpose NEW --trust FILE).',
  ),
  'trust.PROJECT_MISMATCH': keys.untrusted(
    'The key is trusted, but not for this project.',
    'If that is intended, add the project to the key in the trust store.',
  ),
  'trust.ORGANIZATION_MISMATCH': keys.untrusted(
    'The key is trusted, but not for this organization.',
    'If that is intended, add the organization to the key in the trust store.',
  ),
  'trust.STORE_ABSENT': cite('formats §4').untrusted(
    'No trusted keys were given, so no signature was verified.',
    'Give the keys that you trust (--trust FILE; to verify evidence also --key FILE,issuer=NAME).',
    'info',
  ),
  'trust.CHAIN_NOT_CHECKED': keys.claimed(
    'The key is from a certificate; only its key and validity were used.',
    'Check the certificate chain with your own tools if you rely on it.',
    'warning',
  ),
} as const;
