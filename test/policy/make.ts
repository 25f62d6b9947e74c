import {
  evaluate,
  policyOf,
  type Decision,
  type EvidenceInput,
  type RuleId,
} from '../../src/policy/index.ts';
import type { PolicyDocument, Violation } from '../../src/policy/index.ts';
import { AS_OF } from '../../vectors/make/report.ts';

export * from '../../vectors/make/report.ts';

export type Rules = Omit<PolicyDocument, 'schemaVersion' | 'kind'>;

export const documentOf = (rules: Rules): PolicyDocument => ({ schemaVersion: 1, kind: 'policy', ...rules });

/** The decision of a policy of these members. */
export const decide = (rules: Rules, inputs: readonly EvidenceInput[], asOfMs = AS_OF): Decision =>
  evaluate(inputs, policyOf(documentOf(rules)), { asOfMs });

export const violationsOf = (decision: Decision, rule: RuleId): readonly Violation[] =>
  decision.rules.find((one) => one.rule === rule)?.violations ?? [];

export const stateOf = (decision: Decision, rule: RuleId): string | undefined =>
  decision.rules.find((one) => one.rule === rule)?.state;
