import { CHECK_IDS, type CheckId } from './checks.ts';
import type { Check, CheckState, Finding } from './report.ts';

/** The result of one or more checks. */
export type Step = { readonly checks: readonly Check[]; readonly findings: readonly Finding[] };

/** The result of checks that also read something which later steps need. */
export type StepOf<T> = Step & { readonly value: T };

/** The result of checks that may have failed to read what later steps need. */
export type ReadStep<T> = Step & { readonly value?: T | undefined };

/** The result of a step that had nothing to do. */
export const NOTHING: Step = { checks: [], findings: [] };

/** Shared by thousands of parts. */
const PASSED = Object.fromEntries(
  CHECK_IDS.map((id) => [id, Object.freeze({ id, state: 'passed' })]),
) as Readonly<Record<CheckId, Check>>;

/** The result of a check that ran: an error fails it, but it stays open if all errors are about reading. */
export function recordCheck(id: CheckId, findings: readonly Finding[]): Step {
  return { checks: [checkOf(id, findings)], findings };
}

function checkOf(id: CheckId, findings: readonly Finding[]): Check {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const [unread] = errors;
  if (unread === undefined) return PASSED[id];
  if (errors.some((error) => error.class !== 'inaccessible')) return { id, state: 'failed' };
  return { id, state: 'not_checked', reason: unread.message };
}

/** The result of a check that did not run, or failed for a reason that has findings elsewhere. */
export const endCheck = (id: CheckId, state: Exclude<CheckState, 'passed'>, reason: string): Step => ({
  checks: [{ id, state, reason }],
  findings: [],
});

/** Findings that belong to no check: facts and warnings. */
export const noteFindings = (findings: readonly Finding[]): Step => ({ checks: [], findings });

/** Adds a state for each of these checks that has none yet. */
export function endRemaining(
  step: Step,
  ids: readonly CheckId[],
  state: Exclude<CheckState, 'passed'>,
  reason: string,
): Step {
  const ended = new Set(step.checks.map(({ id }) => id));
  const remaining = ids.filter((id) => !ended.has(id)).map((id): Check => ({ id, state, reason }));
  return joinSteps([step, { checks: remaining, findings: [] }]);
}

export const hasPassed = ({ checks }: Step, id: CheckId): boolean =>
  checks.some((check) => check.id === id && check.state === 'passed');

const ORDER = new Map(CHECK_IDS.map((id, index) => [id, index]));

/**
 * Joins steps: the findings in order, and the checks in the order of the table. A later result for a check replaces an
 * earlier one only if it is not better.
 */
export function joinSteps(steps: readonly Step[]): Step {
  const checks: Check[] = [];
  const findings: Finding[] = [];
  for (const step of steps) {
    for (const check of step.checks) addCheck(checks, check);
    for (const finding of step.findings) findings.push(finding);
  }
  return { checks, findings };
}

/** Nearly every check comes after those before it. */
function addCheck(checks: Check[], check: Check): void {
  const place = ORDER.get(check.id)!;
  let at = checks.length;
  while (at > 0 && ORDER.get(checks[at - 1]!.id)! > place) at--;
  const earlier = checks[at - 1];
  if (earlier?.id !== check.id) {
    if (at === checks.length) checks.push(check);
    else checks.splice(at, 0, check);
  } else if (check.state !== 'passed' && earlier.state !== 'failed') checks[at - 1] = check;
}

/** Reports the checks of steps as one check: failed if one of them failed, and otherwise open if one is open. */
export function foldSteps(id: CheckId, steps: readonly Step[]): Step {
  const findings = steps.flatMap((step) => step.findings);
  const open = steps.flatMap(({ checks }) => checks).find(({ state }) => state === 'not_checked');
  if (open === undefined || findings.some(({ severity }) => severity === 'error'))
    return recordCheck(id, findings);
  return joinSteps([
    noteFindings(findings),
    endCheck(id, 'not_checked', open.reason ?? 'a check did not run'),
  ]);
}
