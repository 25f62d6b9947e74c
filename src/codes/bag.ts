import type { CodeTable } from './entry.ts';

/** Codes of a BagIt bag around an export (RFC 8493). */
export const bagCodes = {
  'bag.INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'A tag file of the bag breaks a rule of BagIt.',
    action:
      'Correct the file at the path in the finding, or verify data/ alone to check the evidence without its bag.',
    clause: 'RFC 8493 §2',
  },
  'bag.UNSUPPORTED': {
    class: 'unsupported',
    severity: 'error',
    meaning: 'The version, the encoding or the checksum algorithms of the bag are not supported.',
    action: 'Add a manifest-sha256.txt as BagIt 1.0 defines it, or verify data/ alone.',
    clause: 'RFC 8493 §2.1',
  },
  'bag.PAYLOAD_MISSING': {
    class: 'missing',
    severity: 'error',
    meaning: 'A payload manifest of the bag lists a file that is missing.',
    action: 'Get the file from the source of the bag.',
    clause: 'RFC 8493 §3',
  },
  'bag.PAYLOAD_EXTRA': {
    class: 'extra',
    severity: 'error',
    meaning: 'A file in data/ is not listed in a payload manifest of the bag.',
    action: 'If a mirror was interrupted, run it again; otherwise find out who added the file.',
    clause: 'RFC 8493 §3',
  },
  'bag.PAYLOAD_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning:
      'A payload file does not match its checksum in the bag, or the payload does not match Payload-Oxum.',
    action: 'Get the original bag; the payload or its manifest was changed after bagging.',
    clause: 'RFC 8493 §3',
  },
  'bag.TAG_MISSING': {
    class: 'missing',
    severity: 'error',
    meaning: 'A tag manifest of the bag lists a tag file that is missing.',
    action: 'Get the complete bag.',
    clause: 'RFC 8493 §2.2.1',
  },
  'bag.TAG_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The digest of a tag file does not match the tag manifest of the bag.',
    action: 'If a mirror was interrupted, run it again; otherwise get the original bag.',
    clause: 'RFC 8493 §2.2.1',
  },
  'bag.TAG_UNLISTED': {
    class: 'extra',
    severity: 'warning',
    meaning: 'A file next to data/ is not listed in any tag manifest of the bag.',
    action: 'Find out what the file is; no checksum protects it.',
    clause: 'RFC 8493 §2.2.4',
  },
} as const satisfies CodeTable;
