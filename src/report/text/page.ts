/** Colours as an addition: what is said in colour is always said in words too. */
export type Paint = Readonly<Record<'bold' | 'dim' | 'good' | 'bad' | 'caution', (text: string) => string>>;

const sgr = (on: number, off: number) => (text: string) => `\u001B[${on}m${text}\u001B[${off}m`;
const plain = (text: string): string => text;

export const COLOURS: Paint = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  good: sgr(32, 39),
  bad: sgr(31, 39),
  caution: sgr(33, 39),
};
export const NO_COLOURS: Paint = { bold: plain, dim: plain, good: plain, bad: plain, caution: plain };

export type Page = { readonly paint: Paint; readonly width: number };

/** Lines of one section under its title; a section without lines is left out. */
export type Section = { readonly title: string; readonly lines: readonly string[] };

/** Words in lines of at most `width` characters. A longer word stays whole, so that it can be copied. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** Wrapped text after a label, all lines beginning in the same column. `label` is given as long as it is shown. */
export function labelled(
  page: Page,
  label: string,
  text: string,
  paint: (label: string) => string = plain,
): string[] {
  const column = ' '.repeat(label.length);
  return wrap(text, page.width - label.length).map((line, i) => (i === 0 ? paint(label) : column) + line);
}

/** A paragraph with every line indented. */
export function indented(page: Page, text: string, indent = 2): string[] {
  return labelled(page, ' '.repeat(indent), text);
}

/** Sections as text: titles in bold, an empty line before each. */
export function sections(page: Page, all: readonly Section[]): string[] {
  return all.flatMap((section) =>
    section.lines.length === 0 ? [] : ['', page.paint.bold(section.title), ...section.lines],
  );
}
