import type { PolicyDocument } from '../document/document.ts';
import {
  type PinnedFact,
  requireFact,
  requireMaxAge,
  requireOrganizations,
  requireOutcome,
  requirePinned,
  requireTrialNumbers,
} from './attested-facts.ts';
import type { RuleId } from './catalogue.ts';
import { requireCompleteness, requireCount, requireCoverage } from './completeness.ts';
import {
  requireDrills,
  refuseReruns,
  requireAttempts,
  requireCompleteTrials,
  requireUniqueRuns,
} from './trials.ts';
import type { Evaluator } from './outcome.ts';
import { requireDistinctKeys, requireAllowedIssuers, requireAllowedKeys } from './signers.ts';
import { requireAcceptedSummaries } from './summaries.ts';
import {
  refuseLocalReports,
  refuseWarnings,
  requireBundleVerdicts,
  requireExportVerdict,
} from './verdicts.ts';

/** An evaluator if the policy has the member. */
const when = <T>(value: T | undefined, build: (value: T) => Evaluator): Evaluator | undefined =>
  value === undefined ? undefined : build(value);

type Pins = 'drills' | 'targets' | 'scenarios' | 'builds' | 'packageLocks' | 'seeds';

/** A rule about a fact that the statement of each bundle pins. */
const requirePin =
  (what: string, member: Pins, fact: PinnedFact) =>
  ({ run }: PolicyDocument): Evaluator | undefined =>
    when(run?.[member], (allowed) => requirePinned(what, fact, allowed));

type Trials = Exclude<NonNullable<PolicyDocument['trials']>, 'complete'>;

/** `complete` is short for every trial and every attempt. */
const trialsOf = ({ trials = {} }: PolicyDocument): Trials =>
  trials === 'complete' ? { complete: true, attempts: 'every' } : trials;

/**
 * The evaluator of each rule under a policy that has it. Every policy requires verdicts and unique runs, refuses reruns
 * unless it allows them, and accepts no summary that it does not pin.
 */
export const EVALUATORS: Readonly<Record<RuleId, (policy: PolicyDocument) => Evaluator | undefined>> = {
  'verdict.export': ({ verdict }) => requireExportVerdict(verdict?.export ?? 'verified'),
  'verdict.bundles': ({ verdict }) => requireBundleVerdicts(verdict?.bundles ?? 'verified'),
  'signers.issuers': ({ signers }) => when(signers?.issuers, requireAllowedIssuers),
  'signers.keys': ({ signers }) => when(signers?.keys, requireAllowedKeys),
  'signers.distinct': ({ signers = {} }) =>
    when(signers.distinct, (least) => requireDistinctKeys(least, signers)),
  'age.max': ({ age }) => when(age?.max, requireMaxAge),
  'scope.organizations': ({ scope }) => when(scope?.organizations, requireOrganizations),
  'scope.projects': ({ scope }) =>
    when(scope?.projects, (allowed) => requireFact('the project', ({ projectId }) => projectId, allowed)),
  'run.drills': requirePin('the drill', 'drills', 'drillId'),
  'run.targets': requirePin('the target', 'targets', 'targetId'),
  'run.scenarios': requirePin('the scenario', 'scenarios', 'scenarioId'),
  'run.builds': requirePin('the build', 'builds', 'buildHash'),
  'run.packageLocks': requirePin('the package lock', 'packageLocks', 'packageLockHash'),
  'run.seeds': requirePin('the seed', 'seeds', 'seed'),
  'run.trials': ({ run }) => when(run?.trials, requireTrialNumbers),
  'drills.required': ({ drills }) => when(drills?.required, requireDrills),
  'outcome.status': ({ outcome }) =>
    when(outcome?.status, (allowed) => requireOutcome('the status of the run', 'status', allowed)),
  'outcome.verdict': ({ outcome }) =>
    when(outcome?.verdict, (allowed) => requireOutcome('the outcome of the drill', 'verdict', allowed)),
  'completeness.vouched': ({ completeness }) => when(completeness?.vouched, requireCompleteness),
  'completeness.bundles': ({ completeness }) =>
    when(completeness?.bundles, (range) => requireCount('bundles', range)),
  'completeness.localReports': ({ completeness }) =>
    when(completeness?.localReports, (range) => requireCount('localReports', range)),
  'completeness.coverage': ({ completeness }) => when(completeness?.coverage, () => requireCoverage),
  'trials.complete': (policy) => (trialsOf(policy).complete === true ? requireCompleteTrials : undefined),
  'trials.attempts': (policy) => when(trialsOf(policy).attempts, requireAttempts),
  'trials.reruns': (policy) => (trialsOf(policy).reruns === 'allow' ? undefined : refuseReruns),
  'trials.unique': () => requireUniqueRuns,
  'localReports.allowed': ({ localReports }) =>
    localReports?.allowed === false ? refuseLocalReports : undefined,
  'findings.warnings': ({ findings }) => when(findings?.warnings, refuseWarnings),
  'summary.accepted': ({ summary }) => requireAcceptedSummaries(summary?.accepted ?? []),
};
