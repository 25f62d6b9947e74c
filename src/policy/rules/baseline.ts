import { countNoun } from '../../bytes/text/wording.ts';
import { type Baseline, type Facts, hasNoInput, hasUnreadLists, type RunCount } from '../facts.ts';
import { ofEvidence, buildNotGiven, type Evaluator, type Problem, UNWAIVABLE } from './outcome.ts';

const nameRow = ({ drill, target }: RunCount): string => `${drill} on ${target}`;
const keyOf = ({ project, drill, target }: Omit<RunCount, 'runs' | 'passed'>): string =>
  JSON.stringify([project, drill, target]);

/** The attested runs by project, drill and target; reruns do not count. */
export function countRuns({ bundles }: Pick<Facts, 'bundles'>): readonly RunCount[] {
  const rows = new Map<string, RunCount>();
  for (const { attested, report } of bundles) {
    const { reproduction, projectId: project = '', rerunOfHostedRunId, outcome } = report;
    if (!attested || reproduction === undefined || rerunOfHostedRunId !== undefined) continue;
    const place = { project, drill: reproduction.drillId, target: reproduction.targetId };
    const { runs, passed } = rows.get(keyOf(place)) ?? { runs: 0, passed: 0 };
    const isPassed = outcome?.verdict === 'passed';
    rows.set(keyOf(place), { ...place, runs: runs + 1, passed: passed + (isPassed ? 1 : 0) });
  }
  return [...rows.values()];
}

type Compare = (
  before: RunCount,
  now: RunCount | undefined,
) => Pick<Problem, 'message' | 'expected' | 'actual'> | undefined;

/** Compares each row of the baseline with the runs of now. A bundle that is not verified could be any run. */
const evaluateBaseline = (compare: Compare): Evaluator =>
  ofEvidence((facts) => {
    const { baseline } = facts;
    if (baseline === undefined || baseline.runs.length === 0)
      return buildNotGiven(`no ${baseline === undefined ? 'evidence' : 'run'} of the last time was given`);
    const rows = new Map(countRuns(facts).map((row) => [keyOf(row), row]));
    return { examined: baseline.runs.length, problems: compareRows(baseline, rows, facts, compare) };
  });

function compareRows(
  { runs }: Baseline,
  rows: ReadonlyMap<string, RunCount>,
  facts: Facts,
  compare: Compare,
): readonly Problem[] {
  const isOpen =
    hasNoInput(facts) ||
    hasUnreadLists(facts) ||
    facts.bundles.some(({ report: { verdict } }) => verdict === 'incomplete');
  return runs.flatMap((before) => {
    const values = compare(before, rows.get(keyOf(before)));
    if (values === undefined) return [];
    const { project, drill, target } = before;
    const problem = { subject: nameRow(before), of: { project, drill, target }, ...values };
    return [
      isOpen ? { ...problem, state: 'not_checked', causes: UNWAIVABLE } : { ...problem, state: 'failed' },
    ];
  });
}

export const requireBaselineDrills = evaluateBaseline((before, now) =>
  now === undefined
    ? {
        message: 'the drill did not run again',
        expected: `at least 1 run, as the last time had ${before.runs}`,
        actual: '0 verified runs',
      }
    : undefined,
);

const formatPassed = ({ passed, runs }: RunCount): string => `${passed} of ${countNoun(runs, 'run')} passed`;

export const requireBaselineOutcomes = evaluateBaseline((before, now) =>
  now !== undefined && now.passed * before.runs < before.passed * now.runs
    ? {
        message: 'the drill passed less often than the last time',
        expected: `at least the share of the last time, when ${formatPassed(before)}`,
        actual: formatPassed(now),
      }
    : undefined,
);

export const requireBaselineRuns = evaluateBaseline((before, now) =>
  now !== undefined && now.runs < before.runs
    ? {
        message: 'the drill ran less often than the last time',
        expected: `at least ${countNoun(before.runs, 'run')}`,
        actual: countNoun(now.runs, 'run'),
      }
    : undefined,
);
