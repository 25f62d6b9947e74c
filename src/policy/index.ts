export {
  type Answer,
  ANSWERS,
  type Decision,
  decisionSchema,
  type EvaluatedInput,
  type EvidenceUsed,
  type RuleResult,
  type RuleState,
  type Violation,
} from './decision.ts';
export { compareDecision, parseCases, type PolicyCase } from './document/cases.ts';
export { formatSchema, POLICY_SCHEMA_ROW, type PolicyDocument, type Waiver } from './document/document.ts';
export { momentMs } from './document/values.ts';
export { buildSyntheticReport } from './document/synthetic.ts';
export type { ParameterValues } from './document/parameters.ts';
export { detectSyntax, MAX_POLICY_BYTES, parsePolicy, readPolicy } from './document/resolve.ts';
export { jsonTemplate, yamlTemplate } from './document/template.ts';
export { evaluate } from './evaluate.ts';
export { type Doubt, explainRules, listDoubts, listMissingRules } from './explain.ts';
export { type EvidenceInput, evidenceInputSchema, type SummaryFacts } from './inputs.ts';
export { DEFAULT_POLICY, type Policy, policyOf } from './policy.ts';
export { skewMsOf } from './rules/table.ts';
export { type RuleId, RULES } from './rules/catalogue.ts';
export { summaryFacts, verifySummary } from './vsa/verify.ts';
export type { SummaryReport } from './vsa/read.ts';
export { ABSOLUTE_URI, signSummary, summarize } from './vsa/vsa.ts';
