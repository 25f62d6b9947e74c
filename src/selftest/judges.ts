import { judgeBytes } from './judge-bytes.ts';
import { judgeCursors } from './judge-cursors.ts';
import { judgeDocuments } from './judge-documents.ts';
import { judgeDsse } from './judge-dsse.ts';
import { judgeEvidence } from './judge-evidence.ts';
import { judgePolicies } from './judge-policies.ts';
import { judgeReceipts } from './judge-receipts.ts';
import { judgeSummaries } from './judge-summaries.ts';
import { judgeTrust } from './judge-trust.ts';
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
