export { catalogue, type Code, codeEntry } from './catalogue.ts';
export {
  CODE_CLASSES,
  type CodeClass,
  type CodeEntry,
  codeFacts,
  isCode,
  SEVERITIES,
  type Severity,
} from './entry.ts';
