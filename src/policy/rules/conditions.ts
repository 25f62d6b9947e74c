import { isoTime } from '../../bytes/text/wording.ts';
import type { Digest } from '../../bytes/hash.ts';
import type { Code } from '../../codes/catalogue.ts';
import type { BundleReport } from '../../verify/report.ts';
import { ofRun, type Selector } from '../document/parts.ts';
import {
  type Conditions,
  durationMs,
  formatAge,
  formatCondition,
  joinConditions,
  listConditions,
  meetsAny,
  momentMs,
} from '../document/values.ts';
import { type BundleFact, type Facts, hasNoInput, hasOnlySummaries } from '../facts.ts';
import { listNotPassed, type Named, readTimes } from './attested-facts.ts';
import {
  ofEvidence,
  buildNotGiven,
  buildFailure,
  buildUnknown,
  evaluateAttested,
  type Evaluator,
} from './outcome.ts';
import { countKeys, isAllowedSigner, type Signers } from './signers.ts';

/** What a run must be or have: the members of a selector, and those that only required drills have. */
export type RunConditions = Omit<Selector, 'not' | 'anyOf'> & {
  readonly artifact?: Digest;
  readonly signed?: string;
  readonly signers?: Signers;
  readonly assertions?: readonly string[];
  readonly checkpoints?: readonly string[];
};
type ConditionName = keyof RunConditions;

/** A condition that a run does not meet. */
export type Miss = {
  readonly condition: ConditionName;
  /** With the name of the value, for an environment. */
  readonly name: string;
  readonly expected: string;
  readonly actual: string;
  /** The report does not have the fact, so the run could meet it. */
  readonly isUnknown: boolean;
};

/** The times of a policy: when it is evaluated, and how far clocks may differ. */
export type Clock = { readonly asOfMs: number; readonly skewMs: number };

/** A text of a run: `null` if it has none, `undefined` if its report does not have it. */
type Reading = string | null | undefined;
type Read = (report: BundleReport) => Reading;

const readBuild: Read = ({ reproduction }) => reproduction?.buildHash;

const TEXTS = {
  drill: ({ reproduction }) => reproduction?.drillId,
  organization: ({ organizationId }) => organizationId ?? null,
  project: ({ projectId }) => projectId ?? null,
  target: ({ reproduction }) => reproduction?.targetId,
  scenario: ({ reproduction }) => reproduction && (reproduction.scenarioId ?? null),
  world: ({ outcome }) => outcome?.worldInstanceId,
  seed: ({ reproduction }) => reproduction?.seed,
  build: readBuild,
  artifact: readBuild,
  packageLock: ({ reproduction }) => reproduction?.packageLockHash,
  status: ({ outcome }) => outcome?.status,
  outcome: ({ outcome }) => outcome?.verdict,
} as const satisfies Partial<Record<ConditionName, Read>>;
type TextName = keyof typeof TEXTS;

/** What must hold of a run: the expected words, the actual ones, and whether it holds; `undefined` if it is unknown. */
type Result = { readonly expected: string; readonly actual: string; readonly holds: boolean | undefined };
type Check<T> = (value: T, report: BundleReport, clock: Clock) => Result;

const compareText = (conditions: Conditions, actual: Reading): Result => ({
  expected: joinConditions(listConditions(conditions)),
  actual: actual ?? (actual === null ? 'none' : 'not in the report'),
  holds: actual === undefined ? undefined : actual !== null && meetsAny(actual, listConditions(conditions)),
});

/** A run that is dated after its signature could be of any age, so no condition about its time holds. */
function compareTime(
  expected: string,
  report: BundleReport,
  { asOfMs, skewMs }: Clock,
  meets: (createdAtMs: number) => boolean,
): Result {
  const times = readTimes(report);
  if (times === undefined) return { expected, actual: 'not in the report', holds: undefined };
  const isLate = times.createdAtMs > times.issuedAtMs + skewMs;
  const age = `${formatAge(asOfMs - times.createdAtMs)} old (${isoTime(times.createdAtMs)})`;
  return {
    expected,
    actual: isLate ? 'dated after its signature' : age,
    holds: !isLate && meets(times.createdAtMs),
  };
}

const compareNamed =
  (what: Named): Check<readonly string[]> =>
  (names, report) => {
    const missing = listNotPassed(what, names, report);
    return {
      expected: `${names.join(', ')} passed`,
      actual: missing === undefined ? 'not in the report' : `without ${missing.join(', ')}`,
      holds: missing && missing.length === 0,
    };
  };

/** A condition that is present. */
const defineCheck =
  <N extends ConditionName>(name: N, check: Check<NonNullable<RunConditions[N]>>): Check<RunConditions> =>
  (conditions, report, clock) =>
    check(conditions[name]!, report, clock);

const OTHERS: Readonly<Record<Exclude<ConditionName, TextName | 'environment'>, Check<RunConditions>>> = {
  rerun: defineCheck('rerun', (value, { rerunOfHostedRunId }) => ({
    expected: value ? 'a rerun' : 'no rerun',
    actual: value ? 'no rerun' : 'a rerun',
    holds: value === (rerunOfHostedRunId !== undefined),
  })),
  ran: defineCheck('ran', (value, report, clock) =>
    compareTime(`at most ${value} old`, report, clock, (at) => clock.asOfMs - at <= durationMs(value)),
  ),
  from: defineCheck('from', (value, report, clock) =>
    compareTime(`from ${value}`, report, clock, (at) => at >= momentMs(value)),
  ),
  until: defineCheck('until', (value, report, clock) =>
    compareTime(`before ${value}`, report, clock, (at) => at < momentMs(value)),
  ),
  signed: defineCheck('signed', (value, { signers = [] }, { asOfMs }) => {
    const age = asOfMs - Math.min(...signers.map(({ issuedAtMs }) => issuedAtMs));
    const isUnsigned = signers.length === 0;
    return {
      expected: `a signature at most ${value} old`,
      actual: isUnsigned ? 'no signer' : `${formatAge(age)} old`,
      holds: !isUnsigned && age <= durationMs(value),
    };
  }),
  signers: defineCheck('signers', (allowed, { signers = [] }) => {
    const count = countKeys(signers.filter((signer) => isAllowedSigner(signer, allowed)));
    const names = new Set(signers.map(({ issuer }) => issuer));
    return {
      expected: formatSigning(allowed),
      actual: `signed by ${[...names].join(', ') || 'no key'}`,
      holds: count >= (allowed.distinct ?? 1),
    };
  }),
  assertions: defineCheck('assertions', compareNamed('assertions')),
  checkpoints: defineCheck('checkpoints', compareNamed('checkpoints')),
};

export function formatSigning({ issuers = [], keys = [], distinct }: Signers): string {
  const names = joinConditions([...issuers, ...keys]);
  const count = distinct === undefined ? [] : [distinct === 1 ? 'a key' : `${distinct} different keys`];
  return `signatures by ${[...count, ...(names === '' ? [] : [names])].join(' of ')}`;
}

/** The conditions in order of weight, with the code of a required drill whose nearest run misses one. */
export const CONDITION_CODES = {
  drill: 'policy.DRILL_MISSING',
  organization: 'policy.DRILL_ELSEWHERE',
  project: 'policy.DRILL_ELSEWHERE',
  target: 'policy.DRILL_ELSEWHERE',
  scenario: 'policy.DRILL_ELSEWHERE',
  environment: 'policy.DRILL_ELSEWHERE',
  world: 'policy.DRILL_ELSEWHERE',
  seed: 'policy.DRILL_ELSEWHERE',
  artifact: 'policy.DRILL_OTHER_BUILD',
  build: 'policy.DRILL_OTHER_BUILD',
  packageLock: 'policy.DRILL_OTHER_BUILD',
  rerun: 'policy.DRILL_RERUN',
  ran: 'policy.DRILL_TOO_OLD',
  from: 'policy.DRILL_TOO_OLD',
  until: 'policy.DRILL_TOO_NEW',
  signed: 'policy.DRILL_SIGNATURE_OLD',
  signers: 'policy.DRILL_SIGNERS',
  status: 'policy.DRILL_OUTCOME',
  outcome: 'policy.DRILL_OUTCOME',
  assertions: 'policy.DRILL_ASSERTION',
  checkpoints: 'policy.DRILL_ASSERTION',
} as const satisfies Readonly<Record<ConditionName, Code>>;
const NAMES = Object.keys(CONDITION_CODES) as readonly ConditionName[];

/** The conditions that say which run it is, apart from how it went. */
export const isOfRun = ({ condition }: Miss): boolean =>
  Object.hasOwn(ofRun, condition) || condition === 'artifact' || condition === 'rerun';

/** The nearest run first: the fewest conditions that it does not meet, and of equally many the least weighty. */
export const compareMisses = (a: readonly Miss[], b: readonly Miss[]): number =>
  a.length - b.length || weighFirst(b) - weighFirst(a);
const weighFirst = ([first]: readonly Miss[]): number =>
  first === undefined ? 0 : NAMES.indexOf(first.condition);

/** Each condition that a run does not meet, in order of weight. This is the only place that compares a run. */
export function listMisses(conditions: RunConditions, report: BundleReport, clock: Clock): readonly Miss[] {
  const misses: Miss[] = [];
  for (const condition of NAMES) {
    const value = conditions[condition];
    if (value === undefined) continue;
    for (const [name, { holds, expected, actual }] of compare(condition, conditions, report, clock))
      if (holds !== true) misses.push({ condition, name, expected, actual, isUnknown: holds === undefined });
  }
  return misses;
}

function compare(
  condition: ConditionName,
  conditions: RunConditions,
  report: BundleReport,
  clock: Clock,
): readonly (readonly [string, Result])[] {
  if (condition === 'environment') {
    const values = report.outcome?.environment;
    return Object.entries(conditions.environment ?? {}).map(([name, expected]) => [
      `environment.${name}`,
      compareText(expected, values && (Object.hasOwn(values, name) ? values[name]! : null)),
    ]);
  }
  if (isText(condition)) return [[condition, compareText(conditions[condition]!, TEXTS[condition](report))]];
  return [[condition, OTHERS[condition](conditions, report, clock)]];
}

const isText = (condition: ConditionName): condition is TextName => Object.hasOwn(TEXTS, condition);

/** Whether a run is one of those that a selector is about; `undefined` if its report does not have a fact. */
export function matchesSelector(
  { not, anyOf, ...conditions }: Selector,
  report: BundleReport,
  clock: Clock,
): boolean | undefined {
  const misses = listMisses(conditions, report, clock);
  const results = [
    misses.length === 0 ? true : misses.every(({ isUnknown }) => isUnknown) ? undefined : false,
    ...(not === undefined ? [] : [negate(matchesSelector(not, report, clock))]),
    ...(anyOf === undefined
      ? []
      : [negate(joinAll(anyOf.map((each) => negate(matchesSelector(each, report, clock)))))]),
  ];
  return joinAll(results);
}

type Truth = boolean | undefined;
const negate = (truth: Truth): Truth => (truth === undefined ? undefined : !truth);
const joinAll = (truths: readonly Truth[]): Truth =>
  truths.includes(false) ? false : truths.includes(undefined) ? undefined : true;

/** No run meets one of the selectors. */
export const refuseRuns = (selectors: readonly Selector[], skewMs: number): Evaluator =>
  evaluateAttested('whether it is a refused run', (bundle, { asOfMs }) => {
    const truths = selectors.map((selector) => matchesSelector(selector, bundle.report, { asOfMs, skewMs }));
    const at = truths.indexOf(true);
    if (at >= 0) {
      const values = { expected: `no run with ${formatSelector(selectors[at]!)}`, actual: 'such a run' };
      return buildFailure(bundle, 'the policy refuses such runs', values);
    }
    return truths.includes(undefined)
      ? buildUnknown(bundle, 'the report does not have a fact of the selector')
      : undefined;
  });

/**
 * The artifact was drilled. Required drills count only runs of it, so others may be present; without required drills, every
 * run must be of it.
 */
export const requireArtifact = (hasRequired: boolean): Evaluator =>
  ofEvidence((facts) => {
    const { artifact } = facts;
    if (artifact === undefined) return buildNotGiven('no artifact was given');
    return evaluateAttested('the build', (bundle) => {
      const actual = readBuild(bundle.report);
      if (hasRequired || actual === artifact) return undefined;
      const values = { expected: artifact, actual: actual ?? 'not in the report' };
      return buildFailure(bundle, 'the run is not of the artifact', values);
    })(facts);
  });

/** A set of rules about some runs only. */
export type Selection = { readonly when?: Selector; readonly unless?: Selector };

/**
 * The facts that rules with these selections are about. A bundle that is not attested stays, because it could be any run;
 * so does one whose report does not have a fact of the selector, and its facts then do not count.
 */
export function selectFacts(facts: Facts, selections: readonly Selection[], clock: Clock): Facts {
  const selectors = selections.flatMap(({ when, unless }) => [
    ...(when === undefined ? [] : [when]),
    ...(unless === undefined ? [] : [{ not: unless }]),
  ]);
  // Without evidence there is nothing to select from; a summary replaces it for every set.
  if (selectors.length === 0 || hasNoInput(facts) || hasOnlySummaries(facts)) return facts;
  const bundles = facts.bundles.flatMap((bundle): BundleFact[] => {
    if (!bundle.attested) return [bundle];
    const truth = joinAll(selectors.map((selector) => matchesSelector(selector, bundle.report, clock)));
    return truth === false ? [] : [{ ...bundle, attested: truth === true }];
  });
  const inputs = new Set(bundles.map(({ input }) => input));
  return {
    ...facts,
    isSelection: true,
    bundles,
    summaries: [],
    exports: facts.exports.filter(
      ({ input, report }) => inputs.has(input) || report.manifestDigest === undefined,
    ),
    localReports: facts.localReports.filter(({ input }) => inputs.has(input)),
  };
}

/** `target prod, outcome passed, not (drill like smoke-*)`. */
export function formatSelector(selector: RunConditions & Selector): string {
  const { not, anyOf, ...conditions } = selector;
  return [
    ...formatConditions(conditions),
    ...(not === undefined ? [] : [`not (${formatSelector(not)})`]),
    ...(anyOf === undefined ? [] : [`one of (${anyOf.map(formatSelector).join('; ')})`]),
  ].join(', ');
}

export const formatConditions = (conditions: RunConditions): readonly string[] =>
  NAMES.flatMap((name) => {
    const value = conditions[name];
    if (value === undefined) return [];
    if (name === 'environment')
      return Object.entries(conditions.environment ?? {}).map(
        ([key, each]) => `environment.${key} ${joinAllowed(each)}`,
      );
    return [
      isText(name)
        ? `${LABELS[name] ?? name} ${joinAllowed(conditions[name]!)}`
        : formatOther(name, conditions),
    ];
  });

const LABELS: { readonly [N in TextName]?: string } = { packageLock: 'package lock' };

const joinAllowed = (conditions: Conditions): string =>
  listConditions(conditions).map(formatCondition).join(' or ');

function formatOther(name: Exclude<ConditionName, TextName>, conditions: RunConditions): string {
  const { rerun, ran, from, until, signed, signers, assertions = [], checkpoints = [] } = conditions;
  const words = {
    rerun: rerun === true ? 'a rerun' : 'no rerun',
    ran: `an age of at most ${ran}`,
    from: `a time from ${from}`,
    until: `a time before ${until}`,
    signed: `a signature at most ${signed} old`,
    signers: signers === undefined ? '' : formatSigning(signers),
    assertions: `passed assertions ${assertions.join(' and ')}`,
    checkpoints: `passed checkpoints ${checkpoints.join(' and ')}`,
    environment: '',
  };
  return words[name];
}
