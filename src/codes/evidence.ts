import { cite } from './entry.ts';

const runs = cite('formats §4, Runs');
const tools = cite('formats §7');
const bundles = cite('formats §1, Bundle manifest');
const protocol = cite('DSSE 1.0.2, protocol; formats §2, DSSE');
const envelopes = cite('formats §2, DSSE');

/** Codes of bundles, their objects and their attestations. */
export const evidenceCodes = {
  'bundle.MANIFEST_MISSING': cite('formats §1, Part archive').missing(
    'The part archive contains no manifest.json.',
    'Get the original archive; this is not a complete evidence bundle.',
  ),
  'bundle.MANIFEST_INVALID': bundles.malformed(
    'The bundle manifest breaks a rule of its format.',
    'Look at the path in the finding, and ask the producer to pack the bundle again.',
  ),
  'bundle.RUN_RESULT_INVALID': cite('control API, Hosted run').malformed(
    'The run result breaks a rule of its format.',
    'Look at the path in the finding, and ask the producer to pack the bundle again.',
  ),
  'bundle.OBJECTS_EXCEEDED': cite('formats, Limits').limit(
    'The bundle lists more objects than the limit.',
    'Do not trust it; only a program that uses the library can raise the limit.',
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
  'run.WORLD_INCONSISTENT': runs.mismatch(
    'The run result states that the simulated world was not consistent.',
    'Do not rely on the outcome; repair the world, and run the drill again.',
    'warning',
  ),
  'run.BINDING_PARTIAL': runs.claimed(
    'The run result states that the run, or an interaction, is not completely bound to its evidence.',
    'Do not rely on the outcome; find out what was not recorded, and run the drill again.',
    'warning',
  ),
  'run.ASSERTION_FAILED': runs.mismatch(
    'An assertion with "gate" did not pass, but the run result does not state that the drill failed.',
    'Do not rely on the outcome; the runner that wrote it contradicts itself.',
    'warning',
  ),
  'run.CHECKPOINT_FAILED': runs.mismatch(
    'A final checkpoint did not pass, but the run result does not state that the drill failed.',
    'Do not rely on the outcome; the runner that wrote it contradicts itself.',
    'warning',
  ),
  'run.BUDGET_EXCEEDED': runs.limit(
    'The run exceeded its budget of tool calls or scheduled events.',
    'Raise the budget of the drill, or find out what used it up, and run the drill again.',
    'warning',
  ),
  'run.AFTER_SIGNATURE': runs.mismatch(
    'The run is dated after the statement that signs it.',
    'Check the clocks of the runner and of the signer; one of the two times is wrong.',
    'warning',
  ),
  'coverage.LOW': cite('formats §4, Coverage').extra(
    'No digest covers a tenth of the bytes or more, besides the headers that an archive needs; they could contain anything.',
    'Do not use those bytes as evidence; require coverage to refuse them, or verify the export that lists the part.',
    'warning',
  ),
  'object.MISSING': bundles.missing(
    'The archive lacks an object that the bundle manifest lists.',
    'Get the original archive; evidence was removed from this one.',
  ),
  'object.EXTRA': cite('formats §1, Part archive').extra(
    'The archive contains an entry that the bundle manifest does not list.',
    'Treat the archive as forged; something was added after packing.',
  ),
  'object.BYTES_MISMATCH': bundles.mismatch(
    'The size of an object does not match the bundle manifest.',
    'Get the original archive; the object was changed or truncated.',
  ),
  'object.DIGEST_MISMATCH': bundles.mismatch(
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
    'Check the clock of the machine, or the time of the verification that you gave (--as-of TIME).',
  ),
  'attestation.TIME_CLAIMED': cite('formats §3').claimed(
    'The key is retired or revoked, and only the signer states that the statement is older.',
    'Ask for a signature by a current key, or for a timestamp from before the end of this one.',
    'warning',
  ),
  'attestation.STAMPED_EARLIER': cite('formats §9').claimed(
    'A trusted timestamp is older than the time that the statement gives itself.',
    'Rely on the time of the timestamp only, and check the clock of the signer.',
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
  'tool-source.BYTES_MISMATCH': tools.mismatch(
    'The number of UTF-8 bytes of the source does not match the resource.',
    'Read the source again; it was truncated or changed in transit.',
  ),
  'tool-source.DIGEST_MISMATCH': tools.mismatch(
    'The SHA-256 of the source does not match its artifactHash.',
    'Do not review this source as what ran; it was changed.',
  ),
  'tool-source.SUBJECT_MISMATCH': cite('control API, Tool source').mismatch(
    'The tool source is of a different project, build or package from the one that the caller expects.',
    'Read the source of the package that you mean; this is a different one.',
  ),
  'tool-source.TOO_LARGE': cite('control API, Limits').limit(
    'The tool source is larger than 1 MiB of UTF-8.',
    'Treat the response as wrong; a tool source is never larger.',
  ),
  'tool-source.LOCK_MISMATCH': tools.mismatch(
    'A field of the tool source does not match the trusted lock.',
    'Get the package that the build locked; this is a different one.',
  ),
  'tool-source.LOCK_INVALID': tools.malformed(
    'The lock is not a build.json or a package lock.',
    'Pass the build.json of the build archive.',
  ),
  'tool-source.PACKAGE_UNLOCKED': tools.missing(
    'The trusted lock does not list this package.',
    'Check the build; this tool is not part of it.',
  ),
} as const;

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
  'dsse.PAYLOAD_TYPE_UNSUPPORTED': protocol.unsupported(
    'The payload of the envelope is not an in-toto statement.',
    'Use an envelope whose payload type is application/vnd.in-toto+json.',
  ),
  'dsse.STATEMENT_INVALID': cite('in-toto Statement v1; formats §2, DSSE').malformed(
    'The payload is not an in-toto Statement v1 with a drillproof statement as its predicate.',
    'Correct the member at the path in the finding, and ask the issuer to sign again.',
  ),
  'dsse.SUBJECT_MISMATCH': envelopes.mismatch(
    'The in-toto statement and its predicate name different manifests.',
    'Treat the envelope as forged or made by a broken signer.',
  ),
  'dsse.SUBJECT_UNKNOWN': envelopes.mismatch(
    'An envelope that was given with an export names a bundle that the export does not list.',
    'Pass only envelopes about this export.',
  ),
  'dsse.KEYID_MISMATCH': envelopes.mismatch(
    'No signature of the envelope has the key id that the signed statement names.',
    'Ask the issuer for the original envelope; this one was assembled from others.',
  ),
  'dsse.THRESHOLD_MISSED': protocol.untrusted(
    'Fewer trusted keys signed the envelope than the threshold requires.',
    'Get an envelope with more signatures, or trust the keys of its other signers.',
  ),
  'dsse.SIGNATURE_UNCOUNTED': protocol.untrusted(
    'An additional signature does not count, because it is not by a trusted key that is valid for the statement.',
    'Add the key of that signer if you want to rely on it.',
    'warning',
  ),
} as const;
