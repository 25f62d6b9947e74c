import { compareUtf8 } from '../../bytes/text/utf8.ts';
import type { Reproduction } from '../../contract/index.ts';
import type { BundleFact, Facts } from '../facts.ts';
import { failure, unattested, type Found, type Judge, type Judgement } from '../judge.ts';

/** An attested bundle of a run that is no rerun: only these are trials. */
type Trial = { readonly bundle: BundleFact; readonly pins: Reproduction };

/** The trials of one run: everything that was pinned is the same, but for the trial and the attempt. */
type Group = [Trial, ...Trial[]];

const isRerun = ({ report }: BundleFact): boolean => report.rerunOfHostedRunId !== undefined;

function trialsOf({ bundles }: Facts): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const bundle of bundles) {
    const pins = bundle.report.reproduction;
    if (!bundle.attested || isRerun(bundle) || pins === undefined) continue;
    const key = keyOf(bundle, pins);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [{ bundle, pins }]);
    else group.push({ bundle, pins });
  }
  return [...groups.values()];
}

const keyOf = (
  { report: { organizationId, projectId } }: BundleFact,
  { originalTrial: _trial, originalAttempt: _attempt, ...pins }: Reproduction,
): string =>
  JSON.stringify([
    organizationId,
    projectId,
    ...Object.entries(pins).toSorted(([a], [b]) => compareUtf8(a, b)),
  ]);

/** Trials and attempts are numbered from 1, or from 0 where one of the run has that number. */
const baseOf = (group: Group): number =>
  group.some(({ pins }) => pins.originalTrial === 0 || pins.originalAttempt === 0) ? 0 : 1;

// A bundle of which no statement was read could be any trial.
const unattestedOnes = ({ bundles }: Facts, what: string): readonly Found[] =>
  bundles
    .filter(({ attested, report }) => !attested || report.reproduction === undefined)
    .map((bundle) => unattested(bundle, what));

function overGroups(facts: Facts, what: string, judge: (group: Group) => readonly Found[]): Judgement {
  const groups = trialsOf(facts);
  return { judged: groups.length, found: [...unattestedOnes(facts, what), ...groups.flatMap(judge)] };
}

/** Every trial of every run is there, and each as often as the others. */
export const completeTrials: Judge = (facts) =>
  overGroups(facts, 'the trial', (group) => {
    const [{ bundle, pins }] = group;
    const base = baseOf(group);
    const last = pins.originalTrialCount - 1 + base;
    const times = timesOf(group);
    const most = Math.max(...times.values());
    const outside = [...times.keys()].filter((trial) => trial < base || trial > last);
    const short = missingFrom(times, base, last, most);
    if (outside.length === 0 && short.count === 0) return [];
    const there = [...times.keys()].toSorted((a, b) => a - b).join(', ');
    return [
      failure(bundle, 'other trials are there than those of the run', {
        expected: `trials ${base} to ${last}${most > 1 ? `, ${most} times each` : ''}`,
        actual: `${there}${short.count > 0 ? `; ${short.count} missing, the first ${short.first}` : ''}`,
      }),
    ];
  });

/** How often each trial was begun: a later attempt of it is no other beginning. */
function timesOf(group: Group): ReadonlyMap<number, number> {
  const attempts = new Map<number, Map<number, number>>();
  for (const { pins } of group) {
    const of = attempts.get(pins.originalTrial) ?? new Map<number, number>();
    of.set(pins.originalAttempt, (of.get(pins.originalAttempt) ?? 0) + 1);
    attempts.set(pins.originalTrial, of);
  }
  return new Map([...attempts].map(([trial, of]) => [trial, Math.max(...of.values())]));
}

// A run may claim any number of trials: only those that are there are counted, never all that should be.
function missingFrom(
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

/** No attempt was picked: the earlier ones are there too, or there are no later ones. */
export const attempts =
  (which: 'every' | 'first'): Judge =>
  (facts) =>
    overGroups(facts, 'the attempt', (group) => {
      const base = baseOf(group);
      const there = new Set(group.map(({ pins }) => `${pins.originalTrial} ${pins.originalAttempt}`));
      return group.flatMap(({ bundle, pins }) => {
        const { originalAttempt: attempt, originalTrial: trial, originalAttemptLimit: limit } = pins;
        const actual = `trial ${trial}, attempt ${attempt} of ${limit}`;
        if (attempt < base || attempt > limit - 1 + base)
          return [failure(bundle, 'the attempt is outside its limit', { actual })];
        if (attempt === base) return [];
        if (which === 'first')
          return [failure(bundle, 'it is a later attempt', { expected: `attempt ${base}`, actual })];
        const before = there.has(`${trial} ${attempt - 1}`);
        const expected = `attempt ${attempt - 1} of the trial too`;
        return before ? [] : [failure(bundle, 'the attempt before it is not there', { expected, actual })];
      });
    });

/** No bundle is of a rerun. A manifest that could not be read does not say. */
export const noReruns: Judge = ({ bundles }) => ({
  judged: bundles.length,
  found: bundles.flatMap((bundle) => {
    const { hostedRunId, rerunOfHostedRunId: original } = bundle.report;
    if (hostedRunId === undefined) return [unattested(bundle, 'whether it is a rerun')];
    return original === undefined ? [] : [failure(bundle, 'it is a rerun', { actual: `of ${original}` })];
  }),
});

/** No run, bundle or manifest is there twice, in whatever inputs. */
export const uniqueRuns: Judge = ({ bundles }) => {
  const seen = new Map<string, string>();
  return {
    judged: bundles.length,
    found: bundles.flatMap((bundle) => {
      const names = namesOf(bundle);
      const twice = names.find((name) => seen.has(name));
      for (const name of names) if (!seen.has(name)) seen.set(name, bundle.subject);
      if (twice === undefined) return [];
      return [failure(bundle, `${twice} is there already`, { actual: `in ${seen.get(twice)}` })];
    }),
  };
};

const namesOf = ({ report }: BundleFact): readonly string[] => {
  const { organizationId, projectId, runId, hostedRunId, evidenceBundleId, manifestDigest } = report;
  const names = {
    run: runId === undefined ? undefined : [organizationId, projectId, runId].join('/'),
    'hosted run': hostedRunId,
    bundle: evidenceBundleId,
    manifest: manifestDigest,
  };
  return Object.entries(names).flatMap(([what, name]) => (name === undefined ? [] : [`${what} ${name}`]));
};
