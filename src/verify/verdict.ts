import { count, countNoun } from '../bytes/text/wording.ts';
import { findLargest } from '../bytes/async.ts';
import type { Step } from './step.ts';
import { listRequiredChecks, type CheckId } from './checks.ts';
import { type Coverage, type Depth, type Finding, type Verdict, VERDICTS } from './report.ts';
import { finding } from './finding.ts';

/** The worst of several verdicts; `none` for an empty set, which never counts as success. */
export const pickWorstVerdict = (verdicts: readonly Verdict[], none: Verdict): Verdict =>
  verdicts.length === 0 ? none : VERDICTS[findLargest(verdicts.map((verdict) => VERDICTS.indexOf(verdict)))]!;

/** The verdict that findings alone decide: errors fail it, unless all of them are about reading. */
export function rateFindings(findings: readonly Finding[]): 'failed' | 'incomplete' | undefined {
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.some((error) => error.class !== 'inaccessible')) return 'failed';
  return errors.length > 0 ? 'incomplete' : undefined;
}

/**
 * Warns that no digest covers a tenth of the bytes or more, next to a verdict that could be taken for one about all bytes.
 * @param countExpected uncovered bytes that do not count, because every archive has them
 */
export function warnAboutUncovered(
  subject: string,
  verdict: Verdict,
  { totalBytes, coveredBytes }: Coverage,
  countExpected = (): number => 0,
): readonly Finding[] {
  const bytes = totalBytes - coveredBytes;
  if (verdict === 'failed' || verdict === 'incomplete') return [];
  if (bytes === 0 || (bytes - countExpected()) * 10 < totalBytes) return [];
  const message = `no digest covers ${count(bytes)} of ${countNoun(totalBytes, 'byte')}`;
  return [finding('coverage.LOW', subject, { message })];
}

type BundleFacts = {
  readonly depth: Depth;
  readonly signed: boolean;
  /** A key of the trust store signed the statement. */
  readonly trusted: boolean;
  readonly listed: boolean;
};

/** Checks that must pass before the bytes of a bundle count as intact. */
const INTEGRITY: Readonly<Record<Depth, readonly CheckId[]>> = {
  digest: listRequiredChecks('bundle', 'always'),
  full: listRequiredChecks('bundle', 'always', 'full'),
};
/** Further checks that must pass before it counts as verified. */
const AUTHENTICITY = listRequiredChecks('bundle', 'verified');
const SECOND_OPINIONS = listRequiredChecks('bundle', 'opinion');

/**
 * The verdict on a bundle (formats §4). A required check that did not run leaves the verdict open, unless the caller chose
 * so with no trust store or depth `digest`.
 */
export function decideBundleVerdict(
  { checks, findings }: Step,
  { depth, signed, trusted, listed }: BundleFacts,
): Verdict {
  const byFindings = rateFindings(findings);
  if (byFindings !== undefined) return byFindings;
  const state = new Map(checks.map((check) => [check.id, check.state]));
  const passed = (id: CheckId): boolean => state.get(id) === 'passed';
  const sound = INTEGRITY[depth].every((id) => passed(id) || state.get(id) === 'not_applicable');
  if (!sound || (depth === 'digest' && !listed)) return 'incomplete';
  if (depth === 'digest' || !signed || !trusted) return 'intact';
  const opinions = SECOND_OPINIONS.every((id) => state.get(id) !== 'not_checked');
  const without = AUTHENTICITY.every((id) => state.get(id) === 'not_applicable');
  const internal = AUTHENTICITY.every(passed);
  const external = state.get('dsse.attestation');
  const authentic = external === undefined ? internal : external === 'passed' && (internal || without);
  return authentic && opinions ? 'verified' : 'incomplete';
}
