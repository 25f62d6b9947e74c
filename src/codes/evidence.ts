import { cite } from './entry.ts';

/** Codes of bundles, their objects and their attestations. */
export const evidenceCodes = {
  'bundle.MANIFEST_MISSING': cite('formats §1, Part archive').missing(
    'The part archive contains no manifest.json.',
    'Get the original archive; this is not a complete evidence bundle.',
  ),
  'bundle.MANIFEST_INVALID': cite('formats §1, Bundle manifest').malformed(
    'The bundle manifest breaks a rule of its format.',
    'Look at the path in the finding, and ask the producer to pack the bundle again.',
  ),
  'bundle.RUN_RESULT_INVALID': cite('control API, Hosted run').malformed(
    'The run result breaks a rule of its format.',
    'Look at the path in the finding, and ask the producer to pack the bundle again.',
  ),
  'bundle.OBJECTS_EXCEEDED': cite('formats, Limits').limit(
    'The bundle lists more objects than the limit.',
    'Raise the limit in the options if you trust the source.',
  ),
  'bundle.BINDING_MISMATCH': cite('formats §2, Bound when signed').mismatch(
    'A signed field does not match the bytes or the field that it is bound to.',
    'Treat the bundle as forged; the signature was made for other evidence.',
  ),
  'bundle.UNSIGNED': cite('formats §4').claimed(
    'The bundle has no attestation, so nothing shows where it comes from.',
    'Ask for a signed bundle if its origin matters; an unsigned one is at best intact.',
    'info',
  ),
  'object.MISSING': cite('formats §1, Bundle manifest').missing(
    'The archive lacks an object that the bundle manifest lists.',
    'Get the original archive; evidence was removed from this one.',
  ),
  'object.EXTRA': cite('formats §1, Part archive').extra(
    'The archive contains an entry that the bundle manifest does not list.',
    'Treat the archive as forged; something was added after packing.',
  ),
  'object.BYTES_MISMATCH': cite('formats §1, Bundle manifest').mismatch(
    'The size of an object does not match the bundle manifest.',
    'Get the original archive; the object was changed or truncated.',
  ),
  'object.DIGEST_MISMATCH': cite('formats §1, Bundle manifest').mismatch(
    'The SHA-256 of an object does not match the bundle manifest.',
    'Get the original archive; the object was changed.',
  ),
  'attestation.INVALID': cite('formats §2').malformed(
    'The attestation breaks a rule of its format.',
    'Look at the path in the finding, and ask the issuer to sign again.',
  ),
  'attestation.PREDICATE_UNSUPPORTED': cite('formats §2').unsupported(
    'The predicate type of the statement is not accepted here.',
    'Accept the predicate type with an option if it is yours; otherwise ask for the right attestation.',
  ),
  'attestation.SIGNATURE_ENCODING': cite('formats §2').malformed(
    'The signature is not base64url of a strict DER encoding.',
    'Ask the issuer for the original attestation; this one was damaged or forged.',
  ),
  'attestation.SIGNATURE_INVALID': cite('FIPS 186-5 §6.4.2; formats §2').mismatch(
    'The signature of the statement does not verify with the trusted key.',
    'Treat the attestation as forged.',
  ),
  'attestation.SUBJECT_MISMATCH': cite('formats §2, Bound when signed').mismatch(
    'The manifest digest in the statement does not match the manifest.',
    'Treat the bundle as forged; the attestation belongs to other evidence.',
  ),
  'attestation.ISSUED_IN_FUTURE': cite('formats §3').expired(
    'The statement was issued after the time of this verification.',
    'Check the clock of the machine, or the time given with --as-of.',
  ),
  'attestation.TIME_CLAIMED': cite('formats §3').claimed(
    'The key is retired or revoked, and only the signer states that the statement is older.',
    'Ask for a signature by a current key.',
    'warning',
  ),
  'attestation.SECOND_OPINION': cite('formats §2').internal(
    'The two implementations of the signature check disagree.',
    'Rely on neither result, and report the attestation to the maintainers.',
  ),
  'tool-source.INVALID': cite('control API, Tool source').malformed(
    'The document is not a tool source resource.',
    'Correct the member at the path in the finding.',
  ),
  'tool-source.BYTES_MISMATCH': cite('formats §7').mismatch(
    'The number of UTF-8 bytes of the source does not match the resource.',
    'Read the source again; it was truncated or changed in transit.',
  ),
  'tool-source.DIGEST_MISMATCH': cite('formats §7').mismatch(
    'The SHA-256 of the source does not match its artifactHash.',
    'Do not review this source as what ran; it was changed.',
  ),
  'tool-source.TOO_LARGE': cite('control API, Limits').limit(
    'The tool source is larger than 1 MiB of UTF-8.',
    'Treat the response as wrong; a tool source is never larger.',
  ),
  'tool-source.LOCK_MISMATCH': cite('formats §7').mismatch(
    'A field of the tool source does not match the trusted lock.',
    'Get the package that the build locked; this is a different one.',
  ),
  'tool-source.LOCK_INVALID': cite('formats §7').malformed(
    'The lock is not a build.json or a package lock.',
    'Pass the build.json of the build archive.',
  ),
  'tool-source.PACKAGE_UNLOCKED': cite('formats §7').missing(
    'The trusted lock does not list this package.',
    'Check the build; this tool is not part of it.',
  ),
} as const;
