import { cite } from './entry.ts';

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
  'bag.PAYLOAD_MISSING': cite('RFC 8493 §3').missing(
    'A payload manifest of the bag lists a file that is missing.',
    'Get the file from the source of the bag.',
  ),
  'bag.PAYLOAD_EXTRA': cite('RFC 8493 §3').extra(
    'A file in data/ is not listed in a payload manifest of the bag.',
    'If a mirror was interrupted, run it again; otherwise find out who added the file.',
  ),
  'bag.PAYLOAD_MISMATCH': cite('RFC 8493 §3').mismatch(
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
