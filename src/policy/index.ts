export {
  ANSWERS,
  type Answer,
  type Decision,
  type JudgedInput,
  type PolicyUsed,
  type RuleResult,
  type RuleState,
  type Violation,
  type WaiverUsed,
} from './decision.ts';
export { RULES, type Rule, type RuleId } from './rules.ts';
