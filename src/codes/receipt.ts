import type { CodeTable } from './entry.ts';

const CLAUSE = 'formats §1, Receipts';

/** Codes of the receipts of a mirror: each by itself, and the chain that they are. */
export const receiptCodes = {
  'receipt.INVALID': {
    class: 'malformed',
    severity: 'warning',
    meaning: 'A receipt or checksum file of the mirror breaks a rule of its format.',
    action: 'Run the mirror again to write a valid one; the evidence does not depend on it.',
    clause: 'formats §1, Export',
  },
  'receipt.UNREADABLE': {
    class: 'inaccessible',
    severity: 'warning',
    meaning:
      'A receipt or checksum file of the mirror could not be read; the evidence does not depend on it.',
    action: 'Check the permissions and the health of the disk if you need the file.',
    clause: 'formats §1, Export',
  },
  'receipt.DAMAGED': {
    class: 'malformed',
    severity: 'error',
    meaning: 'A receipt of the chain breaks a rule of its format, so its record is lost.',
    action: 'Restore the receipt from a copy of the mirror; the chain contains the digest that it must have.',
    clause: CLAUSE,
  },
  'receipt.NAME_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The name of a receipt does not match its time and digest, so it was renamed or changed.',
    action: 'Compare it with a copy of the mirror.',
    clause: CLAUSE,
  },
  'receipt.LINK_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The digest of a receipt does not match the receipt after it, so it was changed later.',
    action: 'Treat the receipt as forged, and look for the original in a copy of the mirror.',
    clause: CLAUSE,
  },
  'receipt.MISSING': {
    class: 'missing',
    severity: 'error',
    meaning: 'A receipt that another receipt or an envelope names is missing.',
    action: 'Restore it from a copy of the mirror.',
    clause: CLAUSE,
  },
  'receipt.FORKED': {
    class: 'extra',
    severity: 'error',
    meaning: 'The chain of receipts has more than one end, so two receipts follow the same one.',
    action: 'Find out which of them is foreign; a locked mirror never writes two.',
    clause: CLAUSE,
  },
  'receipt.FOREIGN': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The export or manifest in a receipt does not match the mirror that contains it.',
    action: 'Remove the receipt; it belongs to another mirror.',
    clause: CLAUSE,
  },
  'receipt.TIME_REVERSED': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'A receipt is older than the one it follows, or its run ended before it started.',
    action: 'Do not rely on its time; a mirror never writes such a receipt.',
    clause: CLAUSE,
  },
  'receipt.HEAD_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The expected receipt is not in the chain, so the newest receipts were removed or replaced.',
    action: 'Look for a copy of the mirror that still has it.',
    clause: CLAUSE,
  },
  'receipt.UNLINKED': {
    class: 'claimed',
    severity: 'info',
    meaning:
      'Some receipts were written before receipts were linked, so missing ones among them cannot be detected.',
    action: 'Rely on the chain from its first linked receipt.',
    clause: CLAUSE,
  },
  'receipt.ALONE': {
    class: 'claimed',
    severity: 'info',
    meaning: 'A receipt was verified on its own, so nothing is known about the receipts before and after it.',
    action: 'Name the mirror to verify the complete chain.',
    clause: CLAUSE,
  },
  'receipt.NONE': {
    class: 'refused',
    severity: 'error',
    meaning: 'There are no receipts, so nothing could be verified.',
    action: 'Name a mirror or a folder of mirrors; a mirror that had receipts has lost them.',
    clause: CLAUSE,
  },
} as const satisfies CodeTable;
