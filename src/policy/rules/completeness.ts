import { defined } from '../../bytes/arguments.ts';
import { countNoun, isoTime, markLookalikes } from '../../bytes/text/wording.ts';
import type { BundleReport, ExportReport, Verdict } from '../../verify/report.ts';
import { boundsOf, durationMs, formatRange, type Range } from '../document/values.ts';
import { hasNoInput, hasUnreadLists, type Facts, type Subject } from '../facts.ts';
import {
  ofEvidence,
  buildFailure,
  buildUnknown,
  UNWAIVABLE,
  type Evaluator,
  type Problem,
} from './outcome.ts';
import { describeSigners, isAllowedSigner, type Signers } from './signers.ts';

type SinglePart = Subject & { readonly pinned: boolean; readonly report: BundleReport };

const listSingleParts = ({ bundles }: Facts): readonly SinglePart[] =>
  bundles.flatMap(({ alone, input, subject, report }) =>
    alone === undefined ? [] : [{ input, subject, report, ...alone }],
  );

const evaluateInputs =
  (
    checkExport: (fact: Facts['exports'][number], place: Subject, facts: Facts) => Problem | undefined,
    checkPart: (part: SinglePart) => Problem | undefined,
  ): Evaluator =>
  (facts) => {
    const parts = listSingleParts(facts);
    const ofExports = facts.exports.flatMap(
      (fact) => checkExport(fact, { input: fact.input, subject: fact.subject }, facts) ?? [],
    );
    return {
      examined: facts.exports.length + parts.length,
      problems: [...ofExports, ...parts.flatMap((part) => checkPart(part) ?? [])],
    };
  };

/** The list of each export is pinned or attested. A single part has no list: only its own digest can pin it. */
export function requireCompleteness(allowed: readonly ('pinned' | 'attested')[]): Evaluator {
  const expected = allowed.join(' or ');
  return evaluateInputs(
    ({ report: { completeness, manifestDigest } }, place) => {
      if (allowed.some((name) => name === completeness)) return undefined;
      if (manifestDigest === undefined) return buildUnknown(place, 'the list of bundles could not be read');
      return buildFailure(place, `the list of bundles is not ${expected}`, {
        expected,
        actual: completeness,
      });
    },
    ({ pinned, ...place }) => {
      if (pinned && allowed.includes('pinned')) return undefined;
      const message = `a single part has no list of bundles that is ${expected}`;
      return buildFailure(place, message, { expected, actual: pinned ? 'pinned' : 'claimed' });
    },
  );
}

export function requireListSigners(what: 'issuer' | 'key', allowed: Signers): Evaluator {
  const message = `no allowed ${what} attested the list of bundles`;
  return evaluateInputs(
    ({ report: { completeness, manifestDigest, signers } }, place) => {
      if (completeness === 'pinned') return undefined;
      if (manifestDigest === undefined) return buildUnknown(place, 'the list of bundles could not be read');
      const keys = completeness === 'attested' ? signers : [];
      if (keys === undefined)
        return buildUnknown(place, 'the report does not have the keys that signed the list');
      if (keys.some((key) => isAllowedSigner(key, allowed))) return undefined;
      const names = describeSigners(what, allowed, keys);
      return buildFailure(place, `${message}${markLookalikes(names.expected, names.actual)}`, names);
    },
    ({ pinned, ...place }) => {
      const { expected } = describeSigners(what, allowed, []);
      return pinned ? undefined : buildFailure(place, message, { expected, actual: 'no list' });
    },
  );
}

/** The window of every export covers this time. Only an attested or pinned list states its window. */
export const requireWindow = ({ last, lag }: { readonly last: string; readonly lag: string }): Evaluator =>
  evaluateInputs(
    ({ report: { window, completeness } }, place, { asOfMs }) => {
      if (window === undefined)
        return buildUnknown(place, 'the report does not have the window of the export');
      if (completeness === 'claimed') return buildUnknown(place, 'the window is neither pinned nor attested');
      const [from, through] = [asOfMs - durationMs(last), asOfMs - durationMs(lag)];
      if (window.fromAtMs <= from && window.throughAtMs >= through) return undefined;
      return buildFailure(place, 'the window is too short', {
        expected: `${isoTime(from)} to at least ${isoTime(through)}`,
        actual: `${isoTime(window.fromAtMs)} to ${isoTime(window.throughAtMs)}`,
      });
    },
    (part) => buildFailure(part, 'a single part has no window', { expected: `the last ${last}` }),
  );

/** Every export is a mirror with a sound chain of receipts. */
export const requireReceipts: Evaluator = evaluateInputs(
  ({ receipts }, place) => {
    const { verdict } = receipts ?? {};
    if (verdict === 'sound') return undefined;
    if (verdict === undefined || verdict === 'unread')
      return buildUnknown(place, 'the receipts were not verified');
    const values = { expected: 'sound', actual: verdict };
    return buildFailure(place, 'the mirror has no sound chain of receipts', values);
  },
  (part) => buildFailure(part, 'a single part has no receipts', { expected: 'sound', actual: 'none' }),
);

export const requireLastReceipt = (last: string): Evaluator =>
  evaluateInputs(
    ({ receipts }, place, { asOfMs }) => {
      const { finishedAtMs } = receipts ?? {};
      if (receipts?.verdict !== 'sound' || finishedAtMs === undefined)
        return buildUnknown(place, 'there is no receipt in a sound chain');
      if (asOfMs - finishedAtMs <= durationMs(last)) return undefined;
      const values = { expected: `at most ${last} ago`, actual: isoTime(finishedAtMs) };
      return buildFailure(place, 'the last run of the mirror ended too long ago', values);
    },
    (part) => buildFailure(part, 'a single part has no receipts', { expected: `at most ${last} ago` }),
  );

type Counted = 'bundles' | 'localReports';
const NAMES = { bundles: 'bundles', localReports: 'local reports' } as const;

export const requireCount = (counted: Counted, range: Range): Evaluator =>
  ofEvidence((facts) => ({
    examined: facts[counted].length,
    problems: compareCount(facts, counted, range),
  }));

function compareCount(facts: Facts, counted: Counted, range: Range): Problem[] {
  // Of a selection, a bundle that is not attested is only possibly part.
  const verdicts =
    counted === 'localReports'
      ? facts.localReports.map(({ report }): Verdict => report.verdict)
      : facts.bundles.map(({ attested, report }): Verdict =>
          facts.isSelection === true && !attested ? 'incomplete' : report.verdict,
        );
  const listed = verdicts.length;
  // A failed bundle is listed, but does not count as present; an unread one could count.
  const intact = verdicts.filter((verdict) => verdict === 'verified' || verdict === 'intact').length;
  const unread = verdicts.filter((verdict) => verdict === 'incomplete').length;
  const couldBeMore = hasNoInput(facts) || hasUnreadLists(facts);
  const { min, max } = boundsOf(range);
  const base = { subject: 'all', expected: formatRange(range) };
  const message = `the number of ${NAMES[counted]} is not the required one`;
  const possible = facts.isSelection === true ? unread : 0;
  if (listed - possible > max) return [{ ...base, state: 'failed', message, actual: String(listed) }];
  if (!couldBeMore && intact + unread < min)
    return [{ ...base, state: 'failed', message, actual: String(intact) }];
  if (intact >= min && intact + possible <= max && !(couldBeMore && max < Infinity)) return [];
  const reason = `not all ${NAMES[counted]} could be read`;
  const actual = `at least ${intact}`;
  return [{ ...base, state: 'not_checked', message: reason, actual, causes: UNWAIVABLE }];
}

function checkCoverage(
  { coverage, verdict }: ExportReport | BundleReport,
  place: Subject,
): Problem | undefined {
  const { coveredBytes, totalBytes, uncovered } = coverage;
  if (coveredBytes === totalBytes && totalBytes > 0 && uncovered.length === 0) return undefined;
  if (verdict === 'incomplete') return buildUnknown(place, 'not every byte could be read');
  const values = {
    expected: countNoun(totalBytes, 'byte'),
    actual: countNoun(coveredBytes, 'byte'),
    path: uncovered[0],
  };
  return buildFailure(
    place,
    `no digest covers ${countNoun(totalBytes - coveredBytes, 'byte')}`,
    defined(values),
  );
}

export const requireCoverage: Evaluator = evaluateInputs(
  ({ report }, place) => checkCoverage(report, place),
  (part) => checkCoverage(part.report, part),
);
