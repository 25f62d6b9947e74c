import { formatJsonPointer } from '../bytes/json/parse.ts';
import type { Code } from '../codes/catalogue.ts';
import { codeFacts } from '../codes/facts.ts';
import type { Protection } from './decision.ts';
import type { PolicyDocument } from './document/document.ts';
import { FIXED_MEMBERS } from './document/parameters.ts';
import { durationMs, momentMs } from './document/values.ts';
import { didYouMean } from '../bytes/text/wording.ts';
import { verdicts } from '../contract/resources/run.ts';
import { isRule, RULE_IDS, RULES, type RuleId } from './catalogue.ts';
import { DRILL_CODES } from './rules/drills.ts';
import { formatSelections, listScopes, POLICY_RULES } from './rules/sets.ts';

export type Doubt = { readonly path: string; readonly message: string };

const isCompared = (name: string): boolean => name === 'waivers' || !FIXED_MEMBERS.has(name);

/** The rules of one document that cannot hold or cannot fail, and text that was probably meant as a pattern. */
export const listDoubts = (document: PolicyDocument, nowMs: number): readonly Doubt[] => [
  ...Object.entries(document).flatMap(([name, value]) =>
    isCompared(name) ? listOddValues(value, [name]) : [],
  ),
  ...listScopes(document).flatMap(({ pointer, rules }) =>
    [...rules].flatMap(([rule, { doubts }]) =>
      doubts.map((message) => ({ path: `${pointer}/${rule.replace('.', '/')}`, message })),
    ),
  ),
  ...(durationMs(document.clockSkew ?? '1s') > MAX_SKEW_MS
    ? [{ path: '/clockSkew', message: 'clocks that differ by more than a day prove no time' }]
    : []),
  ...listEnforcementDoubts(document),
  ...(document.waivers ?? []).flatMap(({ code, expires }, at) => [
    ...[findRemoved(code)]
      .filter((removed) => removed !== undefined)
      .map((removed) => ({ path: `/waivers/${at}/code`, message: `it removes ${REMOVED[removed]}` })),
    ...(momentMs(expires) > nowMs
      ? []
      : [{ path: `/waivers/${at}/expires`, message: 'the waiver has expired' }]),
    ...RULE_IDS.filter((rule) => listRuleCodes(rule).includes(code))
      .flatMap((rule) => listMissing(document, rule, 'waive policy.NO_ALTERNATIVE of the subject "all"'))
      .map((message) => ({ path: `/waivers/${at}/code`, message })),
  ]),
];

/** The codes of the violations of a rule. */
export const listRuleCodes = (rule: RuleId): readonly Code[] =>
  rule === 'drills.required' ? DRILL_CODES : [RULES[rule].code];

const MAX_SKEW_MS = 86_400_000;

const BYTES_CODE = /^(?:zip|encoding|json|object|bundle|part|local-report|export|bag)\./;
const SIGNATURE_CODE = /^(?:attestation|dsse|trust)\./;

/** What a waiver of this code removes: the proof that evidence is unchanged, or that its signer made it. */
export function findRemoved(code: Code): Protection | undefined {
  if (codeFacts(code).severity !== 'error') return undefined;
  if (BYTES_CODE.test(code)) return 'integrity';
  return SIGNATURE_CODE.test(code) ? 'authenticity' : undefined;
}

/** What a waiver removes, in words. */
export const REMOVED: Readonly<Record<Protection, string>> = {
  integrity: 'integrity: the evidence may have been changed',
  authenticity: 'authenticity: nothing shows who made the evidence',
};

function listOddValues(value: unknown, path: readonly PropertyKey[]): readonly Doubt[] {
  const place = formatJsonPointer([...path]);
  if (typeof value === 'string') {
    const known = findKnownValues(path);
    const hint = known?.includes(value) === false ? didYouMean(value, known) : undefined;
    if (hint !== undefined)
      return [{ path: place, message: `${JSON.stringify(value)} is not a known value. ${hint}` }];
    return value.includes('*') && path.at(-1) !== 'pattern' && path.at(-1) !== 'reason'
      ? [
          {
            path: place,
            message: `${JSON.stringify(value)} is compared exactly; write {"pattern": …} for a pattern`,
          },
        ]
      : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  if (members.length === 0 && !Array.isArray(value)) return [{ path: place, message: 'requires nothing' }];
  return members.flatMap(([name, member]) => listOddValues(member, [...path, name]));
}

/** The values that runs usually have; others are possible. */
function findKnownValues(path: readonly PropertyKey[]): readonly string[] | undefined {
  const names = path.filter((name) => typeof name === 'string' && !/^\d+$/.test(name));
  const [section, member] = names.slice(-2);
  if (member === 'status') return ['completed', 'failed'];
  return member === 'outcome' || (section === 'outcome' && member === 'verdict') ? verdicts : undefined;
}

/** Rules without which nothing shows that evidence was verified. */
const VERIFYING = new Set(['verdict.export', 'verdict.bundles', 'summary.accepted']);

const listEnforcementDoubts = (document: PolicyDocument): readonly Doubt[] =>
  Object.keys(document.enforcement ?? {}).flatMap((rule) => {
    const path = formatJsonPointer(['enforcement', rule]);
    if (VERIFYING.has(rule))
      return [{ path, message: 'the answer can be yes for evidence that is not verified' }];
    const missing = isRule(rule) ? listMissing(document, rule, 'name anyOf.sets') : [];
    return missing.map((message) => ({ path, message }));
  });

/** Explains that a policy does not have a rule, or only in the sets of `anyOf`, for which the caller has other advice. */
function listMissing(document: PolicyDocument, rule: RuleId, advice: string): readonly string[] {
  if (listScopes(document).some(({ rules }) => rules.has(rule))) return [];
  const { anyOf = [], schemaVersion, kind } = document;
  const isInSet = anyOf.some((set) => POLICY_RULES[rule]({ schemaVersion, kind, ...set }) !== undefined);
  return [
    isInSet
      ? `the policy has the rule ${rule} only in anyOf, where this does not apply; ${advice}`
      : `the policy does not have the rule ${rule}`,
  ];
}

export type ExplainedRule = { readonly rule: RuleId; readonly words: string };

/** Every rule of a policy in words, without those of policies that it extends. */
export const explainRules = (policy: PolicyDocument): readonly ExplainedRule[] =>
  listScopes(policy).flatMap(({ rules, selections }) => {
    const about = formatSelections(selections);
    const start = about === '' ? '' : `${about[0]!.toUpperCase()}${about.slice(1)}: `;
    return [...rules].map(([rule, { sentence }]) => ({ rule, words: `${start}${sentence}` }));
  });

export const listMissingRules = (layers: readonly PolicyDocument[]): readonly RuleId[] => {
  const present = new Set(layers.flatMap((layer) => explainRules(layer).map(({ rule }) => rule)));
  return RULE_IDS.filter((rule) => !present.has(rule));
};
