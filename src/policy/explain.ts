import type { PolicyDocument } from './document/document.ts';
import { EVALUATORS } from './rules/evaluators.ts';
import { formatCondition, formatRange, type Condition, type Range } from './document/values.ts';
import { RULES, type RuleId } from './rules/catalogue.ts';

/** One rule of a policy, in words. */
export type ExplainedRule = { readonly rule: RuleId; readonly words: string };

const joinOr = (conditions: readonly Condition[] = []): string =>
  conditions.map(formatCondition).join(' or ');
const explainPinned = (what: string, conditions: readonly Condition[] | undefined): string =>
  `Every bundle must be of ${what} ${joinOr(conditions)}, as its signed statement says.`;

const VERDICT_WORDS = {
  verified: 'verified: complete and unchanged, and signed by a trusted key',
  intact: 'at least intact: complete and unchanged, signed or not',
} as const;

const WORDS: Readonly<Record<RuleId, (policy: PolicyDocument) => string>> = {
  'verdict.export': ({ verdict }) => `Every export must be ${VERDICT_WORDS[verdict?.export ?? 'verified']}.`,
  'verdict.bundles': ({ verdict }) =>
    `Every bundle must be ${VERDICT_WORDS[verdict?.bundles ?? 'verified']}; every input must be readable.`,
  'signers.issuers': ({ signers }) => `The issuer ${joinOr(signers?.issuers)} must have signed every bundle.`,
  'signers.keys': ({ signers }) => `The key ${joinOr(signers?.keys)} must have signed every bundle.`,
  'signers.distinct': ({ signers }) =>
    `At least ${signers?.distinct} different allowed keys must have signed every bundle; two names of one key count once.`,
  'age.max': ({ age }) => `No statement may be older than ${age?.max}.`,
  'scope.organizations': ({ scope }) =>
    `Everything must belong to the organization ${joinOr(scope?.organizations)}.`,
  'scope.projects': ({ scope }) => `Every bundle must belong to the project ${joinOr(scope?.projects)}.`,
  'run.drills': ({ run }) => explainPinned('the drill', run?.drills),
  'run.targets': ({ run }) => explainPinned('the target', run?.targets),
  'run.scenarios': ({ run }) => explainPinned('the scenario', run?.scenarios),
  'run.builds': ({ run }) => explainPinned('the build', run?.builds),
  'run.packageLocks': ({ run }) => explainPinned('the package lock', run?.packageLocks),
  'run.seeds': ({ run }) => explainPinned('the seed', run?.seeds),
  'run.trials': ({ run }) => `Every bundle must have ${formatTrials(run?.trials)}.`,
  'drills.required': ({ drills }) =>
    `Each of these must be present and verified: ${(drills?.required ?? []).map(formatDrill).join('; ')}.`,
  'outcome.status': ({ outcome }) => `Every run must have ended as ${joinOr(outcome?.status)}.`,
  'outcome.verdict': ({ outcome }) => `Every drill must have the outcome ${joinOr(outcome?.verdict)}.`,
  'completeness.vouched': ({ completeness }) =>
    `The list of bundles must be ${joinOr(completeness?.vouched)}, not only claimed.`,
  'completeness.bundles': ({ completeness }) =>
    `All inputs together must have ${formatRange(completeness?.bundles ?? 0)} bundles.`,
  'completeness.localReports': ({ completeness }) =>
    `All inputs together must have ${formatRange(completeness?.localReports ?? 0)} local reports.`,
  'completeness.coverage': () => 'A digest or signature must cover every byte of every input.',
  'trials.complete': () => 'Every trial of every run must be present, each as often as the others.',
  'trials.attempts': ({ trials }) =>
    typeof trials === 'object' && trials.attempts === 'first'
      ? 'No bundle may be of a later attempt.'
      : 'If there is a later attempt, every earlier one of the trial must be present.',
  'trials.reruns': () => 'No bundle may be of a rerun.',
  'trials.unique': () => 'No run may appear twice.',
  'localReports.allowed': () => 'There may be no local report.',
  'findings.warnings': ({ findings }) =>
    findings?.warnings === 'refuse'
      ? 'The verification may have no warning.'
      : `The verification may not report ${joinOr(findings?.warnings)}.`,
  'summary.accepted': ({ summary }) =>
    summary === undefined
      ? 'No summary may replace evidence.'
      : `A summary may replace evidence if it is ${summary.accepted.map(formatAccepted).join('; or ')}.`,
};

function formatTrials(trials: { readonly [name: string]: Range | undefined } = {}): string {
  return Object.entries(trials)
    .flatMap(([name, range]) => (range === undefined ? [] : [`${name} ${formatRange(range)}`]))
    .join(', ');
}

type Drill = NonNullable<NonNullable<PolicyDocument['drills']>['required']>[number];

function formatDrill(required: Drill): string {
  if (typeof required === 'string') return `${required}, at least once`;
  const { drill, min = 1, target, scenario, build, outcome } = required;
  const words = Object.entries({ target, scenario, build, outcome }).flatMap(([name, condition]) =>
    condition === undefined ? [] : [`${name} ${formatCondition(condition)}`],
  );
  return [drill, min === 1 ? 'at least once' : `at least ${min} times`, ...words].join(', ');
}

type Accepted = NonNullable<PolicyDocument['summary']>['accepted'][number];

const formatAccepted = ({ verifier, policies, inputs, maxAge, keys }: Accepted): string =>
  `by ${verifier}${keys === undefined ? '' : ` with the key ${joinOr(keys)}`}, of the policy ${joinOr(policies)}, ` +
  `about exactly ${inputs.join(' and ')}, and at most ${maxAge} old`;

const RULE_IDS = Object.keys(RULES) as readonly RuleId[];

/** Every rule of a policy in words, without those of policies that it extends. */
export const explainRules = (policy: PolicyDocument): readonly ExplainedRule[] =>
  RULE_IDS.filter((rule) => EVALUATORS[rule](policy) !== undefined).map((rule) => ({
    rule,
    words: WORDS[rule](policy),
  }));

/** The rules that none of these policies has. */
export const listMissingRules = (layers: readonly PolicyDocument[]): readonly RuleId[] =>
  RULE_IDS.filter((rule) => layers.every((policy) => EVALUATORS[rule](policy) === undefined));
