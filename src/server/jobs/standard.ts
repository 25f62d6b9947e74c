import type { ExportSigning } from '../../evidence/index.ts';
import { builtInJobs } from './built-in.ts';
import type { JobHandler, Sweep } from './handler.ts';
import { retentionSweeps } from './delete/retention.ts';
import { housekeeping, type SweepContext } from './sweeps.ts';

/** Signs the export attestations of the exports that are generated; without it they are unsigned. */
type Signing = { readonly signing?: Pick<ExportSigning, 'signer' | 'issuer'> | undefined };

/** What every worker does besides the work of a runner: the kinds that need none, and what is due again and again. */
export const standardWork = (
  context: SweepContext & Signing,
): { readonly handlers: readonly JobHandler[]; readonly sweeps: readonly Sweep[] } => ({
  handlers: builtInJobs(context),
  sweeps: [...housekeeping(context), ...retentionSweeps(context)],
});
