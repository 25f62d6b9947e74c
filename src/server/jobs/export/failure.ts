import type { OperationError } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';

export type ExportFailureCode =
  | 'control.EXPORT_GENERATION_FAILED'
  | 'control.EXPORT_SOURCE_MISSING'
  | 'control.EXPORT_TOO_LARGE';

/** Generation that fails whenever it is tried, and why. Anything else that is thrown is tried again. */
export class ExportFailure extends DrillproofError {
  readonly failureCode: ExportFailureCode;

  constructor(failureCode: ExportFailureCode, message: string, cause?: unknown) {
    super(failureCode, message, { cause });
    this.failureCode = failureCode;
  }
}

export const operationError = ({ failureCode, message }: ExportFailure): OperationError => ({
  schemaVersion: 1,
  code: failureCode,
  source: 'control',
  message,
  retryable: false,
  issues: [],
});
