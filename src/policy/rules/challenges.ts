import { isoTime } from '../../bytes/text/wording.ts';
import type { Challenge } from '../../verify/challenge/ledger.ts';
import { findEarliest } from '../../verify/timestamps.ts';
import { type Condition, meetsAny } from '../document/values.ts';
import type { BundleFact, Facts } from '../facts.ts';
import {
  buildFailure,
  buildUnattested,
  buildUnknown,
  type Evaluator,
  type Problem,
  UNWAIVABLE,
} from './outcome.ts';

/**
 * Each bundle answers one challenge of the ledger, and each challenge that was issued in the window of an export has one
 * answer, whatever its outcome. The run lies between the challenge and a timestamp before its end.
 */
export const requireChallenges =
  (issuers: readonly Condition[] | undefined, skewMs: number): Evaluator =>
  (facts) => {
    const { ledger, bundles, exports } = facts;
    if (ledger?.verdict !== 'valid') return { examined: bundles.length, problems: [describeLedger(facts)] };
    const challenges = ledger.challenges.filter(
      ({ issuer }) => issuers === undefined || meetsAny(issuer, issuers),
    );
    const alone = bundles.filter((bundle) => bundle.alone !== undefined);
    const due = challenges.filter(({ issuedAtMs }) =>
      exports.some(
        ({ report: { window } }) =>
          window && window.fromAtMs <= issuedAtMs && issuedAtMs <= window.throughAtMs,
      ),
    );
    return {
      examined: bundles.length + due.length,
      problems: [
        ...bundles.flatMap((bundle) => checkAnswer(bundle, challenges, skewMs) ?? []),
        ...alone.map((bundle) =>
          buildUnknown(bundle, 'a single part does not show whether other challenges were answered'),
        ),
        ...due.flatMap((challenge) => checkAnswered(challenge, facts) ?? []),
      ],
    };
  };

/** Without a ledger that is known to be valid, nothing can be decided. */
const describeLedger = ({ ledger }: Facts): Problem =>
  ledger?.verdict === 'invalid'
    ? {
        state: 'failed',
        subject: 'challenges',
        message: `the ledger of challenges is not valid: ${[...new Set(ledger.findings.map(({ code }) => code))].join(', ')}`,
        causes: UNWAIVABLE,
      }
    : {
        state: 'not_checked',
        subject: 'challenges',
        message:
          ledger === undefined
            ? 'no ledger of challenges was given'
            : 'no key verified the ledger of challenges',
        causes: UNWAIVABLE,
      };

const isAnswer = (
  { report: { reproduction } }: Pick<BundleFact, 'report'>,
  { drillId, buildHash, seed }: Challenge,
): boolean =>
  reproduction?.seed === seed && reproduction.drillId === drillId && reproduction.buildHash === buildHash;

function checkAnswer(
  bundle: BundleFact,
  challenges: readonly Challenge[],
  skewMs: number,
): Problem | undefined {
  if (!bundle.attested) return buildUnattested(bundle, 'the challenge that it answers');
  const challenge = challenges.find((row) => isAnswer(bundle, row));
  if (challenge === undefined)
    return buildFailure(bundle, 'it answers no challenge of the ledger with its drill, build and seed');
  const { signers = [], createdAtMs = Infinity } = bundle.report;
  const stamp = findEarliest(signers.map((signer) => signer.stamp));
  const { issuedAtMs, expiresAtMs } = challenge;
  const between = `from ${isoTime(issuedAtMs)} to ${isoTime(expiresAtMs)}`;
  if (stamp === undefined)
    return buildFailure(bundle, 'no trusted timestamp shows that the challenge was answered in time', {
      expected: between,
    });
  if (stamp.atMs > expiresAtMs)
    return buildFailure(bundle, 'its timestamp is after the end of the challenge', {
      expected: between,
      actual: isoTime(stamp.atMs),
    });
  if (createdAtMs < issuedAtMs - skewMs || createdAtMs > stamp.atMs + skewMs)
    return buildFailure(bundle, 'its run is not between the challenge and the timestamp', {
      expected: `from ${isoTime(issuedAtMs)} to ${isoTime(stamp.atMs)}`,
      ...(createdAtMs !== Infinity && { actual: isoTime(createdAtMs) }),
    });
  return undefined;
}

function checkAnswered(challenge: Challenge, { bundles, asOfMs }: Facts): Problem | undefined {
  const { sequence, drillId, seed, expiresAtMs } = challenge;
  const subject = `challenge ${sequence}`;
  const answers = bundles.filter((bundle) => bundle.attested && isAnswer(bundle, challenge)).length;
  if (answers === 1) return undefined;
  const actual = `${answers} bundles of drill ${drillId} with seed ${seed}`;
  const values = { subject, expected: '1 bundle', actual };
  if (answers > 1) return { state: 'failed', message: 'it was answered more than once', ...values };
  if (bundles.some(({ attested }) => !attested))
    return {
      state: 'not_checked',
      message: 'a bundle that is not verified could be its answer',
      ...values,
      causes: UNWAIVABLE,
    };
  return asOfMs <= expiresAtMs
    ? { state: 'not_checked', message: 'it can still be answered', ...values, causes: UNWAIVABLE }
    : { state: 'failed', message: 'it was not answered', ...values };
}
