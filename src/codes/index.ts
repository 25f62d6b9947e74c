export * from './catalogue.ts';
export { CODE_CLASSES, type CodeClass, SEVERITIES, type Severity } from './entry.ts';
export * from './facts.ts';
