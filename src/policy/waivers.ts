import { groupBy } from '../bytes/async.ts';
import { defined } from '../bytes/arguments.ts';
import type { Code } from '../codes/catalogue.ts';
import type { Decision, WaiverState, WaiverUsed } from './decision.ts';
import type { PolicyDocument, Waiver } from './document/document.ts';
import { ofRun } from './document/parts.ts';
import { durationMs, formatCondition, listConditions, meetsAny, momentMs } from './document/values.ts';
import { findRemoved } from './explain.ts';
import type { BundleFact, Facts } from './facts.ts';
import { type Clock, formatSelector, matchesSelector, type RunConditions } from './rules/conditions.ts';
import type { Cause, Problem } from './rules/outcome.ts';

/** The waivers of one layer: they apply to its own rules, and never to those of a policy that it extends. */
export type Waivers = {
  /** The waiver of a problem if every cause of it is waived: the one that expires first. */
  findWaiver(problem: Problem, code: Code): WaiverUsed | undefined;
  /** Every waiver, and whether it was needed. */
  listResults(): Decision['waivers'];
};

/** The bundles of each subject. */
export const indexBundles = ({ bundles }: Facts): ReadonlyMap<string, readonly BundleFact[]> =>
  groupBy(bundles, ({ subject }) => subject);

type Scope = {
  readonly clock: Clock;
  readonly bundles: ReadonlyMap<string, readonly BundleFact[]>;
  /** The greatest length in ms. */
  readonly limitMs: number;
};

/** The members of a waiver that select runs. */
export const selectorOf = (waiver: Waiver): RunConditions =>
  Object.fromEntries(Object.entries(waiver).filter(([name]) => Object.hasOwn(ofRun, name)));

/** The subject of a waiver, or the runs that it is about, in words. */
export const formatWaived = (waiver: Waiver): string =>
  waiver.subject === undefined
    ? formatSelector(selectorOf(waiver))
    : listConditions(waiver.subject).map(formatCondition).join(' or ');

/** Whether a waiver counts now, apart from what it is about. */
function findState(
  { since, expires }: Waiver,
  { clock: { asOfMs }, limitMs }: Scope,
): WaiverState | undefined {
  if (asOfMs >= momentMs(expires)) return 'expired';
  if (since !== undefined && asOfMs < momentMs(since)) return 'not_begun';
  return momentMs(expires) - (since === undefined ? asOfMs : momentMs(since)) > limitMs
    ? 'too_long'
    : undefined;
}

/**
 * Decides whether a waiver applies to one cause of a problem. This is the only place that does. A waiver of runs applies to
 * a bundle only if every bundle of this id is verified and meets it; to a problem of no bundle, if what the problem
 * is about meets it.
 */
function appliesTo(waiver: Waiver, { subject, code }: Cause, problem: Problem, scope: Scope): boolean {
  if (waiver.code !== code || findState(waiver, scope) !== undefined) return false;
  if (waiver.subject !== undefined) return meetsAny(subject, listConditions(waiver.subject));
  const selector = selectorOf(waiver);
  if (problem.input === undefined) {
    const { of = {} } = problem;
    return Object.entries(selector).every(
      ([name, conditions]) =>
        of[name] !== undefined && isText(conditions) && meetsAny(of[name], listConditions(conditions)),
    );
  }
  const bundles = scope.bundles.get(subject) ?? [];
  return (
    bundles.length > 0 &&
    bundles.every(
      ({ attested, report }) => attested && matchesSelector(selector, report, scope.clock) === true,
    )
  );
}

type Conditions = NonNullable<RunConditions['drill']>;
const isText = (value: unknown): value is Conditions =>
  typeof value === 'string' ||
  Array.isArray(value) ||
  (typeof value === 'object' && value !== null && 'pattern' in value);

export function indexWaivers({ waivers = [] }: PolicyDocument, scope: Scope): Waivers {
  const counts = new Map<Waiver, number>(waivers.map((waiver) => [waiver, 0]));
  const longestFor = (cause: Cause, problem: Problem): readonly Waiver[] =>
    waivers
      .filter((waiver) => appliesTo(waiver, cause, problem, scope))
      .toSorted((a, b) => momentMs(b.expires) - momentMs(a.expires))
      .slice(0, 1);
  return {
    findWaiver(problem, code) {
      const causes = problem.causes ?? [{ subject: problem.subject, code }];
      const matching = causes.flatMap((cause) => longestFor(cause, problem));
      // A waiver is needed even if another cause is not waived.
      for (const waiver of matching) counts.set(waiver, counts.get(waiver)! + 1);
      const [first] = matching.toSorted((a, b) => momentMs(a.expires) - momentMs(b.expires));
      if (first === undefined || matching.length < causes.length) return undefined;
      const removed = matching.flatMap((waiver) => findRemoved(waiver.code) ?? []);
      const removes = removed.find((protection) => protection === 'integrity') ?? removed[0];
      return { ...describeWaiver(first), ...defined({ removes }) };
    },
    listResults: () =>
      [...counts].map(([waiver, violations]) => ({
        code: waiver.code,
        subject: formatWaived(waiver),
        ...describeWaiver(waiver),
        state: findState(waiver, scope) ?? (violations > 0 ? 'needed' : 'no_longer_needed'),
        violations,
      })),
  };
}

const describeWaiver = ({ reason, owner, expires }: Waiver): WaiverUsed => ({
  reason,
  owner,
  expiresAtMs: momentMs(expires),
});

/** The greatest length of waivers under a policy: the least of all its documents, because every document must hold. */
export const findWaiverLimitMs = (layers: readonly PolicyDocument[]): number =>
  Math.min(
    ...layers.map(({ waiverLimit }) => (waiverLimit === undefined ? Infinity : durationMs(waiverLimit))),
  );
