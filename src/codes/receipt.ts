import { cite } from './entry.ts';

const receipts = cite('formats §1, Receipts');

/** Codes of the receipts of a mirror, each receipt by itself and the chain of all. */
export const receiptCodes = {
  'receipt.INVALID': cite('formats §1, Export').malformed(
    'A receipt or checksum file of the mirror breaks a rule of its format, or contradicts its name or the export.',
    'Run the mirror again to write a valid one; the evidence does not depend on it.',
    'warning',
  ),
  'receipt.UNREADABLE': cite('formats §1, Export').inaccessible(
    'A receipt or checksum file of the mirror could not be read; the evidence does not depend on it.',
    'Check the permissions and the health of the disk if you need the file.',
    'warning',
  ),
  'receipt.DAMAGED': receipts.malformed(
    'A receipt of the chain breaks a rule of its format, so its record is lost.',
    'Restore the receipt from a copy of the mirror; the chain contains the digest that it must have.',
  ),
  'receipt.NAME_MISMATCH': receipts.mismatch(
    'The name of a receipt does not match its time and digest, so it was renamed or changed.',
    'Compare it with a copy of the mirror.',
  ),
  'receipt.LINK_MISMATCH': receipts.mismatch(
    'The digest of a receipt does not match the receipt after it, so it was changed later.',
    'Treat the receipt as forged, and look for the original in a copy of the mirror.',
  ),
  'receipt.MISSING': receipts.missing(
    'A receipt that another receipt or an envelope names is missing.',
    'Restore it from a copy of the mirror.',
  ),
  'receipt.FORKED': receipts.extra(
    'The chain of receipts has more than one end, so two receipts follow the same one.',
    'Find out which of the two the mirror did not write; a locked mirror never writes both.',
  ),
  'receipt.FOREIGN': receipts.mismatch(
    'The export or manifest in a receipt does not match the mirror that contains it.',
    'Remove the receipt; it belongs to another mirror.',
  ),
  'receipt.TIME_REVERSED': receipts.mismatch(
    'A receipt is older than the one it follows, or its run ended before it started.',
    'Do not rely on its time; a mirror never writes such a receipt.',
  ),
  'receipt.HEAD_MISMATCH': receipts.mismatch(
    'The expected receipt is not in the chain, so the newest receipts were removed or replaced.',
    'Look for a copy of the mirror that still has it.',
  ),
  'receipt.UNLINKED': receipts.claimed(
    'Some receipts were written before receipts were linked, so missing ones among them cannot be detected.',
    'Rely on the chain from its first linked receipt.',
    'info',
  ),
  'receipt.ALONE': receipts.claimed(
    'A receipt was verified on its own, so nothing is known about the receipts before and after it.',
    'Name the mirror to verify the complete chain.',
    'info',
  ),
  'receipt.NONE': receipts.refused(
    'There are no receipts, so nothing could be verified.',
    'Name a mirror or a folder of mirrors; if the mirror had receipts, they were removed.',
  ),
} as const;

const signed = cite('docs/verify/reports.md, Signed reports');

/** Codes of signed reports, and of the chain that they form. */
export const signedReportCodes = {
  'report.SIGNED_INVALID': signed.malformed(
    'The envelope does not contain a signed report of a known version.',
    'Pass the envelope of a signed report (--sign or --signer writes one).',
  ),
  'report.SUBJECT_MISMATCH': signed.mismatch(
    'The digest in the statement does not match the report that it contains.',
    'Get the original envelope; this one combines two.',
  ),
  'report.PREVIOUS_MISSING': signed.missing(
    'A signed report follows one that was not given, so the chain has a gap.',
    'Pass every report of the chain, or pin the one before the first (--after DIGEST).',
  ),
  'report.PREVIOUS_MISMATCH': signed.mismatch(
    'The report with the number before this one is not the one that it follows.',
    'Find out who replaced the earlier report, and get the original from another copy.',
  ),
  'report.ORDER_MISMATCH': signed.mismatch(
    'A signed report does not directly follow the one before it.',
    'Pass the reports from oldest to newest, each once.',
  ),
  'report.FORKED': signed.mismatch(
    'Two different signed reports follow the same one.',
    'Ask the signer which of them belongs to the chain; only one can.',
  ),
  'report.LAST_MISMATCH': signed.mismatch(
    'The last signed report is not the expected one, so newer reports may be missing.',
    'Get the reports that are missing at the end of the chain.',
  ),
} as const;
