export * from './catalogue.ts';
export { CODE_CLASSES, type CodeClass, type CodeEntry, SEVERITIES, type Severity } from './entry.ts';
export * from './facts.ts';
