import { codeEntry } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import { omitCommands } from '../../report/html/blocks.ts';
import { escapeText } from '../../report/printable.ts';
import { packFailure, type PackedError } from '../worker/messages.ts';

declare global {
  /** See `report/html/script.ts`. */
  function enhanceReport(report: HTMLElement, onRow?: (element: Element, row: number) => void): void;
}

/** The element of the page with this id. @throws TypeError if it is missing or has another type */
export function getElement<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.querySelector(`#${id}`);
  if (element instanceof type) return element;
  throw new TypeError(`the page has no #${id}`);
}

export const onClick = (id: string, act: () => void): void =>
  getElement(id, HTMLButtonElement).addEventListener('click', act);

export const showElement = (id: string, isShown: boolean): void => {
  getElement(id, HTMLElement).hidden = !isShown;
};

export function makeElement<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Shows a message about a failure, or removes it. */
export function showMessage(text: string | undefined): void {
  const element = getElement('message', HTMLElement);
  element.hidden = text === undefined;
  element.textContent = text ?? '';
}

/** The message of a failure, its code and its advice. */
export const explainFailure = ({ code, message, hint }: PackedError): string =>
  `${escapeText(message)} (${code}). ${omitCommands(hint ?? codeEntry(code).action)}`;

export function explainError(error: unknown): string {
  if (error instanceof DrillproofError) return explainFailure(packFailure(error));
  return error instanceof Error ? escapeText(error.message) : 'Something failed for an unknown reason.';
}
