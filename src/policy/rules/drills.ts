import { countNoun, joinWords } from '../../bytes/text/wording.ts';
import { defined } from '../../bytes/arguments.ts';
import { findLargest } from '../../bytes/async.ts';
import type { PolicyDocument } from '../document/document.ts';
import { durationMs, formatCondition, joinConditions, meets, meetsAny } from '../document/values.ts';
import { type BundleFact, type Facts, hasNoInput, hasOnlySummaries, hasUnreadLists } from '../facts.ts';
import { listNotPassed, type Named, readTimes } from './attested-facts.ts';
import { buildUnattested, type Evaluator, type Problem, type RuleOutcome, UNWAIVABLE } from './outcome.ts';
import { countKeys, isAllowedSigner } from './signers.ts';

type RequiredDrill = NonNullable<NonNullable<PolicyDocument['drills']>['required']>[number];
type Requirement = Exclude<RequiredDrill, string>;

const requirementOf = (drill: RequiredDrill): Requirement => (typeof drill === 'string' ? { drill } : drill);

export const requireDrills =
  (required: readonly RequiredDrill[], skewMs: number): Evaluator =>
  (facts) => {
    if (hasOnlySummaries(facts)) return { judged: 0, problems: [] };
    const problems = required.flatMap((drill) => checkDrill(requirementOf(drill), facts, skewMs) ?? []);
    return { judged: required.length, problems };
  };

export const listRerunDrills = ({ drills }: PolicyDocument): readonly string[] =>
  (drills?.required ?? []).flatMap((required) => {
    const { drill, reruns } = requirementOf(required);
    return reruns === 'allow' ? [drill] : [];
  });

function checkDrill(requirement: Requirement, facts: Facts, skewMs: number): Problem | undefined {
  const { drill, min = 1, latest = false, seeds = 1, passRate } = requirement;
  const runs = facts.bundles.filter((bundle) => isOf(bundle, requirement));
  const deciding = latest ? listLatest(runs) : runs;
  const meeting = deciding.filter((bundle) => fulfils(bundle, requirement, { asOfMs: facts.asOfMs, skewMs }));
  const counting = meeting.filter((bundle) => hasOutcome(bundle, requirement.outcome));
  const passed = meeting.filter((bundle) => hasOutcome(bundle, 'passed')).length;
  const count = counting.length;
  const isEnough = count >= min && (!latest || count === deciding.length);
  const kinds = new Set(counting.map(({ report }) => report.reproduction?.seed)).size;
  const isRate = passRate === undefined || (meeting.length > 0 && passed * 100 >= passRate * meeting.length);
  // An unread bundle could be of this drill. A failed or unattested one does not count, but could be the latest run.
  const unread = countUnread(facts);
  const unknown = latest || passRate !== undefined ? unread + countUnattested(facts) : 0;
  if (isEnough && kinds >= seeds && isRate && unknown === 0) return undefined;
  const isOpen = unknown > 0 || (count + unread >= min && kinds + unread >= seeds && unread > 0);
  return {
    state: isOpen ? 'not_checked' : 'failed',
    subject: drill,
    message: latest
      ? 'the latest run of the drill is not as required'
      : count < min
        ? 'there are fewer verified bundles of the drill than required'
        : 'the verified bundles of the drill are not as required',
    expected: `${latest ? 'the latest run' : `at least ${countNoun(min, 'bundle')}`}${formatRequirement(requirement)}`,
    actual: [
      `${latest ? `${count} of ${countNoun(deciding.length, 'latest run')}` : countNoun(count, 'bundle')}${seeds > 1 ? ` with ${countNoun(kinds, 'different seed')}` : ''}`,
      ...(passRate === undefined ? [] : [`${passed} of ${meeting.length} passed`]),
    ].join(', '),
    ...defined({ causes: unread > 0 ? UNWAIVABLE : undefined }),
  };
}

const countUnread = (facts: Facts): number =>
  hasNoInput(facts) || hasUnreadLists(facts)
    ? Infinity
    : facts.bundles.filter(({ report }) => report.verdict === 'incomplete').length;

const countUnattested = ({ bundles }: Facts): number => bundles.filter(({ attested }) => !attested).length;

function isOf({ attested, report }: BundleFact, requirement: Requirement): boolean {
  const { reproduction } = report;
  if (!attested || reproduction === undefined) return false;
  const { drill, target, scenario, build, reruns } = requirement;
  return (
    reproduction.drillId === drill &&
    (target === undefined || meets(reproduction.targetId, target)) &&
    (scenario === undefined ||
      (reproduction.scenarioId !== undefined && meets(reproduction.scenarioId, scenario))) &&
    (build === undefined || reproduction.buildHash === build) &&
    (reruns !== 'refuse' || report.rerunOfHostedRunId === undefined)
  );
}

const timeOf = ({ report }: BundleFact): number => report.createdAtMs ?? Infinity;

/** The latest runs; a run without a time could be the latest. */
function listLatest(runs: readonly BundleFact[]): readonly BundleFact[] {
  const last = findLargest(runs.map(timeOf));
  return runs.filter((run) => timeOf(run) === last);
}

type Times = { readonly asOfMs: number; readonly skewMs: number };

function fulfils({ report }: BundleFact, requirement: Requirement, { asOfMs, skewMs }: Times): boolean {
  const { signers = [] } = report;
  const times = readTimes(report);
  const { ran, signed, signers: allowed, assertions, checkpoints } = requirement;
  const issued = signers.map(({ issuedAtMs }) => issuedAtMs);
  const keys = allowed && signers.filter((signer) => isAllowedSigner(signer, allowed));
  const havePassed = (what: Named, names: readonly string[] | undefined): boolean =>
    names === undefined || listNotPassed(what, names, report)?.length === 0;
  return (
    (ran === undefined ||
      (times !== undefined &&
        asOfMs - times.createdAtMs <= durationMs(ran) &&
        times.createdAtMs <= times.issuedAtMs + skewMs)) &&
    (signed === undefined || (issued.length > 0 && asOfMs - Math.min(...issued) <= durationMs(signed))) &&
    (keys === undefined || countKeys(keys) >= (allowed?.distinct ?? 1)) &&
    havePassed('assertions', assertions) &&
    havePassed('checkpoints', checkpoints)
  );
}

const hasOutcome = ({ report }: BundleFact, verdict: string | undefined): boolean =>
  verdict === undefined || report.outcome?.verdict === verdict;

const isCounted = ({ attested, report }: BundleFact): boolean =>
  attested && report.reproduction !== undefined;

/** Groups the attested runs by drill and checks each group; reruns do not count. */
const evaluateByDrill =
  (what: string, check: (runs: readonly BundleFact[], drill: string) => Problem | undefined): Evaluator =>
  ({ bundles }): RuleOutcome => {
    const runs = bundles.filter(
      (bundle) => isCounted(bundle) && bundle.report.rerunOfHostedRunId === undefined,
    );
    const drills = [...new Set(runs.flatMap(({ report }) => report.reproduction?.drillId ?? []))].toSorted();
    const unknown = bundles
      .filter((bundle) => !isCounted(bundle))
      .map((bundle) => buildUnattested(bundle, what));
    const problems = drills.flatMap(
      (drill) =>
        check(
          runs.filter(({ report }) => report.reproduction?.drillId === drill),
          drill,
        ) ?? [],
    );
    return { judged: drills.length, problems: [...unknown, ...problems] };
  };

export const requirePassRate = (least: number): Evaluator =>
  evaluateByDrill('the outcome of the drill', (runs, drill) => {
    const passed = runs.filter((run) => hasOutcome(run, 'passed')).length;
    if (passed * 100 >= least * runs.length) return undefined;
    const values = { expected: `at least ${least} %`, actual: `${passed} of ${runs.length}` };
    return { state: 'failed', subject: drill, message: 'too few runs of the drill passed', ...values };
  });

export const requireDistinctSeeds = (least: number): Evaluator =>
  evaluateByDrill('the seed', (runs, drill) => {
    const count = new Set(runs.map(({ report }) => report.reproduction?.seed)).size;
    if (count >= least) return undefined;
    const values = { expected: `at least ${least}`, actual: String(count) };
    return {
      state: 'failed',
      subject: drill,
      message: 'the drill ran with too few different seeds',
      ...values,
    };
  });

/** The required drills that the other rules of the policy exclude. */
export const listExcludedDrills = (
  required: readonly RequiredDrill[],
  { run = {}, outcome = {} }: PolicyDocument,
): readonly string[] =>
  required.flatMap((item) => {
    const { drill, target, scenario, build, outcome: verdict } = requirementOf(item);
    const rows = [
      ['run.drills', drill, run.drills],
      ['run.targets', target, run.targets],
      ['run.scenarios', scenario, run.scenarios],
      ['run.builds', build, run.builds],
      ['outcome.verdict', verdict, outcome.verdict],
    ] as const;
    return rows.flatMap(([rule, value, allowed]) =>
      typeof value !== 'string' || allowed === undefined || meetsAny(value, allowed)
        ? []
        : [`cannot hold: ${drill} requires ${value}, which ${rule} excludes`],
    );
  });

export const exceedsKeys = (
  least: number | undefined,
  keys: readonly string[] | undefined,
): readonly string[] =>
  least === undefined || keys === undefined || least <= new Set(keys).size
    ? []
    : [`cannot hold: ${least} different keys are required, and the policy allows ${new Set(keys).size}`];

function listWords(requirement: Requirement): readonly string[] {
  const { target, scenario, build, outcome, ran, signed, signers, reruns } = requirement;
  const { assertions, checkpoints, seeds, passRate } = requirement;
  const names = signers && joinConditions([...(signers.issuers ?? []), ...(signers.keys ?? [])]);
  const keys =
    signers?.distinct === undefined
      ? []
      : [signers.distinct === 1 ? 'a key' : `${signers.distinct} different keys`];
  return [
    target && `target ${formatCondition(target)}`,
    scenario && `scenario ${formatCondition(scenario)}`,
    build && `build ${build}`,
    outcome && `outcome ${outcome}`,
    ran && `an age of at most ${ran}`,
    signed && `a signature at most ${signed} old`,
    signers && `signatures by ${[...keys, ...(names === '' ? [] : [names])].join(' of ')}`,
    reruns === 'refuse' && 'no rerun',
    assertions && `passed assertions ${assertions.join(' and ')}`,
    checkpoints && `passed checkpoints ${checkpoints.join(' and ')}`,
    seeds !== undefined && (seeds === 1 ? '1 seed' : `${seeds} different seeds`),
    passRate !== undefined && `a pass rate of ${passRate} %`,
  ].filter((words) => typeof words === 'string');
}

function formatRequirement(requirement: Requirement): string {
  const words = listWords(requirement);
  return words.length === 0 ? '' : ` with ${joinWords(words)}`;
}

export function formatRequired(required: RequiredDrill): string {
  const { min = 1, drill, ...rest } = requirementOf(required);
  const times = min === 1 ? 'at least once' : `at least ${min} times`;
  const place = rest.latest === true ? ' in the latest run' : '';
  return `${drill} ${times}${place}${formatRequirement({ drill, ...rest })}`;
}
