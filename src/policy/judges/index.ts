import type { PolicyDocument } from '../document/document.ts';
import type { Judge } from '../judge.ts';
import type { RuleId } from '../rules.ts';
import { maxAge } from './age.ts';
import { bundleCount, coverage, localReportCount, vouched } from './completeness.ts';
import { requiredDrills } from './drills.ts';
import { attestedFact, organizations, outcomeFact, pinnedFact, trialNumbers } from './facts-of-runs.ts';
import { noLocalReports, warnings } from './presence.ts';
import { distinct, issuers, keys } from './signers.ts';
import { acceptedSummaries } from './summaries.ts';
import { attempts, completeTrials, noReruns, uniqueRuns } from './trials.ts';
import { bundleVerdicts, exportVerdict } from './verdicts.ts';

/** A judge where the policy says something, and none where it is silent. */
const when = <T>(said: T | undefined, judge: (said: T) => Judge): Judge | undefined =>
  said === undefined ? undefined : judge(said);

type Trials = Exclude<NonNullable<PolicyDocument['trials']>, 'complete'>;

/** What a policy says of trials; `complete` is short for every trial, every attempt, no rerun. */
const trialsOf = ({ trials = {} }: PolicyDocument): Trials =>
  trials === 'complete' ? { complete: true, attempts: 'every' } : trials;

/**
 * For each rule its judge under a policy that has it. Whatever it says, verdicts are required, no run counts twice,
 * reruns are refused unless it allows them, and a summary stands in for nothing that it does not pin.
 */
export const JUDGES: Readonly<Record<RuleId, (policy: PolicyDocument) => Judge | undefined>> = {
  'verdict.export': ({ verdict }) => exportVerdict(verdict?.export ?? 'verified'),
  'verdict.bundles': ({ verdict }) => bundleVerdicts(verdict?.bundles ?? 'verified'),
  'signers.issuers': ({ signers }) => when(signers?.issuers, issuers),
  'signers.keys': ({ signers }) => when(signers?.keys, keys),
  'signers.distinct': ({ signers = {} }) => when(signers.distinct, (least) => distinct(least, signers)),
  'age.max': ({ age }) => when(age?.max, maxAge),
  'scope.organizations': ({ scope }) => when(scope?.organizations, organizations),
  'scope.projects': ({ scope }) =>
    when(scope?.projects, (allowed) => attestedFact('the project', ({ projectId }) => projectId, allowed)),
  'run.drills': ({ run }) =>
    when(run?.drills, (allowed) => pinnedFact('the drill', ({ drillId }) => drillId, allowed)),
  'run.targets': ({ run }) =>
    when(run?.targets, (allowed) => pinnedFact('the target', ({ targetId }) => targetId, allowed)),
  'run.scenarios': ({ run }) =>
    when(run?.scenarios, (allowed) => pinnedFact('the scenario', ({ scenarioId }) => scenarioId, allowed)),
  'run.builds': ({ run }) =>
    when(run?.builds, (allowed) => pinnedFact('the build', ({ buildHash }) => buildHash, allowed)),
  'run.packageLocks': ({ run }) =>
    when(run?.packageLocks, (allowed) =>
      pinnedFact('the package lock', ({ packageLockHash }) => packageLockHash, allowed),
    ),
  'run.seeds': ({ run }) =>
    when(run?.seeds, (allowed) => pinnedFact('the seed', ({ seed }) => seed, allowed)),
  'run.trials': ({ run }) => when(run?.trials, trialNumbers),
  'drills.required': ({ drills }) => when(drills?.required, requiredDrills),
  'outcome.status': ({ outcome }) =>
    when(outcome?.status, (allowed) => outcomeFact('the status of the run', 'status', allowed)),
  'outcome.verdict': ({ outcome }) =>
    when(outcome?.verdict, (allowed) => outcomeFact('the outcome of the drill', 'verdict', allowed)),
  'completeness.vouched': ({ completeness }) => when(completeness?.vouched, vouched),
  'completeness.bundles': ({ completeness }) => when(completeness?.bundles, bundleCount),
  'completeness.localReports': ({ completeness }) => when(completeness?.localReports, localReportCount),
  'completeness.coverage': ({ completeness }) => when(completeness?.coverage, () => coverage),
  'trials.complete': (policy) => (trialsOf(policy).complete === true ? completeTrials : undefined),
  'trials.attempts': (policy) => when(trialsOf(policy).attempts, attempts),
  'trials.reruns': (policy) => (trialsOf(policy).reruns === 'allow' ? undefined : noReruns),
  'trials.unique': () => uniqueRuns,
  'localReports.allowed': ({ localReports }) =>
    localReports?.allowed === false ? noLocalReports : undefined,
  'findings.warnings': ({ findings }) => when(findings?.warnings, warnings),
  'summary.accepted': ({ summary }) => acceptedSummaries(summary?.accepted ?? []),
};
