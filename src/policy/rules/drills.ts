import { countNoun, didYouMean, joinWords } from '../../bytes/text/wording.ts';
import { defined } from '../../bytes/arguments.ts';
import { findLargest, groupBy } from '../../bytes/async.ts';
import type { Code } from '../../codes/catalogue.ts';
import type { BundleReport } from '../../verify/report.ts';
import type { PolicyDocument } from '../document/document.ts';
import { ofRun } from '../document/parts.ts';
import { type Condition, formatCondition, listConditions, meetsAny, momentMs } from '../document/values.ts';
import { type BundleFact, type Facts, hasNoInput, hasUnreadLists } from '../facts.ts';
import {
  type Clock,
  compareMisses,
  CONDITION_CODES,
  formatConditions,
  isOfRun,
  listMisses,
  type Miss,
  type RunConditions,
} from './conditions.ts';
import {
  ofEvidence,
  buildUnattested,
  type Evaluator,
  type Problem,
  type RuleOutcome,
  UNWAIVABLE,
} from './outcome.ts';

type RequiredDrill = NonNullable<NonNullable<PolicyDocument['drills']>['required']>[number];
type Requirement = Exclude<RequiredDrill, string>;

const requirementOf = (drill: RequiredDrill): Requirement => (typeof drill === 'string' ? { drill } : drill);

/** The requirement for each combination of the values that `each` names. */
function listCells({ each = [], ...requirement }: Requirement): readonly Requirement[] {
  let cells: readonly Requirement[] = [requirement];
  for (const name of each) {
    const values = [requirement[name] ?? []].flat();
    cells = cells.flatMap((cell) => values.map((value) => ({ ...cell, [name]: value })));
  }
  return cells;
}

export const requireDrills = (required: readonly RequiredDrill[], skewMs: number): Evaluator =>
  ofEvidence((facts) => {
    const cells = required.flatMap((drill) => listCells(requirementOf(drill)));
    const runs = groupBy(facts.bundles.filter(isCounted), ({ report }) => report.reproduction?.drillId ?? '');
    const search = { facts, runs, clock: { asOfMs: facts.asOfMs, skewMs } };
    return { examined: cells.length, problems: cells.flatMap((cell) => checkDrill(cell, search) ?? []) };
  });

/** The drills whose reruns the policy allows, and whether these are all. */
export const listRerunDrills = ({ drills }: PolicyDocument): readonly Condition[] =>
  (drills?.required ?? []).flatMap((required) => {
    const { drill = { pattern: '*' }, reruns } = requirementOf(required);
    return reruns === 'allow' ? listConditions(drill) : [];
  });

type Search = {
  readonly facts: Facts;
  /** The attested runs by drill. */
  readonly runs: ReadonlyMap<string, readonly BundleFact[]>;
  readonly clock: Clock;
};
type Candidate = { readonly bundle: BundleFact; readonly misses: readonly Miss[] };

/** The least numbers of different values among the runs that count. */
const KINDS = {
  seeds: ['different seed', ({ reproduction }) => reproduction?.seed],
  drills: ['different drill', ({ reproduction }) => reproduction?.drillId],
  targets: ['different target', ({ reproduction }) => reproduction?.targetId],
  projects: ['different project', ({ projectId }) => projectId],
} as const satisfies Partial<
  Record<keyof Requirement, readonly [string, (report: BundleReport) => string | undefined]>
>;
const KIND_NAMES = Object.keys(KINDS) as readonly (keyof typeof KINDS)[];

const conditionsOf = (
  { each: _each, min: _min, latest: _latest, passRate: _rate, reruns, ...requirement }: Requirement,
  { artifact }: Facts,
): RunConditions => {
  const {
    seeds: _seeds,
    drills: _drills,
    targets: _targets,
    projects: _projects,
    ...conditions
  } = requirement;
  return { ...conditions, ...(reruns === 'refuse' && { rerun: false }), ...defined({ artifact }) };
};

function listCandidates(requirement: Requirement, { facts, runs, clock }: Search): readonly Candidate[] {
  const conditions = conditionsOf(requirement, facts);
  const drills = requirement.drill === undefined ? undefined : listConditions(requirement.drill);
  return [...runs].flatMap(([drill, bundles]) =>
    drills !== undefined && !meetsAny(drill, drills)
      ? []
      : bundles.map((bundle) => ({ bundle, misses: listMisses(conditions, bundle.report, clock) })),
  );
}

function checkDrill(requirement: Requirement, search: Search): Problem | undefined {
  const { facts } = search;
  const { min = 1, latest = false, passRate } = requirement;
  const candidates = listCandidates(requirement, search);
  const deciding = latest ? listLatest(candidates.filter(({ misses }) => !misses.some(isOfRun))) : candidates;
  const counting = deciding.filter(({ misses }) => misses.length === 0);
  const meeting = deciding.filter(({ misses }) => misses.every(({ condition }) => condition === 'outcome'));
  const passed = meeting.filter(({ bundle }) => hasOutcome(bundle, 'passed')).length;
  const count = counting.length;
  const isEnough = count >= min && (!latest || count === deciding.length);
  const kinds = KIND_NAMES.flatMap((name) => {
    const least = requirement[name];
    const [noun, read] = KINDS[name];
    const actual = new Set(counting.map(({ bundle }) => read(bundle.report))).size;
    return least === undefined ? [] : [{ noun, least, actual }];
  });
  const isRate = passRate === undefined || (meeting.length > 0 && passed * 100 >= passRate * meeting.length);
  // An unread bundle could be of this drill. A failed or unattested one does not count, but could be the latest run.
  const unread = countUnread(facts);
  const unknown = latest || passRate !== undefined ? unread + countUnattested(facts) : 0;
  const isVaried = kinds.every(({ least, actual }) => actual >= least);
  if (isEnough && isVaried && isRate && unknown === 0) return undefined;
  const couldVary = kinds.every(({ least, actual }) => actual + unread >= least);
  const isOpen = unknown > 0 || (count + unread >= min && couldVary && unread > 0);
  const rejected = listRejected(requirement, deciding, facts);
  const [nearest] = rejected;
  const isMissed = count < min || (latest && !isEnough);
  const code = isOpen
    ? 'policy.DRILL_MISSING'
    : isMissed
      ? ((nearest && (latest ? 'policy.DRILL_LATEST' : CONDITION_CODES[nearest.misses[0]!.condition])) ??
        (count > 0 ? 'policy.DRILL_TOO_FEW' : 'policy.DRILL_MISSING'))
      : isVaried
        ? 'policy.DRILL_PASS_RATE'
        : 'policy.DRILL_NOT_VARIED';
  return {
    state: isOpen ? 'not_checked' : 'failed',
    code: nearest?.isUnverified === true && isMissed && !isOpen ? 'policy.DRILL_UNVERIFIED' : code,
    subject: nameRequirement(requirement),
    message: DRILL_MESSAGES[latest && isMissed ? 'latest' : isMissed ? 'few' : 'other'],
    expected: `${latest ? 'the latest run' : `at least ${countNoun(min, 'run')}`}${formatRequirement(requirement, facts)}`,
    actual: [
      latest
        ? `${count} of ${countNoun(deciding.length, 'latest run')}`
        : candidates.length === 0
          ? 'no verified run'
          : `${count} of ${countNoun(candidates.length, 'verified run')}`,
      ...kinds.map(({ noun, actual }) => countNoun(actual, noun)),
      ...(passRate === undefined ? [] : [`${passed} of ${meeting.length} passed`]),
      ...(isMissed ? describeNearest(requirement, rejected, facts) : []),
    ].join('; '),
    of: listExact(requirement),
    ...defined({
      causes: unread > 0 ? UNWAIVABLE : undefined,
      candidates: listShown(counting, rejected),
    }),
  };
}

const DRILL_MESSAGES = {
  latest: 'the latest run of the drill is not as required',
  few: 'fewer verified runs than required meet every condition',
  other: 'the verified runs are not as required',
} as const;

/** The codes of a required drill, one for each cause. */
export const DRILL_CODES: readonly Code[] = [
  ...new Set(Object.values(CONDITION_CODES)),
  'policy.DRILL_UNVERIFIED',
  'policy.DRILL_TOO_FEW',
  'policy.DRILL_LATEST',
  'policy.DRILL_NOT_VARIED',
  'policy.DRILL_PASS_RATE',
];

type Rejected = Candidate & { readonly isUnverified?: true };

/** The runs of the drill that do not count, the nearest first; also those that are not verified, of which all is only claimed. */
function listRejected(
  { drill }: Requirement,
  candidates: readonly Candidate[],
  { bundles }: Facts,
): readonly Rejected[] {
  const claimed = bundles.flatMap((bundle): Rejected[] => {
    const { reproduction, outcome, verdict } = bundle.report;
    const name = reproduction?.drillId ?? outcome?.drillId;
    if (isCounted(bundle) || name === undefined) return [];
    if (drill !== undefined && !meetsAny(name, listConditions(drill))) return [];
    const miss = { condition: 'drill', name: 'verdict', expected: 'verified', actual: verdict } as const;
    return [{ bundle, isUnverified: true, misses: [{ ...miss, isUnknown: true }] }];
  });
  return [
    ...candidates
      .filter(({ misses }) => misses.length > 0)
      .toSorted((a, b) => compareMisses(a.misses, b.misses)),
    ...claimed,
  ];
}

const describeMiss = ({ name, expected, actual }: Miss): string =>
  expected.startsWith('no ') || /^(?:at most|from|before|a |signatures)/.test(expected)
    ? `${actual}; expected ${expected}`
    : `${name} ${actual}; expected ${expected}`;

const nameRun = ({ report, subject }: BundleFact): string => report.runId ?? subject;

function describeNearest(
  { drill }: Requirement,
  rejected: readonly Rejected[],
  { bundles }: Facts,
): readonly string[] {
  const [nearest] = rejected;
  if (nearest !== undefined) {
    const others = rejected.length - 1;
    const more = others === 0 ? '' : `; and ${countNoun(others, 'other')}`;
    return [`nearest ${nameRun(nearest.bundle)}: ${nearest.misses.map(describeMiss).join(', ')}${more}`];
  }
  const names = [...new Set(bundles.flatMap(({ report }) => report.reproduction?.drillId ?? []))].toSorted();
  const similar = typeof drill === 'string' ? didYouMean(drill, names) : undefined;
  return names.length === 0 ||
    drill === undefined ||
    names.some((name) => meetsAny(name, listConditions(drill)))
    ? []
    : [
        `the evidence has ${names.slice(0, MAX_NAMES).join(', ')}${similar === undefined ? '' : `. ${similar}`}`,
      ];
}

const MAX_NAMES = 5;
const MAX_CANDIDATES = 100;

/** The runs that count and those that do not, each with the reasons, at most 100. */
function listShown(counting: readonly Candidate[], rejected: readonly Rejected[]): Problem['candidates'] {
  const rows = [...rejected, ...counting].slice(0, MAX_CANDIDATES);
  if (rows.length === 0) return undefined;
  return rows.map(({ bundle: { input, subject, report }, misses }) => ({
    input,
    subject,
    ...defined({ runId: report.runId, path: report.path }),
    accepted: misses.length === 0,
    reasons: misses.map(describeMiss),
  }));
}

const countUnread = (facts: Facts): number =>
  hasNoInput(facts) || hasUnreadLists(facts)
    ? Infinity
    : facts.bundles.filter(({ report }) => report.verdict === 'incomplete').length;

const countUnattested = ({ bundles }: Facts): number => bundles.filter(({ attested }) => !attested).length;

const timeOf = ({ bundle: { report } }: Candidate): number => report.createdAtMs ?? Infinity;

/** The latest runs; a run without a time could be the latest. */
function listLatest(runs: readonly Candidate[]): readonly Candidate[] {
  const last = findLargest(runs.map(timeOf));
  return runs.filter((run) => timeOf(run) === last);
}

const hasOutcome = ({ report }: BundleFact, verdict: string): boolean => report.outcome?.verdict === verdict;

/** The members of a requirement that name one value each, for waivers. */
const listExact = (requirement: Requirement): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(ofRun).flatMap((name) => {
      const value = requirement[name as keyof typeof ofRun];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

/** The drill of a requirement, or all that it says about which runs count. */
const nameRequirement = ({ drill, ...rest }: Requirement): string =>
  drill === undefined
    ? `runs${formatRequirement(rest, {})}`
    : listConditions(drill).map(formatCondition).join(' or ');

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
    return { examined: drills.length, problems: [...unknown, ...problems] };
  };

export const requirePassRate = (least: number): Evaluator =>
  evaluateByDrill('the outcome of the drill', (runs, drill) => {
    const passed = runs.filter((run) => hasOutcome(run, 'passed')).length;
    if (passed * 100 >= least * runs.length) return undefined;
    const values = { expected: `at least ${least} %`, actual: `${passed} of ${runs.length}` };
    return {
      state: 'failed',
      subject: drill,
      of: { drill },
      message: 'too few runs of the drill passed',
      ...values,
    };
  });

export const requireDistinctSeeds = (least: number): Evaluator =>
  evaluateByDrill('the seed', (runs, drill) => {
    const count = new Set(runs.map(({ report }) => report.reproduction?.seed)).size;
    if (count >= least) return undefined;
    const values = { expected: `at least ${least}`, actual: String(count) };
    return {
      state: 'failed',
      subject: drill,
      of: { drill },
      message: 'the drill ran with too few different seeds',
      ...values,
    };
  });

/** The required drills that cannot be fulfilled, by themselves or with the other rules of the policy. */
export const listDrillDoubts = (
  required: readonly RequiredDrill[],
  { run = {}, outcome = {} }: PolicyDocument,
): readonly string[] =>
  required.flatMap((item) => {
    const requirement = requirementOf(item);
    const { drill, target, scenario, build, latest, min = 1, signers } = requirement;
    const rows = [
      ['run.drills', drill, run.drills],
      ['run.targets', target, run.targets],
      ['run.scenarios', scenario, run.scenarios],
      ['run.builds', build, run.builds],
      ['outcome.verdict', requirement.outcome, outcome.verdict],
    ] as const;
    const name = nameRequirement(requirement);
    const most = latest === true ? 1 : Infinity;
    return [
      ...rows.flatMap(([rule, value, allowed]) =>
        typeof value !== 'string' || allowed === undefined || meetsAny(value, allowed)
          ? []
          : [`cannot hold: ${name} requires ${value}, which ${rule} excludes`],
      ),
      ...KIND_NAMES.flatMap((kind) =>
        (requirement[kind] ?? 1) > most
          ? [`cannot hold: ${kind}: ${requirement[kind]} needs more than the latest run, which alone decides`]
          : [],
      ),
      ...(requirement.from !== undefined &&
      requirement.until !== undefined &&
      momentMs(requirement.from) >= momentMs(requirement.until)
        ? ['cannot hold: from is not before until']
        : []),
      ...(typeof drill === 'string' && (requirement.drills ?? 1) > 1
        ? [`cannot hold: drills: ${requirement.drills}, of the one drill ${drill}`]
        : []),
      ...(min > 1 && requirement.seeds !== undefined && requirement.seeds > min
        ? [`min: ${min} says less than seeds: ${requirement.seeds}`]
        : []),
      ...exceedsKeys(signers?.distinct, signers?.keys),
    ];
  });

export const exceedsKeys = (
  least: number | undefined,
  keys: readonly string[] | undefined,
): readonly string[] =>
  least === undefined || keys === undefined || least <= new Set(keys).size
    ? []
    : [`cannot hold: ${least} different keys are required, and the policy allows ${new Set(keys).size}`];

function formatRequirement(requirement: Requirement, facts: Pick<Facts, 'artifact'>): string {
  const { drill: _drill, ...conditions } = conditionsOf(requirement, { ...NO_FACTS, ...facts });
  const words = [
    ...formatConditions(conditions),
    ...KIND_NAMES.flatMap((name) => {
      const least = requirement[name];
      return least === undefined ? [] : [countNoun(least, KINDS[name][0])];
    }),
    ...(requirement.passRate === undefined ? [] : [`a pass rate of ${requirement.passRate} %`]),
  ];
  return words.length === 0 ? '' : ` with ${joinWords(words)}`;
}

const NO_FACTS: Facts = { asOfMs: 0, exports: [], bundles: [], localReports: [], unread: [], summaries: [] };

export function formatRequired(required: RequiredDrill): string {
  const { min = 1, drill, each, ...rest } = requirementOf(required);
  const times = min === 1 ? 'at least once' : `at least ${min} times`;
  const place = rest.latest === true ? ' in the latest run' : '';
  const cells = each === undefined ? '' : `, for each ${each.join(' and ')}`;
  const name = drill === undefined ? 'any drill' : nameRequirement({ drill });
  return `${name} ${times}${place}${formatRequirement(rest, {})}${cells}`;
}
