import { defined } from '../../bytes/index.ts';
import type { PolicyDocument } from '../document/document.ts';
import { formatCondition, fulfils } from '../document/values.ts';
import { type BundleFact, type Facts, hasNoInput, hasOnlySummaries, hasUnreadLists } from '../facts.ts';
import { type Evaluator, type Problem, UNWAIVABLE } from './outcome.ts';

type RequiredDrill = NonNullable<NonNullable<PolicyDocument['drills']>['required']>[number];
type Requirement = Exclude<RequiredDrill, string>;

/** Every required drill has as many verified bundles as required. */
export const requireDrills =
  (required: readonly RequiredDrill[]): Evaluator =>
  (facts) => {
    if (hasOnlySummaries(facts)) return { judged: 0, problems: [] };
    const drills = required.map((drill) => (typeof drill === 'string' ? { drill } : drill));
    return { judged: drills.length, problems: drills.flatMap((drill) => countDrill(drill, facts) ?? []) };
  };

function countDrill(requirement: Requirement, facts: Facts): Problem | undefined {
  const { drill, min = 1 } = requirement;
  const count = facts.bundles.filter((bundle) => matches(bundle, requirement)).length;
  if (count >= min) return undefined;
  // An unread bundle could be of this drill; a failed or unattested one does not count.
  const unread = countUnread(facts);
  return {
    state: count + unread >= min ? 'not_checked' : 'failed',
    subject: drill,
    message: 'there are fewer verified bundles of the drill than required',
    expected: `at least ${min}${formatRequirement(requirement)}`,
    actual: String(count),
    ...defined({ causes: unread > 0 ? UNWAIVABLE : undefined }),
  };
}

const countUnread = (facts: Facts): number =>
  hasNoInput(facts) || hasUnreadLists(facts)
    ? Infinity
    : facts.bundles.filter(({ report }) => report.verdict === 'incomplete').length;

function matches({ attested, report }: BundleFact, requirement: Requirement): boolean {
  const { reproduction, outcome } = report;
  if (!attested || reproduction === undefined) return false;
  const { drill, target, scenario, build, outcome: verdict } = requirement;
  return (
    reproduction.drillId === drill &&
    (target === undefined || fulfils(reproduction.targetId, target)) &&
    (scenario === undefined ||
      (reproduction.scenarioId !== undefined && fulfils(reproduction.scenarioId, scenario))) &&
    (build === undefined || reproduction.buildHash === build) &&
    (verdict === undefined || outcome?.verdict === verdict)
  );
}

function formatRequirement({ target, scenario, build, outcome }: Requirement): string {
  const conditions = Object.entries({ target, scenario, build, outcome }).flatMap(([name, condition]) =>
    condition === undefined ? [] : [`${name} ${formatCondition(condition)}`],
  );
  return conditions.length === 0 ? '' : ` with ${conditions.join(', ')}`;
}

/** A required drill in words. */
export function formatRequired(required: RequiredDrill): string {
  if (typeof required === 'string') return `${required}, at least once`;
  const { drill, min = 1, target, scenario, build, outcome } = required;
  const words = Object.entries({ target, scenario, build, outcome }).flatMap(([name, condition]) =>
    condition === undefined ? [] : [`${name} ${formatCondition(condition)}`],
  );
  return [drill, min === 1 ? 'at least once' : `at least ${min} times`, ...words].join(', ');
}
