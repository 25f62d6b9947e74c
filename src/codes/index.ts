export { catalogue, type Code, codeEntry } from './catalogue.ts';
export { CODE_CLASSES, type CodeClass, type CodeEntry, SEVERITIES, type Severity } from './entry.ts';
export {
  codeFacts,
  type CodeFacts,
  isCode,
  isStatementCode,
  type StatementCode,
  statementCodeFacts,
} from './facts.ts';
