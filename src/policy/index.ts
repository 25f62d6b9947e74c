export {
  ANSWERS,
  type Answer,
  type Decision,
  type EvaluatedInput,
  type PolicyUsed,
  type RuleResult,
  type RuleState,
  type Violation,
  type WaiverUsed,
} from './decision.ts';
export { evaluate, type EvaluateContext } from './evaluate.ts';
export type { EvidenceInput, SummaryFacts } from './inputs.ts';
export { MAX_POLICY_BYTES, parsePolicy } from './document/parse.ts';
export { readPolicy, type OpenPolicy, type PolicyFile } from './document/resolve.ts';
export { DEFAULT_POLICY, policyOf, type Policy } from './policy.ts';
export type { PolicyDocument, Waiver } from './document/document.ts';
export { RULES, type Rule, type RuleId } from './rules/catalogue.ts';
export {
  summaryFacts,
  verifySummary,
  type SummaryExpectations,
  type SummaryReport,
  type VerifySummaryOptions,
} from './vsa/judge.ts';
export { readSummary, type Summary } from './vsa/read.ts';
export {
  signSummary,
  summarize,
  VERIFIED_LEVEL,
  VSA_PREDICATE_TYPE,
  type SummarizeOptions,
  type SummaryStatement,
} from './vsa/vsa.ts';
