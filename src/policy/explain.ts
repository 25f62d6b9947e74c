import { conditionWords, type Condition } from './condition.ts';
import type { PolicyDocument } from './document/document.ts';
import { JUDGES } from './judges/index.ts';
import { rangeWords, type Range } from './document/range.ts';
import { RULES, type RuleId } from './rules.ts';

/** What one policy asks for by one rule, in words. */
export type ExplainedRule = { readonly rule: RuleId; readonly words: string };

const oneOf = (conditions: readonly Condition[] = []): string => conditions.map(conditionWords).join(' or ');
const only = (what: string, conditions: readonly Condition[] | undefined): string =>
  `Every bundle must be of ${what} ${oneOf(conditions)}, as its signed statement says.`;

const VERDICT_WORDS = {
  verified: 'verified: whole, and signed by a key that is trusted',
  intact: 'intact at least: whole, whether anybody signed it or not',
} as const;

const WORDS: Readonly<Record<RuleId, (policy: PolicyDocument) => string>> = {
  'verdict.export': ({ verdict }) => `Every export must be ${VERDICT_WORDS[verdict?.export ?? 'verified']}.`,
  'verdict.bundles': ({ verdict }) =>
    `Every bundle must be ${VERDICT_WORDS[verdict?.bundles ?? 'verified']}; every input must be readable.`,
  'signers.issuers': ({ signers }) => `Every bundle must be signed by the issuer ${oneOf(signers?.issuers)}.`,
  'signers.keys': ({ signers }) => `Every bundle must be signed by the key ${oneOf(signers?.keys)}.`,
  'signers.distinct': ({ signers }) =>
    `Every bundle must be signed by at least ${signers?.distinct} different keys that are allowed; two names of one key count once.`,
  'age.max': ({ age }) => `No statement may have been issued longer ago than ${age?.max}.`,
  'scope.organizations': ({ scope }) =>
    `Everything must belong to the organization ${oneOf(scope?.organizations)}.`,
  'scope.projects': ({ scope }) => `Every bundle must belong to the project ${oneOf(scope?.projects)}.`,
  'run.drills': ({ run }) => only('the drill', run?.drills),
  'run.targets': ({ run }) => only('the target', run?.targets),
  'run.scenarios': ({ run }) => only('the scenario', run?.scenarios),
  'run.builds': ({ run }) => only('the build', run?.builds),
  'run.packageLocks': ({ run }) => only('the package lock', run?.packageLocks),
  'run.seeds': ({ run }) => only('the seed', run?.seeds),
  'run.trials': ({ run }) => `In every bundle the numbers of its trial must be: ${numbers(run?.trials)}.`,
  'drills.required': ({ drills }) =>
    `Each of these must be there, verified: ${(drills?.required ?? []).map(drillWords).join('; ')}.`,
  'outcome.status': ({ outcome }) => `Every run must have ended as ${oneOf(outcome?.status)}.`,
  'outcome.verdict': ({ outcome }) => `Every drill must have come to ${oneOf(outcome?.verdict)}.`,
  'completeness.vouched': ({ completeness }) =>
    `The list of bundles must be ${oneOf(completeness?.vouched)}, not merely claimed.`,
  'completeness.bundles': ({ completeness }) =>
    `There must be ${rangeWords(completeness?.bundles ?? 0)} bundles in all inputs together.`,
  'completeness.localReports': ({ completeness }) =>
    `There must be ${rangeWords(completeness?.localReports ?? 0)} local reports in all inputs together.`,
  'completeness.coverage': () => 'A digest or signature must cover every byte of every input.',
  'trials.complete': () => 'Every trial of every run must be there, each as often as the others.',
  'trials.attempts': ({ trials }) =>
    typeof trials === 'object' && trials.attempts === 'first'
      ? 'No bundle may be of a later attempt.'
      : 'Beside a later attempt every earlier one of the trial must be there.',
  'trials.reruns': () => 'No bundle may be of a rerun.',
  'trials.unique': () => 'No run may be there twice.',
  'localReports.allowed': () => 'There may be no local report.',
  'findings.warnings': ({ findings }) =>
    findings?.warnings === 'refuse'
      ? 'The verification may warn of nothing.'
      : `The verification may not find ${oneOf(findings?.warnings)}.`,
  'summary.accepted': ({ summary }) =>
    summary === undefined
      ? 'No verification summary stands in for evidence.'
      : `A verification summary stands in for evidence when it is ${summary.accepted.map(summaryWords).join('; or ')}.`,
};

function numbers(trials: { readonly [name: string]: Range | undefined } = {}): string {
  return Object.entries(trials)
    .flatMap(([name, range]) => (range === undefined ? [] : [`${name} ${rangeWords(range)}`]))
    .join(', ');
}

type Drill = NonNullable<NonNullable<PolicyDocument['drills']>['required']>[number];

function drillWords(one: Drill): string {
  if (typeof one === 'string') return `${one}, once at least`;
  const { drill, min = 1, target, scenario, build, outcome } = one;
  const words = Object.entries({ target, scenario, build, outcome }).flatMap(([name, condition]) =>
    condition === undefined ? [] : [`${name} ${conditionWords(condition)}`],
  );
  return [drill, min === 1 ? 'once at least' : `${min} times at least`, ...words].join(', ');
}

type Accepted = NonNullable<PolicyDocument['summary']>['accepted'][number];

const summaryWords = ({ verifier, policies, inputs, maxAge, keys }: Accepted): string =>
  `by ${verifier}${keys === undefined ? '' : ` with the key ${oneOf(keys)}`}, of the policy ${oneOf(policies)}, ` +
  `about exactly ${inputs.join(' and ')}, and at most ${maxAge} old`;

const RULE_IDS = Object.keys(RULES) as readonly RuleId[];

/** Every rule that a policy has, in words; of what it extends nothing. */
export const explainRules = (policy: PolicyDocument): readonly ExplainedRule[] =>
  RULE_IDS.filter((rule) => JUDGES[rule](policy) !== undefined).map((rule) => ({
    rule,
    words: WORDS[rule](policy),
  }));

/** The rules that none of these policies has. */
export const rulesUnasked = (layers: readonly PolicyDocument[]): readonly RuleId[] =>
  RULE_IDS.filter((rule) => layers.every((policy) => JUDGES[rule](policy) === undefined));
