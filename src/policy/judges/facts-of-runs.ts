import type { Reproduction } from '../../contract/index.ts';
import type { BundleReport } from '../../verify/report.ts';
import { conditionWords, fulfilsAny, type Condition } from '../condition.ts';
import { eachAttested, failure, unknown, type Judge } from '../judge.ts';
import { rangeWords, within, type Range } from '../document/range.ts';

/** One attested fact of every bundle, against the conditions of which it has to fulfil one. */
export const attestedFact = (
  what: string,
  read: (report: BundleReport) => string | undefined,
  allowed: readonly Condition[],
  isThere: (report: BundleReport) => boolean = () => true,
): Judge =>
  eachAttested(what, (bundle) => {
    if (!isThere(bundle.report)) return unknown(bundle, `the report does not say ${what}`);
    const actual = read(bundle.report);
    if (actual !== undefined && fulfilsAny(actual, allowed)) return undefined;
    return failure(bundle, `${what} is not one that is allowed`, {
      expected: allowed.map(conditionWords).join(' or '),
      actual: actual ?? 'none',
    });
  });

/** The same of what the statement pins. */
export const pinnedFact = (
  what: string,
  read: (reproduction: Reproduction) => string | undefined,
  allowed: readonly Condition[],
): Judge =>
  attestedFact(
    what,
    ({ reproduction }) => reproduction && read(reproduction),
    allowed,
    ({ reproduction }) => reproduction !== undefined,
  );

/** The same of what the run result says. */
export const outcomeFact = (what: string, name: 'status' | 'verdict', allowed: readonly Condition[]): Judge =>
  attestedFact(
    what,
    ({ outcome }) => outcome && outcome[name],
    allowed,
    ({ outcome }) => outcome !== undefined,
  );

const COUNTERS = {
  trial: 'originalTrial',
  trialCount: 'originalTrialCount',
  attempt: 'originalAttempt',
  attemptLimit: 'originalAttemptLimit',
} as const satisfies Record<string, keyof Reproduction>;
type Counter = keyof typeof COUNTERS;
const counters = Object.keys(COUNTERS) as readonly Counter[];

export const trialNumbers = (allowed: { readonly [C in Counter]?: Range | undefined }): Judge =>
  eachAttested('the trial', (bundle) => {
    const { reproduction } = bundle.report;
    if (reproduction === undefined) return unknown(bundle, 'the report does not say what was pinned');
    const broken = counters.filter(
      (name) => allowed[name] !== undefined && !within(reproduction[COUNTERS[name]], allowed[name]),
    );
    if (broken.length === 0) return undefined;
    return failure(bundle, `${broken.join(' and ')} outside what is allowed`, {
      expected: broken.map((name) => `${name} ${rangeWords(allowed[name]!)}`).join(', '),
      actual: broken.map((name) => `${name} ${reproduction[COUNTERS[name]]}`).join(', '),
    });
  });

/** Whose the evidence is: of exports what their manifest says, of bundles what is attested. */
export const organizations = (allowed: readonly Condition[]): Judge => {
  const ofBundles = attestedFact('the organization', ({ organizationId }) => organizationId, allowed);
  return (facts) => {
    const { judged, found } = ofBundles(facts);
    const ofExports = facts.exports.flatMap(({ report: { organizationId: actual }, ...place }) => {
      if (actual === undefined) return [unknown(place, 'the organization could not be read')];
      if (fulfilsAny(actual, allowed)) return [];
      const expected = allowed.map(conditionWords).join(' or ');
      return [failure(place, 'the organization is not one that is allowed', { expected, actual })];
    });
    return { judged: judged + facts.exports.length, found: [...ofExports, ...found] };
  };
};
