/** Text that is HTML already. */
export type Html = { readonly html: string };

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (one) => ENTITIES[one] ?? one);

type Value = Html | string | number | undefined | readonly Value[];

function rendered(value: Value): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  return 'html' in value ? value.html : value.map(rendered).join('');
}

/** A template whose values are escaped unless they are HTML already. */
export const markup = (texts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  html: texts.map((text, i) => text + (i < values.length ? rendered(values[i]) : '')).join(''),
});

/** Text in which `` `…` `` stands for code; blank lines part paragraphs. */
export const prose = (text: string): Html[] =>
  text.split('\n\n').map((paragraph) => markup`<p>${inline(paragraph)}</p>`);

/** One paragraph of `prose`, without its element. */
export const inline = (text: string): Html[] =>
  text.split('`').map((part, i) => (i % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`));

/** An id for an element, and for a link to it. */
export const anchor = (prefix: string, name: string): string =>
  `${prefix}-${name.replaceAll(/[^A-Za-z0-9]+/g, '-')}`;
