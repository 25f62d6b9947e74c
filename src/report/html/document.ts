import { digestOf, fromHex, toBase64, toUtf8 } from '../../bytes/index.ts';
import { htmlText, type Markup, markupText } from './markup.ts';
import { REPORT_CSS } from './style.ts';

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

/** A page in one file. `images`: it has images inside it, as data URLs. */
export const renderDocument = (title: string, body: readonly Markup[], images = false): string =>
  openDocument(title, images) + body.map(markupText).join('') + DOCUMENT_END;
