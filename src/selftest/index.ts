export * from './case-folder.ts';
export { ANSWERS, execCase, type ExecOptions } from './exec.ts';
export {
  CASE_KINDS,
  type CaseResult,
  joinReports,
  runCase,
  selftestReport,
  type SelftestReport,
  selftestReportSchema,
  toPlain,
} from './result.ts';
