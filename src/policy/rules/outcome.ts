import { defined } from '../../bytes/arguments.ts';
import type { Code } from '../../codes/catalogue.ts';
import type { Violation } from '../decision.ts';
import { hasOnlySummaries, type BundleFact, type Facts, type Subject } from '../facts.ts';

/** A waiver must name all of this to waive a violation. */
export type Cause = { readonly subject: string; readonly code: Code };

/** A violation before waivers apply. */
export type Problem = Partial<Pick<Violation, 'input' | 'path' | 'expected' | 'actual' | 'findings'>> &
  Pick<Violation, 'subject' | 'message'> & {
    readonly state: 'failed' | 'not_checked';
    /** Default: that of the rule. */
    readonly code?: Code;
    readonly candidates?: Violation['candidates'];
    /** What a problem of no bundle is about, by the members of a selector, for waivers. */
    readonly of?: Readonly<Record<string, string>>;
    /** Default: the code of the rule. Empty: it cannot be waived. */
    readonly causes?: readonly Cause[];
  };

/** The number of subjects that a rule examined, and its problems with them. */
export type RuleOutcome = { readonly examined: number; readonly problems: readonly Problem[] };
export type Evaluator = (facts: Facts) => RuleOutcome;

export const UNWAIVABLE: readonly Cause[] = [];

export const buildFailure = (
  { input, subject }: Subject,
  message: string,
  values: Partial<Pick<Problem, 'expected' | 'actual' | 'path' | 'findings' | 'causes'>> = {},
): Problem => ({ state: 'failed', input, subject, message, ...values });

export const buildUnknown = ({ input, subject }: Subject, message: string): Problem => ({
  state: 'not_checked',
  input,
  subject,
  message,
  causes: UNWAIVABLE,
});

/** An unattested fact. It can be waived only for intact bundles, because damaged or unread ones could state anything. */
export const buildUnattested = ({ input, subject, report }: BundleFact, what: string): Problem => ({
  state: 'not_checked',
  input,
  subject,
  message:
    report.verdict === 'verified'
      ? `${what} does not count, because the report does not have a fact of the selector`
      : `${what} is not attested, because the bundle is not verified`,
  ...defined({ causes: report.verdict === 'intact' ? undefined : UNWAIVABLE }),
});

/** A rule about evidence: summaries alone replace it. */
export const ofEvidence =
  (evaluate: Evaluator): Evaluator =>
  (facts) =>
    hasOnlySummaries(facts) ? { examined: 0, problems: [] } : evaluate(facts);

/** What was not given, so that nothing can be decided. */
export const buildNotGiven = (message: string): RuleOutcome => ({
  examined: 1,
  problems: [{ state: 'not_checked', subject: 'all', message, causes: UNWAIVABLE }],
});

type CheckBundle = (bundle: BundleFact, facts: Facts) => Problem | undefined;

export const evaluateBundles =
  (check: CheckBundle): Evaluator =>
  (facts) => ({
    examined: facts.bundles.length,
    problems: facts.bundles.flatMap((bundle) => check(bundle, facts) ?? []),
  });

/** Checks each attested bundle; `what` is not known of the others. */
export const evaluateAttested = (what: string, check: CheckBundle): Evaluator =>
  evaluateBundles((bundle, facts) =>
    bundle.attested ? check(bundle, facts) : buildUnattested(bundle, what),
  );
