import type { PolicyDocument } from '../document/document.ts';
import { fulfils } from '../condition.ts';
import { nothingGiven, onlySummaries, unreadLists, type BundleFact, type Facts } from '../facts.ts';
import { NOTHING, type Found, type Judge } from '../judge.ts';

type RequiredDrill = NonNullable<NonNullable<PolicyDocument['drills']>['required']>[number];
type Wanted = Exclude<RequiredDrill, string>;

/** Every required drill has as many verified bundles as are asked for. */
export const requiredDrills =
  (required: readonly RequiredDrill[]): Judge =>
  (facts) => {
    if (onlySummaries(facts)) return { judged: 0, found: [] };
    const all = required.map((one) => (typeof one === 'string' ? { drill: one } : one));
    return { judged: all.length, found: all.flatMap((wanted) => missing(wanted, facts) ?? []) };
  };

function missing(wanted: Wanted, facts: Facts): Found | undefined {
  const { drill, min = 1 } = wanted;
  const there = facts.bundles.filter((bundle) => isWanted(bundle, wanted)).length;
  if (there >= min) return undefined;
  // What could not be read could be what is wanted; what failed or is nobody's word is not.
  const open = openOnes(facts);
  return {
    state: there + open >= min ? 'not_checked' : 'failed',
    subject: drill,
    message: 'the drill is not there, verified, as often as required',
    expected: `at least ${min}${words(wanted)}`,
    actual: String(there),
    ...(open > 0 && { causes: NOTHING }),
  };
}

/** How many bundles there could be, or be of this drill, of which nothing is known. */
const openOnes = (facts: Facts): number =>
  nothingGiven(facts) || unreadLists(facts)
    ? Infinity
    : facts.bundles.filter(({ report }) => report.verdict === 'incomplete').length;

function isWanted({ attested, report: { reproduction, outcome } }: BundleFact, wanted: Wanted): boolean {
  if (!attested || reproduction === undefined) return false;
  const { drill, target, scenario, build, outcome: verdict } = wanted;
  return (
    reproduction.drillId === drill &&
    (target === undefined || fulfils(reproduction.targetId, target)) &&
    (scenario === undefined ||
      (reproduction.scenarioId !== undefined && fulfils(reproduction.scenarioId, scenario))) &&
    (build === undefined || reproduction.buildHash === build) &&
    (verdict === undefined || outcome?.verdict === verdict)
  );
}

function words({ target, scenario, build, outcome }: Wanted): string {
  const conditions = { target, scenario, build, outcome };
  const said = Object.entries(conditions).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${typeof value === 'string' ? value : `like ${value.pattern}`}`],
  );
  return said.length === 0 ? '' : ` with ${said.join(', ')}`;
}
