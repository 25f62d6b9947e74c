import { codeEntry } from '../../codes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { printable } from '../../report/index.ts';
import type { Failure } from '../worker/messages.ts';
import { getElement } from './elements.ts';

/** Shows a message about what went wrong, or removes it. */
export function showMessage(text: string | undefined): void {
  const element = getElement('message', HTMLElement);
  element.hidden = text === undefined;
  element.textContent = text ?? '';
}

/** What happened, its code, and what to do. */
export const explainFailure = ({ code, message }: Failure): string =>
  `${printable(message)} (${code}). ${codeEntry(code).action}`;

/** The same of an error. */
export function explainError(error: unknown): string {
  if (error instanceof DrillproofError) return explainFailure(error);
  return error instanceof Error ? printable(error.message) : 'Something failed for an unknown reason.';
}
