import type { Code } from '../../codes/index.ts';

/** A rule that a policy can have: what a pass states, and the code of its violations. */
export type Rule = { readonly title: string; readonly code: Code };

/** Every rule, in the order in which rules are evaluated and shown. */
export const RULES = {
  'verdict.export': { title: 'the export has the required verdict', code: 'policy.EXPORT_VERDICT' },
  'verdict.bundles': { title: 'every bundle has the required verdict', code: 'policy.BUNDLE_VERDICT' },
  'signers.issuers': {
    title: 'every bundle is signed by an allowed issuer',
    code: 'policy.ISSUER_NOT_ALLOWED',
  },
  'signers.keys': {
    title: 'every bundle is signed by an allowed key',
    code: 'policy.KEY_NOT_ALLOWED',
  },
  'signers.distinct': {
    title: 'every bundle is signed by enough different keys',
    code: 'policy.TOO_FEW_KEYS',
  },
  'signers.distinctIssuers': {
    title: 'every bundle is signed by enough different issuers',
    code: 'policy.TOO_FEW_ISSUERS',
  },
  'signers.roles': { title: 'every role signed every bundle', code: 'policy.ROLE_MISSING' },
  'signers.validFor': {
    title: 'a key that signed stays valid for long enough',
    code: 'policy.KEY_ENDS_SOON',
  },
  'signers.timestamp': { title: 'every statement has a trusted timestamp', code: 'policy.TIMESTAMP_MISSING' },
  'age.max': { title: 'no statement is older than allowed', code: 'policy.TOO_OLD' },
  'age.run': { title: 'no run is older than allowed', code: 'policy.RUN_TOO_OLD' },
  'scope.organizations': {
    title: 'everything belongs to an allowed organization',
    code: 'policy.ORGANIZATION_NOT_ALLOWED',
  },
  'scope.projects': {
    title: 'every bundle belongs to an allowed project',
    code: 'policy.PROJECT_NOT_ALLOWED',
  },
  'run.drills': { title: 'only allowed drills ran', code: 'policy.DRILL_NOT_ALLOWED' },
  'run.targets': { title: 'only allowed targets were drilled', code: 'policy.TARGET_NOT_ALLOWED' },
  'run.scenarios': { title: 'only allowed scenarios ran', code: 'policy.SCENARIO_NOT_ALLOWED' },
  'run.builds': { title: 'only allowed builds were drilled', code: 'policy.BUILD_NOT_ALLOWED' },
  'run.packageLocks': {
    title: 'only allowed package locks were used',
    code: 'policy.PACKAGE_LOCK_NOT_ALLOWED',
  },
  'run.seeds': { title: 'only allowed seeds were used', code: 'policy.SEED_NOT_ALLOWED' },
  'run.distinctSeeds': { title: 'every drill ran with enough seeds', code: 'policy.TOO_FEW_SEEDS' },
  'run.trials': { title: 'trials and attempts are as required', code: 'policy.TRIAL_NOT_ALLOWED' },
  'drills.required': {
    title: 'every required drill is present and verified',
    code: 'policy.DRILL_MISSING',
  },
  'outcome.status': { title: 'every run ended as required', code: 'policy.OUTCOME_STATUS' },
  'outcome.verdict': { title: 'every drill has the required outcome', code: 'policy.OUTCOME_VERDICT' },
  'outcome.passRate': { title: 'enough runs of every drill passed', code: 'policy.PASS_RATE' },
  'outcome.assertions': {
    title: 'the named assertions passed in every run',
    code: 'policy.ASSERTION_MISSING',
  },
  'outcome.checkpoints': {
    title: 'the named checkpoints passed in every run',
    code: 'policy.CHECKPOINT_MISSING',
  },
  'contradictions.world': {
    title: 'the world of every run was consistent',
    code: 'policy.WORLD_INCONSISTENT',
  },
  'contradictions.binding': { title: 'every run is bound to its evidence', code: 'policy.BINDING_PARTIAL' },
  'contradictions.assertions': {
    title: 'no gate assertion contradicts the outcome',
    code: 'policy.ASSERTION_CONTRADICTS',
  },
  'contradictions.checkpoints': {
    title: 'no final checkpoint contradicts the outcome',
    code: 'policy.CHECKPOINT_CONTRADICTS',
  },
  'contradictions.budget': { title: 'no run exceeded its budget', code: 'policy.BUDGET_EXCEEDED' },
  'contradictions.time': { title: 'no run is dated after its signature', code: 'policy.RUN_AFTER_SIGNATURE' },
  'completeness.vouched': {
    title: 'the list of bundles is pinned or attested',
    code: 'policy.COMPLETENESS_CLAIMED',
  },
  'completeness.issuers': {
    title: 'an allowed issuer attested the list of bundles',
    code: 'policy.LIST_ISSUER_NOT_ALLOWED',
  },
  'completeness.keys': {
    title: 'an allowed key attested the list of bundles',
    code: 'policy.LIST_KEY_NOT_ALLOWED',
  },
  'completeness.window': {
    title: 'the window of every export covers the last days',
    code: 'policy.WINDOW_TOO_SHORT',
  },
  'completeness.bundles': { title: 'the number of bundles is the required one', code: 'policy.BUNDLE_COUNT' },
  'completeness.localReports': {
    title: 'the number of local reports is the required one',
    code: 'policy.LOCAL_REPORT_COUNT',
  },
  'completeness.coverage': {
    title: 'every byte is covered by a digest or signature',
    code: 'policy.UNCOVERED_BYTES',
  },
  'trials.complete': {
    title: 'every trial of a run is present',
    code: 'policy.TRIAL_MISSING',
  },
  'trials.attempts': { title: 'no attempt was picked from several', code: 'policy.ATTEMPT_PICKED' },
  'trials.reruns': { title: 'there is no rerun', code: 'policy.RERUN_NOT_ALLOWED' },
  'trials.unique': { title: 'no run appears twice', code: 'policy.RUN_TWICE' },
  'localReports.allowed': {
    title: 'there is no local report',
    code: 'policy.LOCAL_REPORT_NOT_ALLOWED',
  },
  'findings.warnings': {
    title: 'there is no warning that the policy refuses',
    code: 'policy.WARNING_REFUSED',
  },
  'summary.accepted': {
    title: 'a summary replaces evidence only if the policy pins it',
    code: 'policy.SUMMARY_NOT_ACCEPTED',
  },
  'anyOf.sets': { title: 'one of the alternative sets of rules holds', code: 'policy.NO_ALTERNATIVE' },
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleId = keyof typeof RULES;

/** Every rule, in that order. */
export const RULE_IDS = Object.keys(RULES) as readonly RuleId[];

/** Whether a string is a rule; own members only. */
export const isRule = (name: string): name is RuleId => Object.hasOwn(RULES, name);
