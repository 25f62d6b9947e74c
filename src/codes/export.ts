import { cite } from './entry.ts';

const verdicts = cite('formats §4');
const files = cite('formats §1, Export');
const manifests = cite('formats §1, Export manifest');
const expected = cite('formats §1');
const payload = cite('RFC 8493 §3');

/** Codes of exports, their parts and local reports, and what the caller expects of them. */
export const exportCodes = {
  'export.NOT_AN_EXPORT': files.usage(
    'The path is neither an export nor a part: a folder or archive without manifest.json, or a file of another kind.',
    'Name the folder that contains manifest.json and parts/, a ZIP of it, or one part archive.',
  ),
  'export.MANIFEST_MISSING': files.missing(
    'The export has no manifest.json, so nothing states what belongs to it.',
    'Get the complete export; nothing can be verified without its manifest.',
  ),
  'export.FILE_IRREGULAR': files.unsupported(
    'A link, a device or a folder is in the place of a regular file of the evidence, or next to it.',
    'Copy the real bytes to that path, or remove it if nothing lists it; links are never followed.',
  ),
  'export.MANIFEST_INVALID': manifests.malformed(
    'The export manifest breaks a rule of its format.',
    'Look at the path in the finding, and make the export again.',
  ),
  'export.RESOURCE_MISSING': files.missing('The export has no export.json.', 'Get the complete export.'),
  'export.RESOURCE_INVALID': cite('control API, Evidence export').malformed(
    'The export.json is not an evidence export resource.',
    'Look at the path in the finding, and get the original export.',
  ),
  'export.RESOURCE_MISMATCH': manifests.mismatch(
    'The files export.json and manifest.json contradict each other.',
    'Get the original export; one of the two files was changed or belongs to another export.',
  ),
  'export.SELECTION_MISMATCH': manifests.mismatch(
    'The selection digest does not match the bundles and reports in the manifest.',
    'Get the original export; the list was changed.',
  ),
  'export.PARTS_EXCEEDED': cite('control API, Limits').limit(
    'The export lists more parts or local reports than the limit.',
    'Do not trust it; only a program that uses the library can raise the limit.',
  ),
  'export.FILES_EXCEEDED': cite('formats, Limits').limit(
    'The export contains more files than the limit.',
    'Remove the files that no manifest lists; only a program that uses the library can raise the limit.',
  ),
  'export.EMPTY': verdicts.missing(
    'The export lists no bundles, so there is nothing to verify.',
    'Check the scope and the time window of the export; an empty list never counts as success.',
    'warning',
  ),
  'export.CHANGED': manifests.mismatch(
    'The manifest of an export that is already mirrored has changed, but an available export never changes.',
    'Keep your copy, and ask the operator of the control plane who replaced the export.',
  ),
  'export.NOT_AVAILABLE': cite('control API, Evidence export').inaccessible(
    'The export is not in state available, so its bytes cannot be read.',
    'Wait until it is generated, or look at its failureCode.',
  ),
  'export.ATTESTATION_SUBJECT_MISMATCH': cite('formats §2, Export attestation').mismatch(
    'The subject of the export attestation does not match this export.',
    'Treat the export as forged; the attestation belongs to another one.',
  ),
  'export.COMPLETENESS_CLAIMED': cite('formats §2, Export attestation').claimed(
    'Neither an expected digest nor a trusted attestation covers the list, so bundles could have been removed.',
    'Give the digest of manifest.json from another source (--expect-manifest DIGEST), or ask for an export attestation.',
    'info',
  ),
  'export.FILE_UNCOVERED': files.extra(
    'A file in the export is not listed in any manifest.',
    'Do not use it as evidence; remove it or find out who added it.',
  ),
  'part.MISSING': verdicts.missing(
    'The export lacks a part that its manifest lists.',
    'Mirror the export again to fetch the part.',
  ),
  'part.EXTRA': files.extra(
    'The parts folder contains an archive that the manifest does not list.',
    'Do not use it as evidence of this export; remove it or find out who added it.',
  ),
  'part.BYTES_MISMATCH': manifests.mismatch(
    'The size of a part does not match the export manifest.',
    'Mirror the export again to fetch the part.',
  ),
  'part.DIGEST_MISMATCH': manifests.mismatch(
    'The SHA-256 of a part does not match the export manifest.',
    'Get the part from another copy of the export; if it was just fetched, its source is damaged.',
  ),
  'part.NOT_CHECKED': verdicts.inaccessible(
    'The part could not be verified because its worker thread ran out of memory or exited.',
    'Verify again with fewer threads (--jobs 1), or on a machine with more memory.',
  ),
  'part.ROW_MISMATCH': manifests.mismatch(
    'The row in the export manifest does not match the bundle in the part.',
    'Treat the export as forged; the part was replaced by another bundle.',
  ),
  'local-report.MISSING': verdicts.missing(
    'The export lacks a local report that its manifest lists.',
    'Mirror the export again to fetch the report.',
  ),
  'local-report.EXTRA': files.extra(
    'The local-reports folder contains an archive that the manifest does not list.',
    'Do not use it as a report of this export; remove it or find out who added it.',
  ),
  'local-report.BYTES_MISMATCH': verdicts.mismatch(
    'The size of a local report does not match the export manifest.',
    'Mirror the export again to fetch the report.',
  ),
  'local-report.DIGEST_MISMATCH': verdicts.mismatch(
    'The SHA-256 of a local report does not match the export manifest.',
    'Get the report from another copy of the export; if it was just fetched, its source is damaged.',
  ),
  'local-report.UNATTESTED': verdicts.claimed(
    'A local report was uploaded by a user and is not attested, so it is at best intact.',
    'Read it as a statement of its uploader, not as evidence of the platform.',
    'info',
  ),
  'expect.UNMET': verdicts.untrusted(
    'The result of the verification does not meet the requirements of the caller.',
    'Do not use the evidence; read what is unmet in the message, and the findings of the report.',
  ),
  'expect.UNDECIDED': verdicts.inaccessible(
    'Something could not be read or checked, so it is unknown whether the requirements of the caller are met.',
    'Read the findings of the report, make everything readable, and verify again.',
  ),
  'expect.MANIFEST_MISMATCH': expected.mismatch(
    'The digest of the manifest does not match the expected digest.',
    'Get the export that you expect; this is a different one.',
  ),
  'expect.EXPORT_MISMATCH': expected.mismatch(
    'The id of the export does not match the expected id.',
    'Get the export that you expect; this is a different one.',
  ),
  'expect.ORGANIZATION_MISMATCH': expected.mismatch(
    'The organization of the evidence does not match the expected organization.',
    'Get the evidence of the organization that you expect.',
  ),
  'expect.PROJECT_MISMATCH': expected.mismatch(
    'The project of the evidence does not match the expected project.',
    'Get the evidence of the project that you expect.',
  ),
  'expect.BUNDLES_MISMATCH': expected.mismatch(
    'The number of bundles does not match the expected number.',
    'Get the export that you expect; bundles were removed or added, or this is a different one.',
  ),
} as const;

/** Codes of a BagIt bag around an export (RFC 8493). */
export const bagCodes = {
  'bag.INVALID': cite('RFC 8493 §2').malformed(
    'A tag file of the bag breaks a rule of BagIt.',
    'Correct the file at the path in the finding, or verify data/ alone to check the evidence without its bag.',
  ),
  'bag.UNSUPPORTED': cite('RFC 8493 §2.1').unsupported(
    'The version, the encoding or the checksum algorithms of the bag are not supported.',
    'Add a manifest-sha256.txt as BagIt 1.0 defines it, or verify data/ alone.',
  ),
  'bag.PAYLOAD_MISSING': payload.missing(
    'A payload manifest of the bag lists a file that is missing.',
    'Get the file from the source of the bag.',
  ),
  'bag.PAYLOAD_EXTRA': payload.extra(
    'A file in data/ is not listed in a payload manifest of the bag.',
    'If a mirror was interrupted, run it again; otherwise find out who added the file.',
  ),
  'bag.PAYLOAD_MISMATCH': payload.mismatch(
    'A payload file does not match its checksum in the bag, or the payload does not match Payload-Oxum.',
    'Get the original bag; the payload or its manifest was changed after bagging.',
  ),
  'bag.TAG_MISSING': cite('RFC 8493 §2.2.1').missing(
    'A tag manifest of the bag lists a tag file that is missing.',
    'Get the complete bag.',
  ),
  'bag.TAG_MISMATCH': cite('RFC 8493 §2.2.1').mismatch(
    'The digest of a tag file does not match the tag manifest of the bag.',
    'If a mirror was interrupted, run it again; otherwise get the original bag.',
  ),
  'bag.TAG_UNLISTED': cite('RFC 8493 §2.2.4').extra(
    'A file next to data/ is not listed in any tag manifest of the bag.',
    'Find out what the file is; no checksum protects it.',
    'warning',
  ),
} as const;
