export * from './case-folder.ts';
export { CASE_KINDS, toPlain, runCase } from './result.ts';
export { execCase, type ExecOptions } from './exec.ts';
export { ANSWERS } from './exec.ts';
export {
  type CaseResult,
  joinReports,
  selftestReport,
  type SelftestReport,
  selftestReportSchema,
} from './result.ts';
