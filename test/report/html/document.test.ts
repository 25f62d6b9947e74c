import { readFileSync, readdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anchor, html, htmlText, markupText, renderData } from '../../../src/report/html/document.ts';
import { hostileText } from '../hostile.ts';

describe('a template for HTML', () => {
  it.each([
    ['a tag', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['the end of a quoted attribute', '" onload="x', '&quot; onload=&quot;x'],
    ['the end of an attribute in single quotes', "' onload='x", '&#39; onload=&#39;x'],
    ['an entity', '&lt;b&gt;', '&amp;lt;b&amp;gt;'],
    ['the end of a style', '</style><style>*{display:none}', '&lt;/style&gt;&lt;style&gt;*{display:none}'],
    ['the end of an SVG text', '</text></svg><img src=x>', '&lt;/text&gt;&lt;/svg&gt;&lt;img src=x&gt;'],
    ['a check mark', 'verified \u2713', 'verified \\u{2713}'],
    ['an emoji', '\u2705 holds', '\\u{2705} holds'],
    ['a cross', '\u00D7 \u2717', '\\u{d7} \\u{2717}'],
    ['a change of direction', 'a\u202Egnp.exe', 'a\\u{202e}gnp.exe'],
    ['an isolate that is never closed', '\u2067abc', '\\u{2067}abc'],
    ['a line break', 'a\nVERIFIED', 'a\\nVERIFIED'],
  ])('escapes %s in a value', (_what, text, expected) => {
    expect(markupText(html`<p title="${text}">${text}</p>`)).toBe(`<p title="${expected}">${expected}</p>`);
  });

  it('inserts markup and lists of it without escaping them again', () => {
    const items = ['a&', 'b'].map((text) => html`<b>${text}</b>`);
    expect(markupText(html`<i>${items}${undefined}</i>`)).toBe('<i><b>a&amp;</b><b>b</b></i>');
  });

  it('refuses an object from JSON that has the shape of markup', () => {
    const value = JSON.parse('{"text":"<b>","toString":"<i>"}') as string;
    expect(() => markupText(html`${value}`)).toThrow(TypeError);
  });

  it.each([NaN, Infinity])('refuses the number %s, which no attribute of SVG takes', (value) => {
    expect(() => html`<rect x="${value}" />`).toThrow(TypeError);
  });

  it('gives no character of markup and no picture for any hostile text', () => {
    fc.assert(
      fc.property(hostileText, fc.string({ unit: 'binary' }), (a, b) => {
        expect(htmlText(a + b)).not.toMatch(/[<>"'`]|&(?!(?:amp|lt|gt|quot|#39|#96);)|\p{So}|\p{Cc}|\p{Cf}/u);
      }),
    );
  });
});

it.each(['"', ' ', '#a', 'a:b', ''])('the address of an element refuses the id "%s"', (id) => {
  expect(() => anchor(id)).toThrow(TypeError);
});

it('data of a page cannot end its element or begin a comment, and keeps its value', () => {
  const value = { text: '</script><!--<script>]]>', list: ['-->'] };
  const [, json = ''] = /^<script [^>]*>([^]*)<\/script>\n$/.exec(markupText(renderData('d', value))) ?? [];
  expect(json).not.toMatch(/<|\/script>.*<\/script/);
  expect(JSON.parse(json)).toEqual(value);
});

it('the templates of the pages put every value of an attribute in quotes, and none into a style, script, handler or address', () => {
  const files = readdirSync('src/report/html', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`src/report/html/${name}`, 'utf8'));
  const text = files.join('\n');
  expect(text).not.toMatch(/=\$\{(?![^}]*\?)[^}]*\}[\s/>]/);
  expect(text).not.toMatch(/\s(?:on\w+|style|srcset|src|href)="[^"]*\$\{(?!dataImage\(|anchor\()/);
  expect(text).not.toContain('javascript:');
  expect(text.match(/<script.*/g)).toEqual([
    '<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll(\'<\', String.raw`\\u003c`)}</script>\\n`,',
    '<script>${REPORT_SCRIPT}</script>\\n</body>\\n</html>\\n`;',
  ]);
});
