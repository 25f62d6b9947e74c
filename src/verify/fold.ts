import type { CheckId, Ledger } from './check.ts';

/**
 * Records the steps of a judgement, which have a ledger of their own, as one check of another: failed when a step
 * failed, open when one is open.
 */
export function foldInto(ledger: Ledger, id: CheckId, steps: Ledger): boolean {
  const failed = steps.findings.some((one) => one.severity === 'error');
  const open = steps.checks.find((check) => check.state === 'not_checked');
  if (failed || open === undefined) return ledger.ran(id, steps.findings);
  ledger.note(steps.findings);
  ledger.skipped(id, 'not_checked', open.reason ?? 'the signature was not judged');
  return false;
}
