export { readCaseFolder } from './case-folder.ts';
export { plain } from './result.ts';
export { execCase, type ExecOptions } from './exec.ts';
export { CASE_KINDS } from './run.ts';
export { ANSWERS } from './exec.ts';
export {
  type CaseResult,
  joinReports,
  selftestReport,
  type SelftestReport,
  selftestReportSchema,
} from './result.ts';
export { runCase } from './run.ts';
export { MAX_VECTOR_BYTES, parseVectorFile, type SelftestCase, type VectorFile } from './vector-file.ts';
