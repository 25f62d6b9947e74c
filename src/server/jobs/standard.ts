import type { JobHandler, Sweep } from './handler.ts';
import { housekeeping, type SweepContext } from './sweeps.ts';

/** What every worker does besides the work of a runner: the kinds that need none, and what is due again and again. */
export const standardWork = (
  context: SweepContext,
): { readonly handlers: readonly JobHandler[]; readonly sweeps: readonly Sweep[] } => ({
  handlers: [],
  sweeps: housekeeping(context),
});
