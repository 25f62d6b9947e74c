import type { CodeTable } from './entry.ts';

/** Codes of a BagIt bag around an export (RFC 8493). */
export const bagCodes = {
  'bag.INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'A tag file of the bag breaks a rule of BagIt.',
    action: 'See the file and the rule named; verify data/ alone to judge the evidence without its bag.',
    clause: 'RFC 8493 §2',
  },
  'bag.UNSUPPORTED': {
    class: 'unsupported',
    severity: 'error',
    meaning: 'The bag is of a version or encoding, or has checksums, that are not supported.',
    action: 'Give it a manifest-sha256.txt as BagIt 1.0, or verify data/ alone to judge the evidence.',
    clause: 'RFC 8493 §2.1',
  },
  'bag.PAYLOAD_MISSING': {
    class: 'missing',
    severity: 'error',
    meaning: 'A payload manifest of the bag lists a file that is not there.',
    action: 'Get the file from the source of the bag; nothing is ever fetched for you.',
    clause: 'RFC 8493 §3',
  },
  'bag.PAYLOAD_EXTRA': {
    class: 'extra',
    severity: 'error',
    meaning: 'A file lies in data/ that a payload manifest of the bag does not list.',
    action: 'If a mirror was interrupted, run it again; otherwise find out who put the file there.',
    clause: 'RFC 8493 §3',
  },
  'bag.PAYLOAD_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'A payload file, or their number and bytes in all, is not what the bag states.',
    action: 'The file or the manifest of the bag was changed after bagging; get the original.',
    clause: 'RFC 8493 §3',
  },
  'bag.TAG_MISSING': {
    class: 'missing',
    severity: 'error',
    meaning: 'A tag manifest of the bag lists a file that is not there.',
    action: 'Get the whole bag.',
    clause: 'RFC 8493 §2.2.1',
  },
  'bag.TAG_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'A tag file has another digest than the tag manifest of the bag lists.',
    action: 'If a mirror was interrupted, run it again; otherwise the bag was edited.',
    clause: 'RFC 8493 §2.2.1',
  },
  'bag.TAG_UNLISTED': {
    class: 'extra',
    severity: 'warning',
    meaning: 'A file lies beside data/ that no tag manifest of the bag lists.',
    action: 'Look at what it is: nothing vouches for it.',
    clause: 'RFC 8493 §2.2.4',
  },
} as const satisfies CodeTable;
