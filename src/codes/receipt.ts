import type { CodeTable } from './entry.ts';

const CLAUSE = 'formats §1, Receipts';

/** Codes of the receipts of a mirror: each by itself, and the chain that they are. */
export const receiptCodes = {
  'receipt.INVALID': {
    class: 'malformed',
    severity: 'warning',
    meaning: 'A receipt or checksum file of the mirror breaks a rule of its format.',
    action: 'The evidence does not depend on it; run the mirror again to write a good one.',
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
    meaning: 'A receipt of the chain breaks a rule of its format, so what it recorded is lost.',
    action: 'Restore the receipt from a copy of the mirror; the chain says which digest it must have.',
    clause: CLAUSE,
  },
  'receipt.NAME_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'A receipt has another name than its time and digest give it, so it was renamed or changed.',
    action: 'Compare it with a copy of the mirror: nobody writes a receipt anew.',
    clause: CLAUSE,
  },
  'receipt.LINK_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning:
      'A receipt has another digest than the one after it says: it was changed after that was written.',
    action: 'Treat the changed receipt as forged and look for it in a copy of the mirror.',
    clause: CLAUSE,
  },
  'receipt.MISSING': {
    class: 'missing',
    severity: 'error',
    meaning: 'A receipt that another one names, or that an envelope signs, is not there.',
    action: 'Restore it from a copy of the mirror; somebody or something removed it.',
    clause: CLAUSE,
  },
  'receipt.FORKED': {
    class: 'extra',
    severity: 'error',
    meaning: 'The chain of receipts has more than one end: two runs stand in the place of one.',
    action: 'Find out which of them is foreign: a mirror under its lock never writes two after the same one.',
    clause: CLAUSE,
  },
  'receipt.FOREIGN': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'A receipt speaks of another export or manifest than the mirror in which it lies.',
    action: 'Take it out: it belongs to another mirror.',
    clause: CLAUSE,
  },
  'receipt.TIME_REVERSED': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'A receipt is from before the one that it names, or its run ended before it began.',
    action: 'Do not rely on its time; a mirror never writes such a receipt, whatever the clock says.',
    clause: CLAUSE,
  },
  'receipt.HEAD_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning:
      'The receipt that the caller expects is not in the chain: the newest ones were removed or replaced.',
    action: 'Look for a copy of the mirror that still has it.',
    clause: CLAUSE,
  },
  'receipt.UNLINKED': {
    class: 'claimed',
    severity: 'info',
    meaning:
      'Receipts from before they were linked stand outside the chain; whether some are gone cannot be seen.',
    action: 'Nothing is to be done; rely on the chain from its first receipt on.',
    clause: CLAUSE,
  },
  'receipt.ALONE': {
    class: 'claimed',
    severity: 'info',
    meaning: 'A receipt was judged by itself, so nothing is known of the receipts before and after it.',
    action: 'Name the mirror to have the whole chain verified.',
    clause: CLAUSE,
  },
  'receipt.NONE': {
    class: 'refused',
    severity: 'error',
    meaning: 'There is no receipt, so nothing could be verified.',
    action: 'Name a mirror or a folder of mirrors. A mirror that had receipts has lost them.',
    clause: CLAUSE,
  },
} as const satisfies CodeTable;
