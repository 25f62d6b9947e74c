import { defined } from '../bytes/arguments.ts';
import type { Code } from '../codes/catalogue.ts';

/** What makes a value of a rule stricter: a greater or smaller amount, fewer allowed values, or more required ones. */
type Stricter = 'more' | 'less' | 'allowed' | 'required';

/** A rule that a policy can have: what a pass states, and the code of its violations. */
export type Rule = { readonly title: string; readonly code: Code; readonly stricter?: Stricter };

const define = (title: string, code: Code, stricter?: Stricter): Rule => ({
  title,
  code,
  ...defined({ stricter }),
});

/** Every rule, in the order in which rules are evaluated and shown. */
export const RULES = {
  'verdict.export': define('the export has the required verdict', 'policy.EXPORT_VERDICT'),
  'verdict.bundles': define('every bundle has the required verdict', 'policy.BUNDLE_VERDICT'),
  'signers.issuers': define(
    'every bundle is signed by an allowed issuer',
    'policy.ISSUER_NOT_ALLOWED',
    'allowed',
  ),
  'signers.keys': define('every bundle is signed by an allowed key', 'policy.KEY_NOT_ALLOWED', 'allowed'),
  'signers.distinct': define(
    'every bundle is signed by enough different keys',
    'policy.TOO_FEW_KEYS',
    'more',
  ),
  'signers.distinctIssuers': define(
    'every bundle is signed by enough different issuers',
    'policy.TOO_FEW_ISSUERS',
    'more',
  ),
  'signers.roles': define('every role signed every bundle', 'policy.ROLE_MISSING', 'required'),
  'signers.validFor': define('a key that signed stays valid for long enough', 'policy.KEY_ENDS_SOON', 'more'),
  'signers.timestamp': define('every statement has a trusted timestamp', 'policy.TIMESTAMP_MISSING'),
  'age.max': define('no statement is older than allowed', 'policy.TOO_OLD', 'less'),
  'age.run': define('no run is older than allowed', 'policy.RUN_TOO_OLD', 'less'),
  'age.signedWithin': define('every run was signed soon', 'policy.SIGNED_LATE', 'less'),
  'scope.organizations': define(
    'everything belongs to an allowed organization',
    'policy.ORGANIZATION_NOT_ALLOWED',
    'allowed',
  ),
  'scope.projects': define(
    'every bundle belongs to an allowed project',
    'policy.PROJECT_NOT_ALLOWED',
    'allowed',
  ),
  'run.drills': define('only allowed drills ran', 'policy.DRILL_NOT_ALLOWED', 'allowed'),
  'run.targets': define('only allowed targets were drilled', 'policy.TARGET_NOT_ALLOWED', 'allowed'),
  'run.scenarios': define('only allowed scenarios ran', 'policy.SCENARIO_NOT_ALLOWED', 'allowed'),
  'run.builds': define('only allowed builds were drilled', 'policy.BUILD_NOT_ALLOWED', 'allowed'),
  'run.packageLocks': define(
    'only allowed package locks were used',
    'policy.PACKAGE_LOCK_NOT_ALLOWED',
    'allowed',
  ),
  'run.seeds': define('only allowed seeds were used', 'policy.SEED_NOT_ALLOWED', 'allowed'),
  'run.distinctSeeds': define('every drill ran with enough seeds', 'policy.TOO_FEW_SEEDS', 'more'),
  'run.trials': define('trials and attempts are as required', 'policy.TRIAL_NOT_ALLOWED'),
  'run.never': define('no run is of those that are refused', 'policy.RUN_REFUSED', 'required'),
  'drills.required': define(
    'every required drill is present and verified',
    'policy.DRILL_MISSING',
    'required',
  ),
  'outcome.status': define('every run ended as required', 'policy.OUTCOME_STATUS', 'allowed'),
  'outcome.verdict': define('every drill has the required outcome', 'policy.OUTCOME_VERDICT', 'allowed'),
  'outcome.passRate': define('enough runs of every drill passed', 'policy.PASS_RATE', 'more'),
  'outcome.assertions': define(
    'the named assertions passed in every run',
    'policy.ASSERTION_MISSING',
    'required',
  ),
  'outcome.checkpoints': define(
    'the named checkpoints passed in every run',
    'policy.CHECKPOINT_MISSING',
    'required',
  ),
  'outcome.virtualDuration': define('no run took too much virtual time', 'policy.RUN_TOO_LONG', 'less'),
  'contradictions.world': define('the world of every run was consistent', 'policy.WORLD_INCONSISTENT'),
  'contradictions.binding': define('every run is bound to its evidence', 'policy.BINDING_PARTIAL'),
  'contradictions.assertions': define(
    'no gate assertion contradicts the outcome',
    'policy.ASSERTION_CONTRADICTS',
  ),
  'contradictions.checkpoints': define(
    'no final checkpoint contradicts the outcome',
    'policy.CHECKPOINT_CONTRADICTS',
  ),
  'contradictions.budget': define('no run exceeded its budget', 'policy.BUDGET_EXCEEDED'),
  'contradictions.time': define('no run is dated after its signature', 'policy.RUN_AFTER_SIGNATURE'),
  'completeness.vouched': define(
    'the list of bundles is pinned or attested',
    'policy.COMPLETENESS_CLAIMED',
    'allowed',
  ),
  'completeness.issuers': define(
    'an allowed issuer attested the list of bundles',
    'policy.LIST_ISSUER_NOT_ALLOWED',
    'allowed',
  ),
  'completeness.keys': define(
    'an allowed key attested the list of bundles',
    'policy.LIST_KEY_NOT_ALLOWED',
    'allowed',
  ),
  'completeness.window': define('the window of every export covers the last days', 'policy.WINDOW_TOO_SHORT'),
  'completeness.bundles': define('the number of bundles is the required one', 'policy.BUNDLE_COUNT'),
  'completeness.localReports': define(
    'the number of local reports is the required one',
    'policy.LOCAL_REPORT_COUNT',
  ),
  'completeness.coverage': define(
    'every byte but the claims of export.json is covered by a digest or signature',
    'policy.UNCOVERED_BYTES',
  ),
  'trials.complete': define('every trial of a run is present', 'policy.TRIAL_MISSING'),
  'trials.attempts': define('no attempt was picked from several', 'policy.ATTEMPT_PICKED'),
  'trials.reruns': define('there is no rerun', 'policy.RERUN_NOT_ALLOWED'),
  'trials.unique': define('no run appears twice', 'policy.RUN_TWICE'),
  'challenge.answered': define(
    'every bundle answers a challenge, and every challenge has one answer',
    'policy.CHALLENGE_NOT_MET',
  ),
  'receipts.chain': define('the receipts of every mirror form a sound chain', 'policy.RECEIPTS_UNSOUND'),
  'receipts.last': define('the last run of every mirror ended recently', 'policy.RECEIPT_TOO_OLD', 'less'),
  'localReports.allowed': define('there is no local report', 'policy.LOCAL_REPORT_NOT_ALLOWED'),
  'findings.warnings': define(
    'there is no warning that the policy refuses',
    'policy.WARNING_REFUSED',
    'required',
  ),
  'summary.accepted': define(
    'a summary replaces evidence only if the policy pins it',
    'policy.SUMMARY_NOT_ACCEPTED',
  ),
  'artifact.build': define('the runs are of the artifact', 'policy.ARTIFACT_NOT_DRILLED'),
  'baseline.drills': define('every drill of the last time ran again', 'policy.BASELINE_DRILL_MISSING'),
  'baseline.outcomes': define('no drill passed less often than the last time', 'policy.BASELINE_WORSE'),
  'baseline.runs': define('no drill ran less often than the last time', 'policy.BASELINE_FEWER_RUNS'),
  'anyOf.sets': define('one of the alternative sets of rules holds', 'policy.NO_ALTERNATIVE'),
  'sets.applied': define('every set of rules is about a run', 'policy.SET_NOT_APPLIED'),
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleId = keyof typeof RULES;

export const RULE_IDS = Object.keys(RULES) as readonly RuleId[];

/** Whether a string is a rule; own members only. */
export const isRule = (name: string): name is RuleId => Object.hasOwn(RULES, name);
