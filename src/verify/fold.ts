import type { Ledger } from './check.ts';
import type { CheckId } from './checks.ts';

/**
 * Records the steps of judgements, which have ledgers of their own, as one check of another: failed when a step failed,
 * open when one is open.
 */
export function foldInto(
  ledger: Ledger,
  id: CheckId,
  ...steps: readonly Pick<Ledger, 'checks' | 'findings'>[]
): boolean {
  const findings = steps.flatMap((one) => one.findings);
  const failed = findings.some((one) => one.severity === 'error');
  const open = steps.flatMap((one) => one.checks).find((check) => check.state === 'not_checked');
  if (failed || open === undefined) return ledger.ran(id, findings);
  ledger.note(findings);
  ledger.skipped(id, 'not_checked', open.reason ?? 'the signature was not judged');
  return false;
}
