import type { Verdict } from '../../verify/report.ts';
import { nothingGiven, onlySummaries, unreadLists, type Facts } from '../facts.ts';
import { failure, NOTHING, unknown, type Found, type Judge } from '../judge.ts';
import { boundsOf, rangeWords, type Range } from '../document/range.ts';

type Vouched = 'pinned' | 'attested';

/** Somebody vouches for the list of bundles. A part by itself has no list: there the caller's digest says which it is. */
export const vouched =
  (allowed: readonly Vouched[]): Judge =>
  (facts) => {
    const expected = allowed.join(' or ');
    const parts = facts.bundles.flatMap(({ alone, input, subject }) =>
      alone === undefined ? [] : [{ input, subject, ...alone }],
    );
    return {
      judged: facts.exports.length + parts.length,
      found: [
        ...facts.exports.flatMap(({ report, ...place }) => {
          const { completeness, manifestDigest } = report;
          if (allowed.some((one) => one === completeness)) return [];
          if (manifestDigest === undefined) return [unknown(place, 'the list of bundles could not be read')];
          const message = 'nobody vouches for the list of bundles as required';
          return [failure(place, message, { expected, actual: completeness })];
        }),
        ...parts.flatMap(({ pinned, ...place }) => {
          if (pinned && allowed.includes('pinned')) return [];
          const message = 'a part by itself has no list that anybody vouches for';
          return [failure(place, message, { expected, actual: pinned ? 'pinned' : 'claimed' })];
        }),
      ],
    };
  };

type Tally = {
  readonly what: string;
  /** Those whose bytes are intact: what failed is listed, and yet is not there. */
  readonly sound: number;
  readonly listed: number;
  /** Those of which it is not known whether they are intact. */
  readonly open: number;
  /** Whether there is a list that could not be read. */
  readonly endless: boolean;
};

const ALL = { subject: 'all' };

function counted({ what, sound, listed, open, endless }: Tally, range: Range): Found[] {
  const { min, max } = boundsOf(range);
  const expected = rangeWords(range);
  const message = `there are not as many ${what} as required`;
  if (listed > max) return [{ ...ALL, state: 'failed', message, expected, actual: String(listed) }];
  const untold = endless || sound + open >= min;
  if (!untold) return [{ ...ALL, state: 'failed', message, expected, actual: String(sound) }];
  if (sound >= min && !(endless && max < Infinity)) return [];
  const why = `not every one of the ${what} could be read`;
  return [
    { ...ALL, state: 'not_checked', message: why, expected, actual: `at least ${sound}`, causes: NOTHING },
  ];
}

/** How many there are, over all inputs. */
const tally = (
  facts: Facts,
  what: string,
  reports: readonly { readonly report: { readonly verdict: Verdict } }[],
): Tally => ({
  what,
  sound: reports.filter(({ report: { verdict } }) => verdict === 'verified' || verdict === 'intact').length,
  listed: reports.length,
  open: reports.filter(({ report: { verdict } }) => verdict === 'incomplete').length,
  endless: nothingGiven(facts) || unreadLists(facts),
});

export const bundleCount =
  (range: Range): Judge =>
  (facts) =>
    onlySummaries(facts)
      ? { judged: 0, found: [] }
      : {
          judged: facts.bundles.length,
          found: counted(tally(facts, 'bundles', facts.bundles), range),
        };

export const localReportCount =
  (range: Range): Judge =>
  (facts) =>
    onlySummaries(facts)
      ? { judged: 0, found: [] }
      : {
          judged: facts.localReports.length,
          found: counted(tally(facts, 'local reports', facts.localReports), range),
        };

/** Every byte of every input is covered. */
export const coverage: Judge = (facts) => {
  const parts = facts.bundles.filter(({ alone }) => alone !== undefined);
  const all = [...facts.exports, ...parts];
  return {
    judged: all.length,
    found: all.flatMap(({ input, subject, report: { coverage: bytes, verdict } }) => {
      const { coveredBytes, totalBytes, uncovered } = bytes;
      if (coveredBytes === totalBytes && totalBytes > 0 && uncovered.length === 0) return [];
      if (verdict === 'incomplete') return [unknown({ input, subject }, 'not every byte could be read')];
      const values = { expected: `${totalBytes} bytes`, actual: `${coveredBytes} bytes` };
      const [path] = uncovered;
      const message = `nothing covers ${totalBytes - coveredBytes} bytes`;
      return [failure({ input, subject }, message, { ...values, ...(path !== undefined && { path }) })];
    }),
  };
};
