import { digestOf } from '../../bytes/hash.ts';
import { fromHex, toBase64, toUtf8 } from '../../bytes/text/encoding.ts';
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

/** A text from outside as HTML: what `escapeText` makes of it, with pictures and the characters of markup escaped too. */
export const htmlText = (text: string): string =>
  escapeText(text)
    .replace(PICTURES, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
    .replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');

/**
 * The beginning of a page in one file. Its policy allows its own style and nothing else: no script, no request, no form,
 * no frame.
 */
export function openDocument(title: string, images = false): string {
  const sources = [
    "default-src 'none'",
    `style-src 'sha256-${toBase64(fromHex(digestOf(toUtf8(REPORT_CSS)).slice('sha256:'.length)))}'`,
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

export const DOCUMENT_END = '</main>\n</body>\n</html>\n';

export const renderDocument = (title: string, body: readonly Markup[], images = false): string =>
  openDocument(title, images) + body.map(markupText).join('') + DOCUMENT_END;
