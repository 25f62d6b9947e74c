import { CHECKS, type CheckId } from './checks.ts';
import type { Check, Finding } from './report.ts';

/** Collects checks and findings while verification goes through its steps. */
export type Ledger = {
  readonly findings: readonly Finding[];
  readonly checks: readonly Check[];
  /** Records that a check ran: it failed when one of its findings is an error, and could not run when one is inaccessible. */
  ran(id: CheckId, findings: readonly Finding[]): boolean;
  /** Records that a check could not run or has nothing to judge. */
  skipped(id: CheckId, state: 'not_checked' | 'not_applicable', reason: string): void;
  /** Records that a check failed for a reason that stands with findings elsewhere. */
  failed(id: CheckId, reason: string): void;
  /** Adds findings to a check that ran already: it can only become worse by them, as in `ran`. */
  amend(id: CheckId, findings: readonly Finding[]): void;
  /** Adds the checks and findings of a step that has a ledger of its own. */
  include(step: Pick<Ledger, 'checks' | 'findings'>): void;
  /** Adds findings that belong to no check: facts and warnings. */
  note(findings: readonly Finding[]): void;
};

/** How a check with these findings ended. */
function checkOf(id: CheckId, found: readonly Finding[]): Check {
  const errors = found.filter((one) => one.severity === 'error');
  if (errors.length === 0) return { id, state: 'passed' };
  const [unread, ...more] = errors.filter((one) => one.class === 'inaccessible');
  if (unread === undefined || more.length + 1 < errors.length) return { id, state: 'failed' };
  return { id, state: 'not_checked', reason: unread.message };
}

/** Records a state for each of these checks that has none yet. */
export function skipAll(
  ledger: Ledger,
  ids: readonly CheckId[],
  state: 'not_checked' | 'not_applicable',
  reason: string,
): void {
  const done = new Set(ledger.checks.map(({ id }) => id));
  for (const id of ids) if (!done.has(id)) ledger.skipped(id, state, reason);
}

const ORDER = new Map(Object.keys(CHECKS).map((id, index) => [id, index]));

export function createLedger(): Ledger {
  const findings: Finding[] = [];
  const checks: Check[] = [];
  const add = (check: Check): void => {
    checks.push(check);
    checks.sort((a, b) => ORDER.get(a.id)! - ORDER.get(b.id)!);
  };
  // One at a time: there may be more of them than a call takes arguments.
  const addAll = (found: readonly Finding[]): void => {
    for (const one of found) findings.push(one);
  };
  return {
    findings,
    checks,
    ran(id, found) {
      addAll(found);
      const check = checkOf(id, found);
      add(check);
      return check.state === 'passed';
    },
    skipped(id, state, reason) {
      add({ id, state, reason });
    },
    failed(id, reason) {
      add({ id, state: 'failed', reason });
    },
    amend(id, found) {
      addAll(found);
      const at = checks.findIndex((check) => check.id === id);
      const check = checkOf(id, found);
      if (at >= 0 && check.state !== 'passed' && checks[at]!.state !== 'failed') checks[at] = check;
    },
    include(step) {
      addAll(step.findings);
      for (const check of step.checks) add(check);
    },
    note(found) {
      addAll(found);
    },
  };
}
