import { bagCodes, exportCodes } from './export.ts';
import { controlCodes } from './control.ts';
import { dsseCodes, evidenceCodes } from './evidence.ts';
import { encodingCodes } from './encoding.ts';
import type { CodeEntry } from './entry.ts';
import { ioCodes, queueCodes } from './io.ts';
import { receiptCodes, signedReportCodes } from './receipt.ts';
import { policyCodes, vsaCodes } from './policy.ts';
import { challengeCodes, timestampCodes } from './timestamp.ts';
import { trustCodes } from './trust.ts';
import { zipCodes } from './zip.ts';

/** Every code of a finding or an error. A code is never renamed or reused. */
export const catalogue = {
  ...encodingCodes,
  ...zipCodes,
  ...trustCodes,
  ...evidenceCodes,
  ...dsseCodes,
  ...exportCodes,
  ...receiptCodes,
  ...bagCodes,
  ...policyCodes,
  ...vsaCodes,
  ...ioCodes,
  ...controlCodes,
  ...queueCodes,
  ...signedReportCodes,
  ...timestampCodes,
  ...challengeCodes,
} as const satisfies Readonly<Record<string, CodeEntry>>;

/** A code of the catalogue (docs/codes.md), such as `part.DIGEST_MISMATCH`. */
export type Code = keyof typeof catalogue;

/**
 * The row of a code in the catalogue (docs/codes.md): class, severity, meaning, what to do, and the clause behind it.
 * @example
 * for (const { code } of report.findings) console.error(code, codeEntry(code).action);
 */
export const codeEntry = (code: Code): CodeEntry => catalogue[code];
