import { compareUtf8 } from '../../bytes/text/encoding.ts';
import { findLargest } from '../../bytes/async.ts';
import type { Reproduction } from '../../contract/resources/attestation.ts';
import { type Condition, meetsAny } from '../document/values.ts';
import type { BundleFact, Facts } from '../facts.ts';
import { buildFailure, buildUnattested, type Evaluator, type Problem, type RuleOutcome } from './outcome.ts';

/** An attested bundle that is not of a rerun. */
type Trial = { readonly bundle: BundleFact; readonly pins: Reproduction };

/** The trials of one run: everything pinned is equal except the trial and the attempt. */
type Group = [Trial, ...Trial[]];

const isRerun = ({ report }: BundleFact): boolean => report.rerunOfHostedRunId !== undefined;

function groupTrials({ bundles }: Facts): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const bundle of bundles) {
    const pins = bundle.report.reproduction;
    if (!bundle.attested || isRerun(bundle) || pins === undefined) continue;
    const key = deriveGroupKey(bundle, pins);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [{ bundle, pins }]);
    else group.push({ bundle, pins });
  }
  return [...groups.values()];
}

const deriveGroupKey = (
  { report: { organizationId, projectId } }: BundleFact,
  { originalTrial: _trial, originalAttempt: _attempt, ...pins }: Reproduction,
): string =>
  JSON.stringify([
    organizationId,
    projectId,
    ...Object.entries(pins).toSorted(([a], [b]) => compareUtf8(a, b)),
  ]);

const firstNumberOf = (group: Group): number =>
  group.some(({ pins }) => pins.originalTrial === 0 || pins.originalAttempt === 0) ? 0 : 1;

// A bundle without a statement could be any trial.
const listUnattested = ({ bundles }: Facts, what: string): readonly Problem[] =>
  bundles
    .filter(({ attested, report }) => !attested || report.reproduction === undefined)
    .map((bundle) => buildUnattested(bundle, what));

function evaluateGroups(
  facts: Facts,
  what: string,
  check: (group: Group) => readonly Problem[],
): RuleOutcome {
  const groups = groupTrials(facts);
  return { examined: groups.length, problems: [...listUnattested(facts, what), ...groups.flatMap(check)] };
}

export const requireCompleteTrials: Evaluator = (facts) =>
  evaluateGroups(facts, 'the trial', (group) => {
    const [{ bundle, pins }] = group;
    const base = firstNumberOf(group);
    const last = pins.originalTrialCount - 1 + base;
    const times = countTrials(group);
    const most = findLargest(times.values());
    const outside = [...times.keys()].filter((trial) => trial < base || trial > last);
    const missing = findMissing(times, base, last, most);
    if (outside.length === 0 && missing.count === 0) return [];
    const present = [...times.keys()].toSorted((a, b) => a - b).join(', ');
    return [
      buildFailure(bundle, 'the trials are not those of the run', {
        expected: `trials ${base} to ${last}${most > 1 ? `, ${most} times each` : ''}`,
        actual: `${present}${missing.count > 0 ? `; ${missing.count} missing, the first ${missing.first}` : ''}`,
      }),
    ];
  });

/** How often each trial was started; a later attempt does not start it again. */
function countTrials(group: Group): ReadonlyMap<number, number> {
  const attempts = new Map<number, Map<number, number>>();
  for (const { pins } of group) {
    const started = attempts.get(pins.originalTrial) ?? new Map<number, number>();
    started.set(pins.originalAttempt, (started.get(pins.originalAttempt) ?? 0) + 1);
    attempts.set(pins.originalTrial, started);
  }
  return new Map([...attempts].map(([trial, counts]) => [trial, findLargest(counts.values())]));
}

// A run may claim any number of trials, so this loops over those that are present, never over the claimed number.
function findMissing(
  times: ReadonlyMap<number, number>,
  base: number,
  last: number,
  most: number,
): { readonly count: number; readonly first: number } {
  const inside = [...times.keys()].filter((trial) => trial >= base && trial <= last);
  const rare = inside.filter((trial) => times.get(trial)! < most);
  const count = Math.max(0, last - base + 1 - inside.length) + rare.length;
  let first = base;
  while (times.has(first) && times.get(first) === most) first++;
  return { count, first };
}

/** No attempt was picked from several: the earlier ones are present too, or there are no later ones. */
export const requireAttempts =
  (which: 'every' | 'first'): Evaluator =>
  (facts) =>
    evaluateGroups(facts, 'the attempt', (group) => {
      const base = firstNumberOf(group);
      const present = new Set(group.map(({ pins }) => `${pins.originalTrial} ${pins.originalAttempt}`));
      return group.flatMap(({ bundle, pins }) => {
        const { originalAttempt: attempt, originalTrial: trial, originalAttemptLimit: limit } = pins;
        const actual = `trial ${trial}, attempt ${attempt} of ${limit}`;
        if (attempt < base || attempt > limit - 1 + base)
          return [buildFailure(bundle, 'the attempt is outside its limit', { actual })];
        if (attempt === base) return [];
        if (which === 'first')
          return [buildFailure(bundle, 'it is a later attempt', { expected: `attempt ${base}`, actual })];
        if (present.has(`${trial} ${attempt - 1}`)) return [];
        const expected = `attempt ${attempt - 1} of the trial too`;
        return [buildFailure(bundle, 'the attempt before it is missing', { expected, actual })];
      });
    });

/** No bundle is of a rerun. Without its manifest this is unknown. */
export const refuseReruns =
  (allowedDrills: readonly Condition[]): Evaluator =>
  ({ bundles }) => ({
    examined: bundles.length,
    problems: bundles.flatMap((bundle) => {
      const { hostedRunId, rerunOfHostedRunId: original, reproduction } = bundle.report;
      if (bundle.attested && reproduction !== undefined && meetsAny(reproduction.drillId, allowedDrills))
        return [];
      if (hostedRunId === undefined) return [buildUnattested(bundle, 'whether it is a rerun')];
      return original === undefined
        ? []
        : [buildFailure(bundle, 'it is a rerun', { actual: `of ${original}` })];
    }),
  });

/** No run, bundle or manifest appears twice over all inputs. */
export const requireUniqueRuns: Evaluator = ({ bundles }) => {
  const seen = new Map<string, string>();
  return {
    examined: bundles.length,
    problems: bundles.flatMap((bundle) => {
      const names = listNames(bundle);
      const twice = names.find((name) => seen.has(name));
      for (const name of names) if (!seen.has(name)) seen.set(name, bundle.subject);
      if (twice === undefined) return [];
      return [buildFailure(bundle, `${twice} appears twice`, { actual: `also in ${seen.get(twice)}` })];
    }),
  };
};

const listNames = ({ report }: BundleFact): readonly string[] => {
  const { organizationId, projectId, runId, hostedRunId, evidenceBundleId, manifestDigest } = report;
  const names = {
    run: runId === undefined ? undefined : [organizationId, projectId, runId].join('/'),
    'hosted run': hostedRunId,
    bundle: evidenceBundleId,
    manifest: manifestDigest,
  };
  return Object.entries(names).flatMap(([what, name]) => (name === undefined ? [] : [`${what} ${name}`]));
};
