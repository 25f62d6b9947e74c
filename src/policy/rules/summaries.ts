import { defined } from '../../bytes/index.ts';
import { durationMs } from '../document/values.ts';
import type { PolicyDocument } from '../document/document.ts';
import type { SummaryFact } from '../facts.ts';
import { buildFailure, UNWAIVABLE, type Evaluator, type Problem } from './outcome.ts';

export type AcceptedSummary = NonNullable<PolicyDocument['summary']>['accepted'][number];

/** Why one row of the policy does not accept a summary; `undefined` if it does. */
function reasonAgainst(
  { verifier, policies, inputs, maxAge, resource, threshold, keys = [] }: AcceptedSummary,
  { summary }: SummaryFact,
  asOfMs: number,
): string | undefined {
  const { verifierId, policyDigest, resourceUri, timeVerifiedMs, thumbprints } = summary;
  if (verifierId !== verifier) return 'the verifier is not the accepted one';
  if (thumbprints.length === 0) return 'no trusted key of purpose summary signed it';
  const accepted = thumbprints.filter((key) => keys.length === 0 || keys.includes(key));
  if (accepted.length === 0) return 'no accepted key signed it';
  if (new Set(accepted).size < threshold) return `fewer than ${threshold} different keys signed it`;
  if (resourceUri !== resource) return 'the resource is not the accepted one';
  if (!policies.includes(policyDigest)) return 'the applied policy is not an accepted one';
  if (summary.inputs.length === 0 || !sameSet(summary.inputs, inputs))
    return 'it is not about exactly the accepted evidence';
  if (timeVerifiedMs > asOfMs) return 'it was made after the time of this evaluation';
  return asOfMs - timeVerifiedMs > durationMs(maxAge) ? `it is older than ${maxAge}` : undefined;
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.every((item) => b.includes(item)) && b.every((item) => a.includes(item));

/** Every summary is accepted by some row of the policy, and says that the evidence passed. */
export const requireAcceptedSummaries =
  (rows: readonly AcceptedSummary[]): Evaluator =>
  ({ summaries, asOfMs }) => ({
    judged: summaries.length,
    problems: summaries.flatMap((summary) => checkSummary(summary, rows, asOfMs) ?? []),
  });

function checkSummary(
  fact: SummaryFact,
  rows: readonly AcceptedSummary[],
  asOfMs: number,
): Problem | undefined {
  const { summary } = fact;
  const error = summary.findings.find(({ severity }) => severity === 'error');
  const reasons = rows.map((row) => reasonAgainst(row, fact, asOfMs));
  const reason = error?.message ?? (reasons.includes(undefined) ? undefined : reasons.at(-1));
  if (reason !== undefined)
    return buildFailure(fact, reason, {
      ...defined({ findings: error && [error.code] }),
      causes: UNWAIVABLE,
    });
  if (rows.length === 0) return buildFailure(fact, 'the policy accepts no summary', { causes: UNWAIVABLE });
  if (summary.result === 'PASSED') return undefined;
  const values = { expected: 'PASSED', actual: summary.result, causes: UNWAIVABLE };
  return buildFailure(fact, 'the summary says that the evidence did not pass', values);
}

/** A row of the policy in words. */
export const formatAccepted = ({
  verifier,
  policies,
  inputs,
  maxAge,
  resource,
  threshold,
  keys,
}: AcceptedSummary): string =>
  `by ${verifier} with ${threshold === 1 ? 'a key' : `${threshold} different keys`}` +
  `${keys === undefined ? '' : ` of ${keys.join(', ')}`}, for ${resource}, of the policy ${policies.join(' or ')}, ` +
  `about exactly ${inputs.join(' and ')}, and at most ${maxAge} old`;
