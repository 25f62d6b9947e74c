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
const OF_THE_ARCHIVE = /^(?:build|zip|json|encoding|path)\./;

/** What a failure says of the archive; `undefined` when it says nothing, and the attempt must be made again. */
export function diagnosticOf(error: unknown): Diagnostic | undefined {
  if (!(error instanceof DrillproofError) || !OF_THE_ARCHIVE.test(error.code)) return undefined;
  const { code, message, path } = error;
  if (code.startsWith('build.')) return diagnostic(code, message, path);
  return diagnostic('build.ARCHIVE_INVALID', `${message} (${code})`, path);
}
