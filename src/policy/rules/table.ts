import type { PolicyDocument } from '../document/document.ts';
import { type Condition, formatCondition, formatRange, type Range } from '../document/values.ts';
import {
  type PinnedFact,
  requireFact,
  requireMaxAge,
  requireOrganizations,
  requireOutcome,
  requireRunAge,
  requirePinned,
  requireTrialNumbers,
} from './attested-facts.ts';
import type { RuleId } from './catalogue.ts';
import { requireCompleteness, requireCount, requireCoverage, requireListSigners } from './completeness.ts';
import { refuseContradiction, refuseLateRuns } from './contradictions.ts';
import { formatRequired, requireDrills } from './drills.ts';
import type { Evaluator } from './outcome.ts';
import { requireAllowedIssuers, requireAllowedKeys, requireDistinctKeys } from './signers.ts';
import { formatAccepted, requireAcceptedSummaries } from './summaries.ts';
import { refuseReruns, requireAttempts, requireCompleteTrials, requireUniqueRuns } from './trials.ts';
import {
  refuseLocalReports,
  refuseWarnings,
  requireBundleVerdicts,
  requireExportVerdict,
} from './verdicts.ts';

/** How one rule works, by the value of its member in a policy. */
type RuleRow<T> = {
  /** The value; `undefined` if the policy does not have the rule. */
  readonly member: (policy: PolicyDocument) => T | undefined;
  readonly evaluate: (value: T, policy: PolicyDocument) => Evaluator;
  /** What it requires, as one sentence. */
  readonly sentence: (value: T, policy: PolicyDocument) => string;
  /** Why it cannot hold, or cannot fail. */
  readonly doubts?: (value: T, policy: PolicyDocument) => readonly string[];
};

/** A rule under one policy. */
export type PolicyRule = {
  readonly evaluate: Evaluator;
  readonly sentence: string;
  readonly doubts: readonly string[];
};

type SelectRule = (policy: PolicyDocument) => PolicyRule | undefined;

const rule =
  <T>({ member, evaluate, sentence, doubts }: RuleRow<T>): SelectRule =>
  (policy) => {
    const value = member(policy);
    if (value === undefined) return undefined;
    return {
      evaluate: evaluate(value, policy),
      sentence: sentence(value, policy),
      doubts: doubts?.(value, policy) ?? [],
    };
  };

const joinOr = (conditions: readonly Condition[]): string => conditions.map(formatCondition).join(' or ');

type Pins = 'drills' | 'targets' | 'scenarios' | 'builds' | 'packageLocks' | 'seeds';

/** A rule about a fact that the statement of each bundle pins. */
const pinned = (what: string, member: Pins, fact: PinnedFact): SelectRule =>
  rule<readonly Condition[]>({
    member: ({ run }) => run?.[member],
    evaluate: (allowed) => requirePinned(what, fact, allowed),
    sentence: (allowed) =>
      `Every bundle must be of ${what} ${joinOr(allowed)}, as its signed statement says.`,
  });

type Trials = Exclude<NonNullable<PolicyDocument['trials']>, 'complete'>;

/** A way in which no run may contradict itself. `refuse` is short for all of them. */
const contradiction = (
  member: keyof Exclude<NonNullable<PolicyDocument['contradictions']>, 'refuse'>,
  evaluator: Evaluator,
  sentence: string,
): SelectRule =>
  rule({
    member: ({ contradictions }) => (contradictions === 'refuse' ? contradictions : contradictions?.[member]),
    evaluate: () => evaluator,
    sentence: () => sentence,
  });

/** `complete` is short for every trial and every attempt. */
const trialsOf = ({ trials = {} }: PolicyDocument): Trials =>
  trials === 'complete' ? { complete: true, attempts: 'every' } : trials;

const VERDICT_WORDS = {
  verified: 'verified: complete and unchanged, and signed by a trusted key',
  intact: 'at least intact: complete and unchanged, signed or not',
} as const;

function formatTrials(trials: { readonly [name: string]: Range | undefined }): string {
  return Object.entries(trials)
    .flatMap(([name, range]) => (range === undefined ? [] : [`${name} ${formatRange(range)}`]))
    .join(', ');
}

/**
 * What each rule requires, under a policy that has it. Every policy requires verdicts and unique runs, refuses reruns
 * unless it allows them, and accepts no summary that it does not pin.
 */
export const POLICY_RULES: Readonly<Record<RuleId, SelectRule>> = {
  'verdict.export': rule({
    member: ({ verdict }) => verdict?.export ?? 'verified',
    evaluate: requireExportVerdict,
    sentence: (verdict) => `Every export must be ${VERDICT_WORDS[verdict]}.`,
  }),
  'verdict.bundles': rule({
    member: ({ verdict }) => verdict?.bundles ?? 'verified',
    evaluate: requireBundleVerdicts,
    sentence: (verdict) => `Every bundle must be ${VERDICT_WORDS[verdict]}; every input must be readable.`,
  }),
  'signers.issuers': rule({
    member: ({ signers }) => signers?.issuers,
    evaluate: requireAllowedIssuers,
    sentence: (issuers) => `The issuer ${joinOr(issuers)} must have signed every bundle.`,
  }),
  'signers.keys': rule({
    member: ({ signers }) => signers?.keys,
    evaluate: requireAllowedKeys,
    sentence: (keys) => `The key ${joinOr(keys)} must have signed every bundle.`,
  }),
  'signers.distinct': rule({
    member: ({ signers }) => signers?.distinct,
    evaluate: (least, { signers = {} }) => requireDistinctKeys(least, signers),
    sentence: (least) =>
      `At least ${least} different allowed keys must have signed every bundle; two names of one key count once.`,
  }),
  'age.max': rule({
    member: ({ age }) => age?.max,
    evaluate: requireMaxAge,
    sentence: (max) => `No statement may be older than ${max}.`,
  }),
  'age.run': rule({
    member: ({ age }) => age?.run,
    evaluate: requireRunAge,
    sentence: (max) => `No run may be older than ${max}, or dated after its signature.`,
  }),
  'scope.organizations': rule({
    member: ({ scope }) => scope?.organizations,
    evaluate: requireOrganizations,
    sentence: (allowed) => `Everything must belong to the organization ${joinOr(allowed)}.`,
  }),
  'scope.projects': rule({
    member: ({ scope }) => scope?.projects,
    evaluate: (allowed) => requireFact('the project', ({ projectId }) => projectId, allowed),
    sentence: (allowed) => `Every bundle must belong to the project ${joinOr(allowed)}.`,
  }),
  'run.drills': pinned('the drill', 'drills', 'drillId'),
  'run.targets': pinned('the target', 'targets', 'targetId'),
  'run.scenarios': pinned('the scenario', 'scenarios', 'scenarioId'),
  'run.builds': pinned('the build', 'builds', 'buildHash'),
  'run.packageLocks': pinned('the package lock', 'packageLocks', 'packageLockHash'),
  'run.seeds': pinned('the seed', 'seeds', 'seed'),
  'run.trials': rule({
    member: ({ run }) => run?.trials,
    evaluate: requireTrialNumbers,
    sentence: (trials) => `Every bundle must have ${formatTrials(trials)}.`,
  }),
  'drills.required': rule({
    member: ({ drills }) => drills?.required,
    evaluate: requireDrills,
    sentence: (required) =>
      `Each of these must be present and verified: ${required.map(formatRequired).join('; ')}.`,
  }),
  'outcome.status': rule({
    member: ({ outcome }) => outcome?.status,
    evaluate: (allowed) => requireOutcome('the status of the run', 'status', allowed),
    sentence: (allowed) => `Every run must have ended as ${joinOr(allowed)}.`,
  }),
  'outcome.verdict': rule({
    member: ({ outcome }) => outcome?.verdict,
    evaluate: (allowed) => requireOutcome('the outcome of the drill', 'verdict', allowed),
    sentence: (allowed) => `Every drill must have the outcome ${joinOr(allowed)}.`,
  }),
  'contradictions.world': contradiction(
    'world',
    refuseContradiction('world'),
    'The world of every run must have been consistent.',
  ),
  'contradictions.binding': contradiction(
    'binding',
    refuseContradiction('binding'),
    'Every run must be completely bound to its evidence.',
  ),
  'contradictions.assertions': contradiction(
    'assertions',
    refuseContradiction('assertions'),
    'No run may state that it passed if an assertion with "gate" did not.',
  ),
  'contradictions.checkpoints': contradiction(
    'checkpoints',
    refuseContradiction('checkpoints'),
    'No run may state that it passed if a final checkpoint did not.',
  ),
  'contradictions.budget': contradiction(
    'budget',
    refuseContradiction('budget'),
    'No run may have exceeded its budget of tool calls and scheduled events.',
  ),
  'contradictions.time': contradiction('time', refuseLateRuns, 'No run may be dated after its signature.'),
  'completeness.vouched': rule({
    member: ({ completeness }) => completeness?.vouched,
    evaluate: requireCompleteness,
    sentence: (allowed) => `The list of bundles must be ${joinOr(allowed)}, not only claimed.`,
  }),
  'completeness.issuers': rule({
    member: ({ completeness }) => completeness?.issuers,
    evaluate: (issuers) => requireListSigners('issuer', { issuers }),
    sentence: (issuers) =>
      `The issuer ${joinOr(issuers)} must have attested every list of bundles that you do not pin.`,
  }),
  'completeness.keys': rule({
    member: ({ completeness }) => completeness?.keys,
    evaluate: (keys, { completeness }) => requireListSigners('key', { ...completeness, keys }),
    sentence: (keys) =>
      `The key ${joinOr(keys)} must have attested every list of bundles that you do not pin.`,
  }),
  'completeness.bundles': rule({
    member: ({ completeness }) => completeness?.bundles,
    evaluate: (range) => requireCount('bundles', range),
    sentence: (range) => `All inputs together must have ${formatRange(range)} bundles.`,
  }),
  'completeness.localReports': rule({
    member: ({ completeness }) => completeness?.localReports,
    evaluate: (range) => requireCount('localReports', range),
    sentence: (range) => `All inputs together must have ${formatRange(range)} local reports.`,
  }),
  'completeness.coverage': rule({
    member: ({ completeness }) => completeness?.coverage,
    evaluate: () => requireCoverage,
    sentence: () => 'A digest or signature must cover every byte of every input.',
  }),
  'trials.complete': rule({
    member: (policy) => trialsOf(policy).complete,
    evaluate: () => requireCompleteTrials,
    sentence: () => 'Every trial of every run must be present, each as often as the others.',
  }),
  'trials.attempts': rule({
    member: (policy) => trialsOf(policy).attempts,
    evaluate: requireAttempts,
    sentence: (which) =>
      which === 'first'
        ? 'No bundle may be of a later attempt.'
        : 'If there is a later attempt, every earlier one of the trial must be present.',
  }),
  'trials.reruns': rule({
    member: (policy) => (trialsOf(policy).reruns === 'allow' ? undefined : 'refuse'),
    evaluate: () => refuseReruns,
    sentence: () => 'No bundle may be of a rerun.',
  }),
  'trials.unique': rule({
    member: () => true,
    evaluate: () => requireUniqueRuns,
    sentence: () => 'No run may appear twice.',
  }),
  'localReports.allowed': rule({
    member: ({ localReports }) => (localReports?.allowed === false ? false : undefined),
    evaluate: () => refuseLocalReports,
    sentence: () => 'There may be no local report.',
  }),
  'findings.warnings': rule({
    member: ({ findings }) => findings?.warnings,
    evaluate: refuseWarnings,
    sentence: (refused) =>
      refused === 'refuse'
        ? 'The verification may have no warning.'
        : `The verification may not report ${joinOr(refused)}.`,
  }),
  'summary.accepted': rule({
    member: ({ summary }) => summary?.accepted ?? [],
    evaluate: requireAcceptedSummaries,
    sentence: (rows) =>
      rows.length === 0
        ? 'No summary may replace evidence.'
        : `A summary may replace evidence if it is ${rows.map(formatAccepted).join('; or ')}.`,
  }),
};
