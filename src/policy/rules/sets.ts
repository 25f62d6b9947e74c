import { defined } from '../../bytes/arguments.ts';
import { RULE_IDS, type RuleId } from '../catalogue.ts';
import type { PolicyDocument, RuleSet } from '../document/document.ts';
import { formatSelector, selectFacts, type Selection } from './conditions.ts';
import { ofEvidence, type Evaluator, type Problem, UNWAIVABLE } from './outcome.ts';
import { defineRule, type PolicyRule, SECTION_RULES, type SelectRule, skewMsOf } from './table.ts';

/**
 * Rules that are evaluated together: those of a document, or those of a set in `allOf` for the runs that it selects. A
 * document is the scope of its own rules, and each set is one more.
 */
export type Scope = {
  /** Absent for the document itself. */
  readonly name?: string;
  /** Where it is in the document, as a JSON pointer. */
  readonly pointer: string;
  readonly rules: ReadonlyMap<RuleId, PolicyRule>;
  /** Those of the set and of the sets around it. */
  readonly selections: readonly Selection[];
};

/** The scopes of a document. Sets inside sets are about the runs that all of them select. */
export const listScopes = (policy: PolicyDocument): readonly Scope[] => [
  { pointer: '', rules: selectRules(policy), selections: [] },
  ...listSetScopes(policy, policy, NOWHERE),
];

const NOWHERE: Scope = { name: '', pointer: '', rules: new Map(), selections: [] };

function listSetScopes(policy: PolicyDocument, { allOf = [] }: RuleSet, around: Scope): readonly Scope[] {
  return allOf.flatMap((set, at) => {
    const { when, unless } = set;
    const scope: Scope = {
      name: [around.name, set.name ?? `set ${at + 1}`].filter((name) => name !== '').join(', '),
      pointer: `${around.pointer}/allOf/${at}`,
      rules: selectSetRules(policy, set),
      selections: [
        ...around.selections,
        ...((when ?? unless) === undefined ? [] : [defined({ when, unless })]),
      ],
    };
    return [scope, ...listSetScopes(policy, set, scope)];
  });
}

const selectRules = (policy: PolicyDocument): ReadonlyMap<RuleId, PolicyRule> =>
  new Map(
    RULE_IDS.flatMap((id) => {
      const rule = POLICY_RULES[id](policy);
      return rule === undefined ? [] : [[id, rule] as const];
    }),
  );

/** The rules of a set that the policy around it does not have in the same form. */
export function selectSetRules(
  policy: PolicyDocument,
  set: RuleSet & Pick<PolicyDocument, 'baseline' | 'artifact'>,
): ReadonlyMap<RuleId, PolicyRule> {
  const { verdict, trials, clockSkew } = policy;
  const base = { schemaVersion: 1, kind: 'policy', ...defined({ verdict, trials, clockSkew }) } as const;
  const { when: _when, unless: _unless, name: _name, allOf: _allOf, ...sections } = set;
  const inherited = selectRules(base);
  return new Map(
    [...selectRules({ ...base, ...sections })].filter(
      ([id, { sentence }]) => sentence !== inherited.get(id)?.sentence,
    ),
  );
}

/** `for runs with target prod, except those with drill smoke`. */
export const formatSelections = (selections: readonly Selection[]): string =>
  selections
    .flatMap(({ when, unless }) => [
      ...(when === undefined ? [] : [`for runs with ${formatSelector(when)}`]),
      ...(unless === undefined ? [] : [`except for runs with ${formatSelector(unless)}`]),
    ])
    .join(', ');

/** Every scope of one of the alternatives holds, and at least one of its rules had a subject. */
function requireAnySet(sets: readonly RuleSet[], policy: PolicyDocument): Evaluator {
  const alternatives = sets.map((set) => listSetScopes(policy, { allOf: [set] }, NOWHERE));
  const skewMs = skewMsOf(policy);
  return ofEvidence((facts) => {
    const clock = { asOfMs: facts.asOfMs, skewMs };
    const results = alternatives.map((scopes) => {
      const outcomes = scopes.flatMap(({ rules, selections }) => {
        const selected = selectFacts(facts, selections, clock);
        return [...rules].map(([id, { evaluate }]) => ({ id, ...evaluate(selected) }));
      });
      const broken = outcomes.filter(({ problems }) => problems.length > 0);
      const holds = broken.length === 0 && outcomes.some(({ examined }) => examined > 0);
      // A set that is about no run does not hold, whatever could not be checked elsewhere.
      const isIdle = broken.length === 0 && scopes.some(({ selections }) => selections.length > 0);
      const isOpen =
        !holds &&
        !isIdle &&
        broken.every(({ problems }) => problems.every(({ state }) => state === 'not_checked'));
      return { holds, isOpen, broken };
    });
    if (results.some(({ holds }) => holds)) return { examined: sets.length, problems: [] };
    const actual = results
      .map(({ broken }, at) => `${sets[at]?.name ?? `set ${at + 1}`} without ${describeBroken(broken)}`)
      .join('; ');
    const isOpen = results.some((result) => result.isOpen);
    const problem = { subject: 'all', message: 'no set of rules holds', actual };
    return {
      examined: sets.length,
      problems: [
        isOpen ? { ...problem, state: 'not_checked', causes: UNWAIVABLE } : { ...problem, state: 'failed' },
      ],
    };
  });
}

type Broken = { readonly id: RuleId; readonly problems: readonly Problem[] };

/** `age.run (evidence_1: the run is too old, at most 2d, created at …; and 3 more)`. */
const describeBroken = (broken: readonly Broken[]): string =>
  broken
    .map(({ id, problems }) => {
      const [{ subject, message, expected, actual } = { subject: '', message: '' }] = problems;
      const words = [message, expected, actual].filter((text) => text !== undefined).join(', ');
      const more = problems.length > 1 ? `; and ${problems.length - 1} more` : '';
      return `${id} (${subject}: ${words}${more})`;
    })
    .join(', ') || 'anything to check';

const listSentences = (policy: PolicyDocument, set: RuleSet): string =>
  listSetScopes(policy, { allOf: [set] }, NOWHERE)
    .map(({ rules, selections }) => {
      const sentences = [...rules.values()].map(({ sentence }) => sentence).join(' ');
      return selections.length === 0 ? sentences : `${formatSelections(selections)}: ${sentences}`;
    })
    .join(' ');

/**
 * The requirement of each rule. Every policy requires verdicts and unique runs, refuses reruns unless it allows them, and
 * accepts no summary that it does not pin.
 */
export const POLICY_RULES: Readonly<Record<RuleId, SelectRule>> = {
  ...SECTION_RULES,
  'anyOf.sets': defineRule({
    member: ({ anyOf }) => anyOf,
    evaluate: requireAnySet,
    sentence: (sets, policy) =>
      `One of these sets must hold completely: ${sets.map((set, at) => `(${set.name ?? at + 1}) ${listSentences(policy, set)}`).join(' ')}`,
    doubts: ({ length }) => (length === 1 ? ['there is only one set; write its rules in allOf'] : []),
  }),
  'sets.applied': defineRule({
    member: ({ allOf }) => (allOf !== undefined && hasSelector(allOf) ? allOf : undefined),
    evaluate: (_, policy) => requireAnyRun(policy),
    sentence: () => 'A set that is about no run of the evidence is a warning, and with --strict a failure.',
  }),
};

const hasSelector = (sets: readonly RuleSet[]): boolean =>
  sets.some(({ when, unless, allOf = [] }) => (when ?? unless) !== undefined || hasSelector(allOf));

/** Every set that selects runs is about at least one. */
function requireAnyRun(policy: PolicyDocument): Evaluator {
  const scopes = listSetScopes(policy, policy, NOWHERE).filter(({ selections }) => selections.length > 0);
  return ofEvidence((facts) => {
    const clock = { asOfMs: facts.asOfMs, skewMs: skewMsOf(policy) };
    return {
      examined: scopes.length,
      problems: scopes.flatMap(({ name = '', selections }): Problem[] =>
        selectFacts(facts, selections, clock).bundles.length > 0
          ? []
          : [
              {
                state: 'failed',
                subject: name,
                message: `the set was applied to 0 subjects, ${formatSelections(selections)}`,
                expected: 'at least 1 run',
                actual: '0 runs',
              },
            ],
      ),
    };
  });
}
