import type { Reproduction } from '../../contract/resources/attestation.ts';
import type { PolicyDocument } from '../document/document.ts';
import {
  boundsOf,
  type Condition,
  durationMs,
  formatRange,
  countRange,
  joinConditions,
  nameAllowed,
  type Range,
} from '../document/values.ts';
import {
  refuseContradiction,
  refuseLateRuns,
  requireFact,
  requireMaxAge,
  requireNamed,
  requireOrganizations,
  requireRunAge,
  requireSignedWithin,
  requireTrialNumbers,
  requireVirtualDuration,
} from './attested-facts.ts';
import { requireChallenges } from './challenges.ts';
import type { RuleId } from '../catalogue.ts';
import { requireBaselineDrills, requireBaselineOutcomes, requireBaselineRuns } from './baseline.ts';
import { formatSelector, refuseRuns, requireArtifact } from './conditions.ts';
import {
  requireCompleteness,
  requireCount,
  requireCoverage,
  requireLastReceipt,
  requireListSigners,
  requireReceipts,
  requireWindow,
} from './completeness.ts';
import {
  exceedsKeys,
  listDrillDoubts,
  formatRequired,
  listRerunDrills,
  requireDistinctSeeds,
  requireDrills,
  requirePassRate,
} from './drills.ts';
import type { Evaluator } from './outcome.ts';
import {
  requireDistinctIssuers,
  requireDistinctKeys,
  requireRoles,
  requireSigner,
  requireTimestamp,
  requireValidity,
} from './signers.ts';
import { refuseReruns, requireAttempts, requireCompleteTrials, requireUniqueRuns } from './trials.ts';
import {
  formatAccepted,
  refuseLocalReports,
  refuseWarnings,
  requireAcceptedSummaries,
  requireBundleVerdicts,
  requireExportVerdict,
} from './verdicts.ts';

type RuleRow<T> = {
  readonly member: (policy: PolicyDocument) => T | undefined;
  readonly evaluate: (value: T, policy: PolicyDocument) => Evaluator;
  readonly sentence: (value: T, policy: PolicyDocument) => string;
  readonly doubts?: (value: T, policy: PolicyDocument) => readonly string[];
};

export type PolicyRule = {
  /** As the policy has it. */
  readonly value: unknown;
  readonly evaluate: Evaluator;
  readonly sentence: string;
  readonly doubts: readonly string[];
};

/** The rules about sets, which sets.ts has. */
type SetRule = 'anyOf.sets' | 'sets.applied';

export type SelectRule = (policy: PolicyDocument) => PolicyRule | undefined;

export const defineRule =
  <T>({ member, evaluate, sentence, doubts }: RuleRow<T>): SelectRule =>
  (policy) => {
    const value = member(policy);
    if (value === undefined) return undefined;
    return {
      value,
      evaluate: evaluate(value, policy),
      sentence: sentence(value, policy),
      doubts: doubts?.(value, policy) ?? [],
    };
  };

/** How far the clocks of runners and signers may differ. */
export const skewMsOf = ({ clockSkew }: PolicyDocument): number =>
  clockSkew === undefined ? 0 : durationMs(clockSkew);

type PinnedFact = Extract<
  keyof Reproduction,
  'drillId' | 'targetId' | 'scenarioId' | 'buildHash' | 'packageLockHash' | 'seed'
>;
type Pins = 'drills' | 'targets' | 'scenarios' | 'builds' | 'packageLocks' | 'seeds';

const definePinnedRule = (what: string, member: Pins, fact: PinnedFact): SelectRule =>
  defineRule<readonly Condition[]>({
    member: ({ run }) => run?.[member],
    evaluate: (allowed) =>
      requireFact(`the ${what}`, ({ reproduction }) => reproduction && (reproduction[fact] ?? null), allowed),
    sentence: (allowed) =>
      `Every bundle must be of ${nameAllowed(what, allowed)}, as its signed statement states.`,
  });

const defineNamedRule = (member: 'assertions' | 'checkpoints', noun: string): SelectRule =>
  defineRule({
    member: ({ outcome }) => outcome?.[member],
    evaluate: (names) => requireNamed(member, names),
    sentence: (names) =>
      `In every run, the ${noun}${names.length === 1 ? '' : 's'} ${names.join(' and ')} must have passed.`,
  });

type Trials = Exclude<NonNullable<PolicyDocument['trials']>, 'complete'>;

/** A rule about one kind of contradiction. `refuse` is short for all of them. */
const defineContradictionRule = (
  member: keyof Exclude<NonNullable<PolicyDocument['contradictions']>, 'refuse'>,
  sentence: string,
): SelectRule =>
  defineRule({
    member: ({ contradictions }) => (contradictions === 'refuse' ? contradictions : contradictions?.[member]),
    evaluate: (_, policy) =>
      member === 'time' ? refuseLateRuns(skewMsOf(policy)) : refuseContradiction(member),
    sentence: () => sentence,
  });

const defineBaselineRule = (evaluate: Evaluator, sentence: string): SelectRule =>
  defineRule({ member: ({ baseline }) => baseline, evaluate: () => evaluate, sentence: () => sentence });

/** `complete` is short for every trial and every attempt. */
const trialsOf = ({ trials = {} }: PolicyDocument): Trials =>
  trials === 'complete' ? { complete: true, attempts: 'every' } : trials;

const listUnbounded = (range: Range): readonly string[] => {
  const { min, max } = boundsOf(range);
  return min <= 0 && max === Infinity ? ['cannot fail: every number is in the range'] : [];
};

const defineCountRule = (member: 'bundles' | 'localReports', noun: string): SelectRule =>
  defineRule({
    member: ({ completeness }) => completeness?.[member],
    evaluate: (range) => requireCount(member, range),
    sentence: (range) => `All inputs together must have ${countRange(range, noun)}.`,
    doubts: listUnbounded,
  });

const exceedsIssuers = (
  least: number,
  issuers: readonly Condition[] = [{ pattern: '*' }],
): readonly string[] =>
  issuers.every((issuer) => typeof issuer === 'string') && least > new Set(issuers).size
    ? [`cannot hold: ${least} different issuers are required, and the policy allows ${new Set(issuers).size}`]
    : [];

const VERDICT_WORDS = {
  verified: 'verified: complete and unchanged, and signed by a trusted key',
  intact: 'at least intact: complete and unchanged, signed or not',
} as const;

function formatTrials(trials: { readonly [name: string]: Range | undefined }): string {
  return Object.entries(trials)
    .flatMap(([name, range]) => (range === undefined ? [] : [`${name} must be ${formatRange(range)}`]))
    .join(', and ');
}

/**
 * The requirement of each rule. Every policy requires verdicts and unique runs, refuses reruns unless it allows them, and
 * accepts no summary that it does not pin.
 */
export const SECTION_RULES: Readonly<Record<Exclude<RuleId, SetRule>, SelectRule>> = {
  'verdict.export': defineRule({
    member: ({ verdict }) => verdict?.export ?? 'verified',
    evaluate: requireExportVerdict,
    sentence: (verdict) => `Every export must be ${VERDICT_WORDS[verdict]}.`,
  }),
  'verdict.bundles': defineRule({
    member: ({ verdict }) => verdict?.bundles ?? 'verified',
    evaluate: requireBundleVerdicts,
    sentence: (verdict) => `Every bundle must be ${VERDICT_WORDS[verdict]}; every input must be readable.`,
  }),
  'signers.issuers': defineRule({
    member: ({ signers }) => signers?.issuers,
    evaluate: (issuers) => requireSigner('issuer', { issuers }),
    sentence: (issuers) => `Every bundle must be signed by ${nameAllowed('issuer', issuers)}.`,
  }),
  'signers.keys': defineRule({
    member: ({ signers }) => signers?.keys,
    evaluate: (keys, { signers }) => requireSigner('key', { ...signers, keys }),
    sentence: (keys, { signers }) =>
      `Every bundle must be signed by ${nameAllowed('key', keys)}${signers?.issuers === undefined ? '' : ' of an allowed issuer'}.`,
  }),
  'signers.distinct': defineRule({
    member: ({ signers }) => signers?.distinct,
    evaluate: (least, { signers = {} }) => requireDistinctKeys(least, signers),
    sentence: (least) =>
      `Every bundle must be signed by ${countRange({ min: least }, least === 1 ? 'allowed key' : 'different allowed key')}; two names of one key count once.`,
    doubts: (least, { signers }) => exceedsKeys(least, signers?.keys),
  }),
  'signers.distinctIssuers': defineRule({
    member: ({ signers }) => signers?.distinctIssuers,
    evaluate: (least, { signers = {} }) => requireDistinctIssuers(least, signers),
    sentence: (least) =>
      `Every bundle must be signed by ${countRange({ min: least }, least === 1 ? 'allowed issuer' : 'different allowed issuer')}, each with a key of its own.`,
    doubts: (least, { signers }) => [
      ...exceedsKeys(least, signers?.keys),
      ...exceedsIssuers(least, signers?.issuers),
    ],
  }),
  'signers.roles': defineRule({
    member: ({ signers }) => signers?.roles,
    evaluate: requireRoles,
    sentence: (roles) =>
      `Each of the roles ${roles.map(({ role }) => role).join(', ')} must have signed every bundle, with a key of its own.`,
  }),
  'signers.validFor': defineRule({
    member: ({ signers }) => signers?.validFor,
    evaluate: (least, { signers = {} }) => requireValidity(least, signers),
    sentence: (least) => `An allowed key that signed must stay valid for at least ${least}.`,
  }),
  'signers.timestamp': defineRule({
    member: ({ signers }) => signers?.timestamp,
    evaluate: () => requireTimestamp,
    sentence: () => 'Every statement about a bundle must have a trusted timestamp.',
  }),
  'age.max': defineRule({
    member: ({ age }) => age?.max,
    evaluate: requireMaxAge,
    sentence: (max) => `No statement may be older than ${max}.`,
  }),
  'age.run': defineRule({
    member: ({ age }) => age?.run,
    evaluate: (max, policy) => requireRunAge(max, skewMsOf(policy)),
    sentence: (max) => `No run may be older than ${max}, or dated after its signature.`,
  }),
  'age.signedWithin': defineRule({
    member: ({ age }) => age?.signedWithin,
    evaluate: (longest, policy) => requireSignedWithin(longest, skewMsOf(policy)),
    sentence: (longest) => `Every run must have been signed at most ${longest} after it was created.`,
  }),
  'scope.organizations': defineRule({
    member: ({ scope }) => scope?.organizations,
    evaluate: requireOrganizations,
    sentence: (allowed) => `Everything must belong to ${nameAllowed('organization', allowed)}.`,
  }),
  'scope.projects': defineRule({
    member: ({ scope }) => scope?.projects,
    evaluate: (allowed) => requireFact('the project', ({ projectId }) => projectId ?? null, allowed),
    sentence: (allowed) => `Every bundle must belong to ${nameAllowed('project', allowed)}.`,
  }),
  'run.drills': definePinnedRule('drill', 'drills', 'drillId'),
  'run.targets': definePinnedRule('target', 'targets', 'targetId'),
  'run.scenarios': definePinnedRule('scenario', 'scenarios', 'scenarioId'),
  'run.builds': definePinnedRule('build', 'builds', 'buildHash'),
  'run.packageLocks': definePinnedRule('package lock', 'packageLocks', 'packageLockHash'),
  'run.seeds': definePinnedRule('seed', 'seeds', 'seed'),
  'run.distinctSeeds': defineRule({
    member: ({ run }) => run?.distinctSeeds,
    evaluate: requireDistinctSeeds,
    sentence: (least) =>
      `Every drill must have run with ${countRange({ min: least }, least === 1 ? 'seed' : 'different seed')}.`,
  }),
  'run.trials': defineRule({
    member: ({ run }) => run?.trials,
    evaluate: requireTrialNumbers,
    sentence: (trials) => `In every bundle, ${formatTrials(trials)}.`,
  }),
  'run.never': defineRule({
    member: ({ run }) => run?.never,
    evaluate: (selectors, policy) => refuseRuns(selectors, skewMsOf(policy)),
    sentence: (selectors) => `There may be no run with ${selectors.map(formatSelector).join('; or with ')}.`,
  }),
  'drills.required': defineRule({
    member: ({ drills }) => drills?.required,
    evaluate: (required, policy) => requireDrills(required, skewMsOf(policy)),
    sentence: (required) =>
      `Each of these must be present and verified: ${required.map(formatRequired).join('; ')}.`,
    doubts: listDrillDoubts,
  }),
  'outcome.status': defineRule({
    member: ({ outcome }) => outcome?.status,
    evaluate: (allowed) => requireFact('the status of the run', ({ outcome }) => outcome?.status, allowed),
    sentence: (allowed) => `Every run must have ended with ${nameAllowed('status', allowed)}.`,
  }),
  'outcome.verdict': defineRule({
    member: ({ outcome }) => outcome?.verdict,
    evaluate: (allowed) =>
      requireFact('the outcome of the drill', ({ outcome }) => outcome?.verdict, allowed),
    sentence: (allowed) => `Every drill must have ${nameAllowed('outcome', allowed)}.`,
  }),
  'outcome.passRate': defineRule({
    member: ({ outcome }) => outcome?.passRate,
    evaluate: requirePassRate,
    sentence: (least) =>
      `At least ${least} % of the runs of every drill must have passed; reruns do not count.`,
  }),
  'outcome.assertions': defineNamedRule('assertions', 'assertion'),
  'outcome.checkpoints': defineNamedRule('checkpoints', 'checkpoint'),
  'outcome.virtualDuration': defineRule({
    member: ({ outcome }) => outcome?.virtualDuration,
    evaluate: requireVirtualDuration,
    sentence: (longest) => `No run may take more than ${longest} of virtual time.`,
  }),
  'contradictions.world': defineContradictionRule(
    'world',
    'The world of every run must have been consistent.',
  ),
  'contradictions.binding': defineContradictionRule(
    'binding',
    'Every run must be completely bound to its evidence.',
  ),
  'contradictions.assertions': defineContradictionRule(
    'assertions',
    'No run may state that it passed if an assertion with "gate" did not.',
  ),
  'contradictions.checkpoints': defineContradictionRule(
    'checkpoints',
    'No run may state that it passed if a final checkpoint did not.',
  ),
  'contradictions.budget': defineContradictionRule(
    'budget',
    'No run may have exceeded its budget of tool calls and scheduled events.',
  ),
  'contradictions.time': defineContradictionRule('time', 'No run may be dated after its signature.'),
  'completeness.vouched': defineRule({
    member: ({ completeness }) => completeness?.vouched,
    evaluate: requireCompleteness,
    sentence: (allowed) => `The list of bundles must be ${joinConditions(allowed)}, not only claimed.`,
  }),
  'completeness.issuers': defineRule({
    member: ({ completeness }) => completeness?.issuers,
    evaluate: (issuers) => requireListSigners('issuer', { issuers }),
    sentence: (issuers) =>
      `Every list of bundles that you do not pin must be attested by ${nameAllowed('issuer', issuers)}.`,
  }),
  'completeness.keys': defineRule({
    member: ({ completeness }) => completeness?.keys,
    evaluate: (keys, { completeness }) => requireListSigners('key', { ...completeness, keys }),
    sentence: (keys) =>
      `Every list of bundles that you do not pin must be attested by ${nameAllowed('key', keys)}.`,
  }),
  'completeness.window': defineRule({
    member: ({ completeness }) => completeness?.window,
    evaluate: requireWindow,
    sentence: ({ last, lag }) =>
      `The window of every export must cover the last ${last}, and may end ${lag} before the evaluation.`,
    doubts: ({ last, lag }) =>
      durationMs(last) > durationMs(lag)
        ? []
        : [`cannot fail: the last ${last} ended before the lag of ${lag}`],
  }),
  'completeness.bundles': defineCountRule('bundles', 'bundle'),
  'completeness.localReports': defineCountRule('localReports', 'local report'),
  'completeness.coverage': defineRule({
    member: ({ completeness }) => completeness?.coverage,
    evaluate: () => requireCoverage,
    sentence: () =>
      'A digest or signature must cover every byte of every input, apart from the claims of export.json.',
  }),
  'trials.complete': defineRule({
    member: (policy) => trialsOf(policy).complete,
    evaluate: () => requireCompleteTrials,
    sentence: () => 'Every trial of every run must be present, each as often as the others.',
  }),
  'trials.attempts': defineRule({
    member: (policy) => trialsOf(policy).attempts,
    evaluate: requireAttempts,
    sentence: (which) =>
      which === 'first'
        ? 'No bundle may be of a later attempt.'
        : 'If there is a later attempt, every earlier one of the trial must be present.',
    doubts: (which, { run }) =>
      which === 'first' && run?.trials?.attempt !== undefined && boundsOf(run.trials.attempt).min > 1
        ? ['cannot hold: run.trials requires a later attempt']
        : [],
  }),
  'trials.reruns': defineRule({
    member: (policy) => (trialsOf(policy).reruns === 'allow' ? undefined : 'refuse'),
    evaluate: (_, policy) => refuseReruns(listRerunDrills(policy)),
    sentence: (_, policy) => {
      const drills = listRerunDrills(policy);
      return `No bundle may be of a rerun${drills.length === 0 ? '' : `, except of ${nameAllowed('drill', drills)}`}.`;
    },
  }),
  'trials.unique': defineRule({
    member: () => true,
    evaluate: () => requireUniqueRuns,
    sentence: () => 'No run may appear twice.',
  }),
  'challenge.answered': defineRule({
    member: ({ challenge }) => challenge,
    evaluate: ({ issuers }, policy) => requireChallenges(issuers, skewMsOf(policy)),
    sentence: ({ issuers }) =>
      `Every bundle must answer one challenge${issuers === undefined ? '' : ` of ${nameAllowed('issuer', issuers)}`} with its seed, between the challenge and a timestamp before its end; every challenge in the window of an export must have exactly one answer, whatever its outcome.`,
  }),
  'receipts.chain': defineRule({
    member: ({ receipts }) => (receipts === undefined ? undefined : 'sound'),
    evaluate: () => requireReceipts,
    sentence: () => 'Every export must be a mirror with a sound chain of receipts.',
  }),
  'receipts.last': defineRule({
    member: ({ receipts }) => receipts?.last,
    evaluate: requireLastReceipt,
    sentence: (last) => `The last run of every mirror must have ended at most ${last} before the evaluation.`,
  }),
  'localReports.allowed': defineRule({
    member: ({ localReports }) => (localReports?.allowed === false ? false : undefined),
    evaluate: () => refuseLocalReports,
    sentence: () => 'There may be no local report.',
  }),
  'findings.warnings': defineRule({
    member: ({ findings }) => findings?.warnings,
    evaluate: refuseWarnings,
    sentence: (refused) =>
      refused === 'refuse'
        ? 'The verification may have no warning.'
        : `The verification may not report ${nameAllowed('warning', refused)}.`,
  }),
  'summary.accepted': defineRule({
    member: ({ summary }) => summary ?? { accepted: [] },
    evaluate: requireAcceptedSummaries,
    sentence: ({ accepted, atLeast: least }) =>
      accepted.length === 0
        ? 'No summary may replace evidence.'
        : `A summary may replace evidence if it is ${accepted.map(formatAccepted).join('; or ')}.${least === undefined ? '' : ` At least ${least} of them must be present, each with a key of its own.`}`,
  }),
  'artifact.build': defineRule({
    member: ({ artifact }) => artifact,
    evaluate: (_, policy) => requireArtifact(policy.drills?.required !== undefined),
    sentence: (_, { drills }) =>
      `The build of ${drills?.required === undefined ? 'every run' : 'every required run'} must be the artifact that will be deployed (--artifact).`,
  }),
  'baseline.drills': defineBaselineRule(
    requireBaselineDrills,
    'Every drill of the last time must have run again, on the same target.',
  ),
  'baseline.outcomes': defineBaselineRule(
    requireBaselineOutcomes,
    'No drill may have passed less often than the last time.',
  ),
  'baseline.runs': defineBaselineRule(
    requireBaselineRuns,
    'No drill may have run less often than the last time.',
  ),
};
