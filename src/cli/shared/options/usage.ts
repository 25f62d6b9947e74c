import { DrillproofError } from '../../../errors.ts';

/** A wrong call: `usage.INVALID` with what to do instead, which is printed in place of the catalogue's advice. */
export const usageError = (message: string, hint?: string): DrillproofError =>
  new DrillproofError('usage.INVALID', message, hint === undefined ? {} : { details: { hint } });
