import { isoTime } from '../../bytes/text/wording.ts';
import type { Reproduction } from '../../contract/resources/attestation.ts';
import type { BundleReport, Outcome } from '../../verify/report.ts';
import { type Contradiction, CONTRADICTIONS, type Contradictory } from '../../verify/part/run.ts';
import {
  type Condition,
  durationMs,
  formatAge,
  formatRange,
  joinConditions,
  meetsAny,
  isInRange,
  type Range,
} from '../document/values.ts';
import type { BundleFact, Facts, Subject } from '../facts.ts';
import {
  buildFailure,
  buildUnattested,
  buildUnknown,
  evaluateAttested,
  type Evaluator,
  type Problem,
} from './outcome.ts';

/** The value that `read` returns is allowed: `null` never is, and `undefined` if the report does not have it. */
export const requireFact = (
  what: string,
  read: (report: BundleReport) => string | null | undefined,
  allowed: readonly Condition[],
): Evaluator =>
  evaluateAttested(what, (bundle) => {
    const actual = read(bundle.report);
    if (actual === undefined) return buildUnknown(bundle, `the report does not have ${what}`);
    if (actual !== null && meetsAny(actual, allowed)) return undefined;
    const values = { expected: joinConditions(allowed), actual: actual ?? 'none' };
    return buildFailure(bundle, `${what} is not allowed`, values);
  });

const COUNTERS = {
  trial: 'originalTrial',
  trialCount: 'originalTrialCount',
  attempt: 'originalAttempt',
  attemptLimit: 'originalAttemptLimit',
} as const satisfies Record<string, keyof Reproduction>;
type Counter = keyof typeof COUNTERS;
const counters = Object.keys(COUNTERS) as readonly Counter[];

export const requireTrialNumbers = (allowed: {
  readonly [C in Counter]?: Range | undefined;
}): Evaluator =>
  evaluateAttested('the trial', (bundle) => {
    const { reproduction } = bundle.report;
    if (reproduction === undefined) return buildUnknown(bundle, 'the report does not have the pinned trial');
    const broken = counters.filter(
      (name) => allowed[name] !== undefined && !isInRange(reproduction[COUNTERS[name]], allowed[name]),
    );
    if (broken.length === 0) return undefined;
    return buildFailure(bundle, `not allowed: ${broken.join(', ')}`, {
      expected: broken.map((name) => `${name} ${formatRange(allowed[name]!)}`).join(', '),
      actual: broken.map((name) => `${name} ${reproduction[COUNTERS[name]]}`).join(', '),
    });
  });

/** The organization of each export, from its manifest, and of each bundle, as attested. */
export const requireOrganizations = (allowed: readonly Condition[]): Evaluator => {
  const evaluateParts = requireFact('the organization', (report) => report.organizationId ?? null, allowed);
  return (facts) => {
    const { examined, problems } = evaluateParts(facts);
    const ofExports = facts.exports.flatMap(({ report: { organizationId: actual }, ...place }) => {
      if (actual === undefined) return [buildUnknown(place, 'the organization could not be read')];
      if (meetsAny(actual, allowed)) return [];
      const values = { expected: joinConditions(allowed), actual };
      return [buildFailure(place, 'the organization is not allowed', values)];
    });
    return { examined: examined + facts.exports.length, problems: [...ofExports, ...problems] };
  };
};

export const requireMaxAge =
  (max: string): Evaluator =>
  (facts) => {
    const lists = facts.exports.flatMap(({ report: { signer }, ...place }) =>
      signer === undefined ? [] : [{ place, signer }],
    );
    return {
      examined: lists.length + facts.bundles.length,
      problems: [
        ...lists.flatMap(({ place, signer }) => checkAge(place, [signer], max, facts)),
        ...facts.bundles.flatMap((bundle) => {
          const { signers = [] } = bundle.report;
          if (!bundle.attested || signers.length === 0) return [buildUnattested(bundle, 'the time')];
          return checkAge(bundle, signers, max, facts);
        }),
      ],
    };
  };

const NAMED = {
  assertions: (report: BundleReport) =>
    report.outcome?.assertions?.map(({ id, status }) => ({ id, result: status })),
  checkpoints: (report: BundleReport) =>
    report.outcome?.checkpoints?.map(({ id, verdict }) => ({ id, result: verdict })),
} as const;
export type Named = keyof typeof NAMED;

/** The names that did not pass in a run, or do not occur in it; `undefined` if the report does not have them. */
export function listNotPassed(
  what: Named,
  names: readonly string[],
  report: BundleReport,
): readonly string[] | undefined {
  const rows = NAMED[what](report);
  return (
    rows &&
    names.filter((name) => {
      const results = rows.filter(({ id }) => id === name);
      return results.length === 0 || results.some(({ result }) => result !== 'passed');
    })
  );
}

/** Every named assertion or checkpoint occurs in every run, and always passed. */
export const requireNamed = (what: Named, names: readonly string[]): Evaluator =>
  evaluateAttested(`whether ${what} passed`, (bundle) => {
    const missing = listNotPassed(what, names, bundle.report);
    if (missing === undefined) return buildUnknown(bundle, `the report does not have the ${what} of the run`);
    if (missing.length === 0) return undefined;
    const message = `${what} that must pass did not pass or are missing`;
    return buildFailure(bundle, message, {
      expected: names.join(', '),
      actual: `without ${missing.join(', ')}`,
    });
  });

/** The time of a run and of its first statement; `undefined` if its report does not have both. */
export const readTimes = ({ createdAtMs, signers = [] }: BundleReport): RunTimes | undefined =>
  createdAtMs === undefined || signers.length === 0
    ? undefined
    : { createdAtMs, issuedAtMs: Math.min(...signers.map(({ issuedAtMs }) => issuedAtMs)) };

type RunTimes = { readonly createdAtMs: number; readonly issuedAtMs: number };

const evaluateTimes = (check: (times: RunTimes, bundle: BundleFact, facts: Facts) => Problem | undefined) =>
  evaluateAttested('the time of the run', (bundle, facts) => {
    const times = readTimes(bundle.report);
    return times === undefined
      ? buildUnknown(bundle, 'the report does not have the times of the run and of its signature')
      : check(times, bundle, facts);
  });

const LATE = 'the run is dated after its signature';

/** No run is older than allowed. A run that is dated after its signature could be of any age. */
export const requireRunAge = (max: string, skewMs: number): Evaluator =>
  evaluateTimes(({ createdAtMs, issuedAtMs }, bundle, { asOfMs }) => {
    const isLate = createdAtMs > issuedAtMs + skewMs;
    if (!isLate && asOfMs - createdAtMs <= durationMs(max)) return undefined;
    return buildFailure(bundle, isLate ? LATE : 'the run is too old', {
      expected: `at most ${max}`,
      actual: `created at ${isoTime(createdAtMs)}`,
    });
  });

export const refuseLateRuns = (skewMs: number): Evaluator =>
  evaluateTimes(({ createdAtMs, issuedAtMs }, bundle) =>
    createdAtMs <= issuedAtMs + skewMs
      ? undefined
      : buildFailure(bundle, LATE, {
          expected: `at most ${isoTime(issuedAtMs)}`,
          actual: isoTime(createdAtMs),
          findings: ['run.AFTER_SIGNATURE'],
        }),
  );

/** Every run was signed within this time. */
export const requireSignedWithin = (longest: string, skewMs: number): Evaluator =>
  evaluateTimes(({ createdAtMs, issuedAtMs }, bundle) => {
    const isLate = createdAtMs > issuedAtMs + skewMs;
    if (!isLate && issuedAtMs - createdAtMs <= durationMs(longest)) return undefined;
    return buildFailure(bundle, isLate ? LATE : 'the run was signed too late', {
      expected: `at most ${longest} after the run`,
      actual: formatAge(issuedAtMs - createdAtMs),
    });
  });

export const requireVirtualDuration = (longest: string): Evaluator =>
  evaluateAttested('the virtual duration', (bundle) => {
    const actual = bundle.report.outcome?.virtualUs;
    if (actual === undefined) return buildUnknown(bundle, 'the report does not have the virtual duration');
    if (actual <= durationMs(longest) * 1_000) return undefined;
    const values = { expected: `at most ${longest}`, actual: formatAge(actual / 1_000) };
    return buildFailure(bundle, 'the run took too much virtual time', values);
  });

function checkAge(
  { input, subject }: Subject,
  statements: readonly { readonly issuedAtMs: number }[],
  max: string,
  { asOfMs }: Facts,
): Problem[] {
  const oldest = Math.min(...statements.map(({ issuedAtMs }) => issuedAtMs));
  if (asOfMs - oldest <= durationMs(max)) return [];
  const values = { expected: `at most ${max}`, actual: `issued at ${isoTime(oldest)}` };
  return [buildFailure({ input, subject }, 'the statement is too old', values)];
}

// Reports of earlier releases, and on runs with very many assertions, do not have all facts.
const hasFacts = (outcome: Outcome | undefined): outcome is Contradictory & Outcome =>
  outcome?.budget !== undefined && outcome.assertions !== undefined && outcome.checkpoints !== undefined;

export const refuseContradiction = (what: Contradiction): Evaluator =>
  evaluateAttested('the result of the run', (bundle) => {
    const { outcome } = bundle.report;
    if (!hasFacts(outcome)) return buildUnknown(bundle, 'the report does not have all facts of the run');
    const row = CONTRADICTIONS[what];
    const values = row.find(outcome);
    if (values === undefined) return undefined;
    const { message, ...rest } = values;
    return buildFailure(bundle, message, { ...rest, findings: [row.code] });
  });
