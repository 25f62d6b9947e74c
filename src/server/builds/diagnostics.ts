import type { BuildAttempt } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';

export type Diagnostic = BuildAttempt['diagnostics'][number];

export const diagnostic = (code: string, message: string, path?: string): Diagnostic => ({
  code,
  severity: 'error',
  message,
  ...(path !== undefined && { path }),
});

// Codes of what the archive itself is; a disk that cannot be read says nothing about the archive.
const OF_THE_ARCHIVE = /^(?:build|zip|json|encoding)\./;
// Stored bytes that are gone or damaged stay so: who uploads again begins a new attempt.
const LOST = 'control.STORED_BYTES_CORRUPT';

/** What a failure says of the archive; `undefined` when it says nothing, and the attempt must be made again. */
export function diagnosticOf(error: unknown): Diagnostic | undefined {
  if (!(error instanceof DrillproofError)) return undefined;
  const { code, message, path } = error;
  if (code !== LOST && !OF_THE_ARCHIVE.test(code)) return undefined;
  if (code === LOST || code.startsWith('build.')) return diagnostic(code, message, path);
  return diagnostic('build.ARCHIVE_INVALID', `${message} (${code})`, path);
}
