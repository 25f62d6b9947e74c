import type { Code } from '../codes/index.ts';

/** One rule that a policy can have: what a pass states, and the code of what stands against it. */
export type Rule = { readonly title: string; readonly code: Code };

/** Every rule there is, in the order in which it is judged and shown. */
export const RULES = {
  'verdict.export': { title: 'the export has the required verdict', code: 'policy.EXPORT_VERDICT' },
  'verdict.bundles': { title: 'every bundle has the required verdict', code: 'policy.BUNDLE_VERDICT' },
  'signers.issuers': {
    title: 'every bundle is signed by an issuer that is allowed',
    code: 'policy.ISSUER_NOT_ALLOWED',
  },
  'signers.keys': {
    title: 'every bundle is signed by a key that is allowed',
    code: 'policy.KEY_NOT_ALLOWED',
  },
  'signers.distinct': {
    title: 'every bundle is signed by as many distinct keys as required',
    code: 'policy.TOO_FEW_KEYS',
  },
  'age.max': { title: 'no statement is older than allowed', code: 'policy.TOO_OLD' },
  'scope.organizations': {
    title: 'everything belongs to an organization that is allowed',
    code: 'policy.ORGANIZATION_NOT_ALLOWED',
  },
  'scope.projects': {
    title: 'every bundle belongs to a project that is allowed',
    code: 'policy.PROJECT_NOT_ALLOWED',
  },
  'run.drills': { title: 'only drills that are allowed ran', code: 'policy.DRILL_NOT_ALLOWED' },
  'run.targets': { title: 'only targets that are allowed were drilled', code: 'policy.TARGET_NOT_ALLOWED' },
  'run.scenarios': { title: 'only scenarios that are allowed ran', code: 'policy.SCENARIO_NOT_ALLOWED' },
  'run.builds': { title: 'only builds that are allowed were drilled', code: 'policy.BUILD_NOT_ALLOWED' },
  'run.packageLocks': {
    title: 'only package locks that are allowed were used',
    code: 'policy.PACKAGE_LOCK_NOT_ALLOWED',
  },
  'run.seeds': { title: 'only seeds that are allowed were used', code: 'policy.SEED_NOT_ALLOWED' },
  'run.trials': { title: 'trials and attempts are as required', code: 'policy.TRIAL_NOT_ALLOWED' },
  'drills.required': {
    title: 'every required drill is there and verified',
    code: 'policy.DRILL_MISSING',
  },
  'outcome.status': { title: 'every run ended as required', code: 'policy.OUTCOME_STATUS' },
  'outcome.verdict': { title: 'every drill has the required outcome', code: 'policy.OUTCOME_VERDICT' },
  'completeness.vouched': {
    title: 'the list of bundles is pinned or attested',
    code: 'policy.COMPLETENESS_CLAIMED',
  },
  'completeness.bundles': { title: 'there are as many bundles as required', code: 'policy.BUNDLE_COUNT' },
  'completeness.localReports': {
    title: 'there are as many local reports as required',
    code: 'policy.LOCAL_REPORT_COUNT',
  },
  'completeness.coverage': {
    title: 'every byte is covered by a digest or signature',
    code: 'policy.UNCOVERED_BYTES',
  },
  'trials.complete': {
    title: 'every trial of a run is there, and none was left out',
    code: 'policy.TRIAL_MISSING',
  },
  'trials.attempts': { title: 'no attempt was picked from several', code: 'policy.ATTEMPT_PICKED' },
  'trials.reruns': { title: 'reruns are only where they are allowed', code: 'policy.RERUN_NOT_ALLOWED' },
  'trials.unique': { title: 'no run counts twice', code: 'policy.RUN_TWICE' },
  'localReports.allowed': {
    title: 'local reports are only where they are allowed',
    code: 'policy.LOCAL_REPORT_NOT_ALLOWED',
  },
  'findings.warnings': { title: 'no warning stands that the policy refuses', code: 'policy.WARNING_REFUSED' },
  'summary.accepted': {
    title: 'a verification summary stands in for evidence only as the policy pins it',
    code: 'policy.SUMMARY_NOT_ACCEPTED',
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleId = keyof typeof RULES;
