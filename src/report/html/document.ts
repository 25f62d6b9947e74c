import { digestOf } from '../../bytes/hash.ts';
import { fromHex, toBase64, toUtf8 } from '../../bytes/text/encoding.ts';
import { ENHANCE_REPORT } from './script.ts';
import { REPORT_CSS } from './style.ts';
import { escapeText } from '../printable.ts';

const TEXT = Symbol('text');

/** HTML or SVG in which every value was escaped. Only `html` makes it: the name of its member is not exported. */
export type Markup = { readonly [TEXT]: string };

/** What a template takes: a text is escaped, markup is inserted, and `undefined` is omitted. */
export type Piece = Markup | string | number | undefined | readonly Piece[];

/**
 * Markup from a template. A text becomes what `htmlText` makes of it, in elements and in quoted attributes alike, so
 * that no value can become a tag or an attribute.
 * @throws TypeError for a number that is not finite
 */
export const html = (strings: TemplateStringsArray, ...values: readonly Piece[]): Markup => ({
  [TEXT]: strings.map((string, at) => string + pieceText(values[at])).join(''),
});

/** An SVG as the address of an image: in an image no script runs and nothing is loaded. */
export const dataImage = (svg: string): Markup => ({
  [TEXT]: `data:image/svg+xml;base64,${toBase64(toUtf8(svg))}`,
});

/** The address of an element of the same page. @throws TypeError for an id that could be anything else */
export function anchor(id: string): Markup {
  if (!/^[\w.-]+$/.test(id)) throw new TypeError(`${id} is not an id of a page`);
  return { [TEXT]: `#${id}` };
}

/** Data of a page as JSON, in which no text can end the element or begin a comment. No browser runs it. */
export const renderData = (id: string, value: unknown): Markup => ({
  [TEXT]: `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll('<', String.raw`\u003c`)}</script>\n`,
});

export const markupText = (markup: Markup): string => markup[TEXT];

function pieceText(piece: Piece): string {
  if (piece === undefined) return '';
  if (typeof piece === 'string') return htmlText(piece);
  if (typeof piece === 'number') {
    if (!Number.isFinite(piece)) throw new TypeError(`${piece} is not a finite number`);
    return String(piece);
  }
  return TEXT in piece ? piece[TEXT] : piece.map(pieceText).join('');
}

// Check marks, crosses, emoji and other pictures in text from evidence could pass for a state that we draw.
const PICTURES = /[\p{So}\u221A\u2A2F\u00D7]|\p{Emoji_Presentation}/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/** A text from outside as a page shows it: what `escapeText` makes of it, with pictures escaped too. */
export const visibleText = (text: string): string =>
  escapeText(text).replace(PICTURES, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);

/** `visibleText` as HTML. */
export const htmlText = (text: string): string =>
  visibleText(text).replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');

/** Whether the page has images inside. */
type PageOptions = { readonly images?: boolean };

/**
 * The beginning of a page in one file. Its policy allows its own style and script and nothing else: no request, no form,
 * no frame.
 */
export function openDocument(title: string, { images = false }: PageOptions = {}): string {
  const sources = [
    "default-src 'none'",
    `script-src ${hashSource(REPORT_SCRIPT)}`,
    `style-src ${hashSource(REPORT_CSS)}`,
    ...(images ? ['img-src data:'] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${sources.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${htmlText(title)}</title>
<style>${REPORT_CSS}</style>
</head>
<body>
<main>
`;
}

const hashSource = (text: string): string =>
  `'sha256-${toBase64(fromHex(digestOf(toUtf8(text)).slice('sha256:'.length)))}'`;

/** The script of a page. It runs at the end of the document. */
export const REPORT_SCRIPT = `${ENHANCE_REPORT}enhanceReport(document.body);\n`;

export const DOCUMENT_END = `</main>\n<script>${REPORT_SCRIPT}</script>\n</body>\n</html>\n`;

export const renderDocument = (title: string, body: readonly Markup[], options?: PageOptions): string =>
  openDocument(title, options) + body.map(markupText).join('') + DOCUMENT_END;
