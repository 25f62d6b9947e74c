import { durationMs } from '../document/duration.ts';
import type { PolicyDocument } from '../document/document.ts';
import type { Facts, SummaryFact } from '../facts.ts';
import { failure, NOTHING, type Judge } from '../judge.ts';

export type AcceptedSummary = NonNullable<PolicyDocument['summary']>['accepted'][number];

/**
 * Whether one row of the policy takes a summary in place of evidence: everything about it is pinned. Gives what stands
 * against it otherwise.
 */
function against(
  accepted: AcceptedSummary,
  { summary }: SummaryFact,
  { asOfMs }: Pick<Facts, 'asOfMs'>,
): string | undefined {
  const { verifier, policies, inputs, maxAge, keys } = accepted;
  const { verifierId, policyDigest, timeVerifiedMs, thumbprint } = summary;
  if (verifierId !== verifier) return 'it is by another verifier';
  if (thumbprint === undefined) return 'no trusted key of purpose summary signed it';
  if (keys !== undefined && !keys.includes(thumbprint)) return 'it is signed by another key';
  if (!policies.includes(policyDigest)) return 'it applied another policy';
  if (summary.inputs.length === 0 || !sameSet(summary.inputs, inputs)) return 'it is about other evidence';
  if (timeVerifiedMs > asOfMs) return 'it was made after the time of this judgement';
  return asOfMs - timeVerifiedMs > durationMs(maxAge) ? `it is older than ${maxAge}` : undefined;
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.every((one) => b.includes(one)) && b.every((one) => a.includes(one));

/** Every summary that was given stands in for evidence as some row of the policy pins it, and it says yes. */
export const acceptedSummaries =
  (rows: readonly AcceptedSummary[]): Judge =>
  (facts) => ({
    judged: facts.summaries.length,
    found: facts.summaries.flatMap((one) => {
      const place = { input: one.input, subject: one.subject };
      const error = one.summary.findings.find(({ severity }) => severity === 'error');
      const reasons = rows.map((row) => against(row, one, facts));
      const reason = error?.message ?? (reasons.includes(undefined) ? undefined : reasons.at(-1));
      if (rows.length === 0 && error === undefined)
        return [failure(place, 'the policy accepts no summary', { causes: NOTHING })];
      if (reason !== undefined) {
        const findings = error === undefined ? {} : { findings: [error.code] };
        return [failure(place, reason, { ...findings, causes: NOTHING })];
      }
      if (one.summary.result === 'PASSED') return [];
      const values = { expected: 'PASSED', actual: one.summary.result, causes: NOTHING };
      return [failure(place, 'the summary says that the evidence did not pass', values)];
    }),
  });
