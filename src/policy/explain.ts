import type { PolicyDocument } from './document/document.ts';
import { RULE_IDS, type RuleId } from './rules/catalogue.ts';
import { POLICY_RULES } from './rules/table.ts';

/** One rule of a policy, in words. */
export type ExplainedRule = { readonly rule: RuleId; readonly words: string };

/** Every rule of a policy in words, without those of policies that it extends. */
export const explainRules = (policy: PolicyDocument): readonly ExplainedRule[] =>
  RULE_IDS.flatMap((rule) => {
    const words = POLICY_RULES[rule](policy)?.sentence;
    return words === undefined ? [] : [{ rule, words }];
  });

/** The rules that none of these policies has. */
export const listMissingRules = (layers: readonly PolicyDocument[]): readonly RuleId[] =>
  RULE_IDS.filter((rule) => layers.every((policy) => POLICY_RULES[rule](policy) === undefined));
