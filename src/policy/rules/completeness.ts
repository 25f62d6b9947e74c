import { defined, isoTime } from '../../bytes/index.ts';
import type { Verdict } from '../../verify/index.ts';
import { boundsOf, durationMs, formatCondition, formatRange, type Range } from '../document/values.ts';
import { hasNoInput, hasOnlySummaries, hasUnreadLists, type Facts } from '../facts.ts';
import { buildFailure, buildUnknown, UNWAIVABLE, type Evaluator, type Problem } from './outcome.ts';
import { isAllowedSigner, type Signers } from './signers.ts';

type Vouched = 'pinned' | 'attested';

/** The list of each export is pinned or attested. A single part has no list: only its own digest can pin it. */
export const requireCompleteness =
  (allowed: readonly Vouched[]): Evaluator =>
  (facts) => {
    const expected = allowed.join(' or ');
    const parts = facts.bundles.flatMap(({ alone, input, subject }) =>
      alone === undefined ? [] : [{ input, subject, ...alone }],
    );
    const ofExports = facts.exports.flatMap(({ report, ...place }) => {
      const { completeness, manifestDigest } = report;
      if (allowed.some((name) => name === completeness)) return [];
      if (manifestDigest === undefined) return [buildUnknown(place, 'the list of bundles could not be read')];
      return [
        buildFailure(place, `the list of bundles is not ${expected}`, { expected, actual: completeness }),
      ];
    });
    const ofParts = parts.flatMap(({ pinned, ...place }) => {
      if (pinned && allowed.includes('pinned')) return [];
      const message = `a single part has no list of bundles that is ${expected}`;
      return [buildFailure(place, message, { expected, actual: pinned ? 'pinned' : 'claimed' })];
    });
    return { judged: facts.exports.length + parts.length, problems: [...ofExports, ...ofParts] };
  };

/** Every list that the caller did not pin is attested by a signer that the policy allows. */
export const requireListSigners =
  (what: 'issuer' | 'key', signers: Signers): Evaluator =>
  (facts) => {
    const allowed = what === 'issuer' ? signers.issuers : signers.keys;
    const expected = (allowed ?? []).map(formatCondition).join(' or ');
    const message = `no allowed ${what} attested the list of bundles`;
    const parts = facts.bundles.filter(({ alone }) => alone !== undefined);
    const ofExports = facts.exports.flatMap(({ report, ...place }) => {
      if (report.completeness === 'pinned') return [];
      if (report.manifestDigest === undefined)
        return [buildUnknown(place, 'the list of bundles could not be read')];
      const keys = report.completeness === 'attested' ? report.signers : [];
      if (keys === undefined)
        return [buildUnknown(place, 'the report does not have the keys that signed the list')];
      if (keys.some((key) => isAllowedSigner(key, signers))) return [];
      const names = keys.map(({ issuer, thumbprint }) => (what === 'issuer' ? issuer : thumbprint));
      return [
        buildFailure(place, message, { expected, actual: [...new Set(names)].join(', ') || 'no signer' }),
      ];
    });
    const ofParts = parts.flatMap(({ alone, input, subject }) =>
      alone?.pinned === true
        ? []
        : [buildFailure({ input, subject }, message, { expected, actual: 'no list' })],
    );
    return { judged: facts.exports.length + parts.length, problems: [...ofExports, ...ofParts] };
  };

type Window = { readonly last: string; readonly lag: string };

/** The window of every export covers this time. Only an attested or pinned list states its window. */
export const requireWindow =
  ({ last, lag }: Window): Evaluator =>
  (facts) => {
    const from = facts.asOfMs - durationMs(last);
    const through = facts.asOfMs - durationMs(lag);
    const parts = facts.bundles.filter(({ alone }) => alone !== undefined);
    const ofExports = facts.exports.flatMap(({ report: { window, completeness }, ...place }) => {
      if (window === undefined)
        return [buildUnknown(place, 'the report does not have the window of the export')];
      if (completeness === 'claimed')
        return [buildUnknown(place, 'the window is neither pinned nor attested')];
      if (window.fromAtMs <= from && window.throughAtMs >= through) return [];
      const expected = `${isoTime(from)} to at least ${isoTime(through)}`;
      const actual = `${isoTime(window.fromAtMs)} to ${isoTime(window.throughAtMs)}`;
      return [buildFailure(place, 'the window is too short', { expected, actual })];
    });
    const ofParts = parts.map(({ input, subject }) =>
      buildFailure({ input, subject }, 'a single part has no window', { expected: `the last ${last}` }),
    );
    return { judged: facts.exports.length + parts.length, problems: [...ofExports, ...ofParts] };
  };

type Counted = 'bundles' | 'localReports';
const NAMES = { bundles: 'bundles', localReports: 'local reports' } as const;

/** The number over all inputs is in the range. */
export const requireCount =
  (counted: Counted, range: Range): Evaluator =>
  (facts) =>
    hasOnlySummaries(facts)
      ? { judged: 0, problems: [] }
      : { judged: facts[counted].length, problems: compareCount(facts, counted, range) };

function compareCount(facts: Facts, counted: Counted, range: Range): Problem[] {
  const verdicts = facts[counted].map(({ report }): Verdict => report.verdict);
  const listed = verdicts.length;
  // A failed bundle is listed, but does not count as present; an unread one could count.
  const intact = verdicts.filter((verdict) => verdict === 'verified' || verdict === 'intact').length;
  const unread = verdicts.filter((verdict) => verdict === 'incomplete').length;
  const couldBeMore = hasNoInput(facts) || hasUnreadLists(facts);
  const { min, max } = boundsOf(range);
  const base = { subject: 'all', expected: formatRange(range) };
  const message = `the number of ${NAMES[counted]} is not the required one`;
  if (listed > max) return [{ ...base, state: 'failed', message, actual: String(listed) }];
  if (!couldBeMore && intact + unread < min)
    return [{ ...base, state: 'failed', message, actual: String(intact) }];
  if (intact >= min && !(couldBeMore && max < Infinity)) return [];
  const reason = `not all ${NAMES[counted]} could be read`;
  const actual = `at least ${intact}`;
  return [{ ...base, state: 'not_checked', message: reason, actual, causes: UNWAIVABLE }];
}

/** Every byte of every input is covered. */
export const requireCoverage: Evaluator = (facts) => {
  const parts = facts.bundles.filter(({ alone }) => alone !== undefined);
  const inputs = [...facts.exports, ...parts];
  return {
    judged: inputs.length,
    problems: inputs.flatMap(({ input, subject, report: { coverage, verdict } }) => {
      const { coveredBytes, totalBytes, uncovered } = coverage;
      if (coveredBytes === totalBytes && totalBytes > 0 && uncovered.length === 0) return [];
      if (verdict === 'incomplete') return [buildUnknown({ input, subject }, 'not every byte could be read')];
      const values = { expected: `${totalBytes} bytes`, actual: `${coveredBytes} bytes`, path: uncovered[0] };
      const message = `${totalBytes - coveredBytes} bytes are not covered`;
      return [buildFailure({ input, subject }, message, defined(values))];
    }),
  };
};
