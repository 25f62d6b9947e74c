import { formatJsonPointer } from '../bytes/json/parse.ts';
import type { Code } from '../codes/catalogue.ts';
import { codeFacts } from '../codes/facts.ts';
import type { Protection } from './decision.ts';
import type { PolicyDocument } from './document/document.ts';
import { FIXED_MEMBERS } from './document/parameters.ts';
import { momentMs } from './document/values.ts';
import { isRule, RULE_IDS, RULES, type RuleId } from './catalogue.ts';
import { POLICY_RULES } from './rules/table.ts';

export type Doubt = { readonly path: string; readonly message: string };

const isCompared = (name: string): boolean => name === 'waivers' || !FIXED_MEMBERS.has(name);

/** The rules of one document that cannot hold or cannot fail, and text that was probably meant as a pattern. */
export const listDoubts = (document: PolicyDocument, nowMs: number): readonly Doubt[] => [
  ...Object.entries(document).flatMap(([name, value]) =>
    isCompared(name) ? listOddValues(value, [name]) : [],
  ),
  ...RULE_IDS.flatMap((rule) =>
    (POLICY_RULES[rule](document)?.doubts ?? []).map((message) => ({
      path: `/${rule.replace('.', '/')}`,
      message,
    })),
  ),
  ...listEnforcementDoubts(document),
  ...(document.waivers ?? []).flatMap(({ code, expires }, at) => [
    ...[findRemoved(code)]
      .filter((removed) => removed !== undefined)
      .map((removed) => ({ path: `/waivers/${at}/code`, message: `it removes ${REMOVED[removed]}` })),
    ...(momentMs(expires) > nowMs
      ? []
      : [{ path: `/waivers/${at}/expires`, message: 'the waiver has expired' }]),
    ...RULE_IDS.filter((rule) => RULES[rule].code === code)
      .flatMap((rule) => listMissing(document, rule, 'waive policy.NO_ALTERNATIVE of the subject "all"'))
      .map((message) => ({ path: `/waivers/${at}/code`, message })),
  ]),
];

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
  if (typeof value === 'string')
    return value.includes('*') && path.at(-1) !== 'pattern' && path.at(-1) !== 'reason'
      ? [
          {
            path: place,
            message: `${JSON.stringify(value)} is compared exactly; write {"pattern": …} for a pattern`,
          },
        ]
      : [];
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  if (members.length === 0 && !Array.isArray(value)) return [{ path: place, message: 'requires nothing' }];
  return members.flatMap(([name, member]) => listOddValues(member, [...path, name]));
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
  if (POLICY_RULES[rule](document) !== undefined) return [];
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
  RULE_IDS.flatMap((rule) => {
    const words = POLICY_RULES[rule](policy)?.sentence;
    return words === undefined ? [] : [{ rule, words }];
  });

export const listMissingRules = (layers: readonly PolicyDocument[]): readonly RuleId[] =>
  RULE_IDS.filter((rule) => layers.every((policy) => POLICY_RULES[rule](policy) === undefined));
