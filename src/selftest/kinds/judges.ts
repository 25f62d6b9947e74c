import { judgeBytes } from './bytes.ts';
import { judgeCursors } from './cursors.ts';
import { judgeDocuments } from './documents.ts';
import { judgeDsse } from './dsse.ts';
import { judgeEvidence } from './evidence.ts';
import { judgePolicies } from './policies.ts';
import { judgeReceipts } from './receipts.ts';
import { judgeSummaries } from './summaries.ts';
import { judgeTrust } from './trust.ts';
import type { Judge } from './judge.ts';

/** How each kind is put to our implementation: every way in that there is, each with its outcome. */
export const JUDGES: Readonly<Record<string, Judge>> = {
  ...judgeBytes,
  ...judgeCursors,
  ...judgeTrust,
  ...judgeDocuments,
  ...judgeDsse,
  ...judgeEvidence,
  ...judgeReceipts,
  ...judgePolicies,
  ...judgeSummaries,
};
