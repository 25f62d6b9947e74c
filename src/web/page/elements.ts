/** The element of the page with this id. @throws TypeError for one that is missing or of another type */
export function getElement<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.querySelector(`#${id}`);
  if (element instanceof type) return element;
  throw new TypeError(`the page has no #${id}`);
}

/** Shows or hides an element, for screen readers too. */
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
