import { describe, expect, it } from 'vitest';
import { escapeText } from '../../../src/report/printable.ts';
import { renderDecisionMarkdown } from '../../../src/report/decision/markdown.ts';
import { BENIGN, NO, texts, UNSURE, withReasons, withTexts, YES } from './makers.ts';
import { forAll } from '../../support/property.ts';

/** The code spans of a line by GFM 6.3: a run of backticks up to the next run of the same length; and the other text. */
function spansOf(line: string): { outside: string; spans: string[] } {
  const spans: string[] = [];
  let outside = '';
  let rest = line;
  for (;;) {
    const open = /`+/.exec(rest);
    if (open === null) return { outside: outside + rest, spans };
    const after = rest.slice(open.index + open[0].length);
    const close = [...after.matchAll(/`+/g)].find(([run]) => run.length === open[0].length);
    if (close === undefined) return { outside: outside + rest, spans };
    spans.push(after.slice(0, close.index));
    outside += `${rest.slice(0, open.index)}<code>`;
    rest = after.slice(close.index + close[0].length);
  }
}
const skeleton = (markdown: string): string =>
  markdown
    .split('\n')
    .map((line) => spansOf(line).outside.replaceAll('(empty)', '<code>'))
    .join('\n');
const bytes = (text: string): number => Buffer.byteLength(text);

describe('the Markdown of a decision', () => {
  it('starts with the answer, and has reasons unless it is yes', () => {
    expect(renderDecisionMarkdown(NO)).toMatch(/^# drillproof gate: NO: [^]*## Reasons/);
    expect(renderDecisionMarkdown(UNSURE)).toMatch(/^# drillproof gate: COULD NOT TELL: /);
    expect(renderDecisionMarkdown(YES)).not.toContain('## Reasons');
  });

  it('has text from outside in code spans only, so that it cannot be a link, mention, HTML, heading or table', () => {
    const benign = skeleton(renderDecisionMarkdown(withTexts(BENIGN)));
    forAll(500, [texts], (some) => {
      expect(skeleton(renderDecisionMarkdown(withTexts(some)))).toBe(benign);
    });
  });

  it('loses nothing of the text', () => {
    const message = 'a `b` ``c`` | <d> @e';
    const line = renderDecisionMarkdown(withTexts({ ...BENIGN, message }))
      .split('\n')
      .find((item) => item.includes('@e'));
    expect(spansOf(line ?? '').spans.map((span) => span.trim())).toContain(escapeText(message));
  });

  it.each([20_000, 60_000, 1_048_576])('stays within %i bytes, and states what it omitted', (maxBytes) => {
    const text = renderDecisionMarkdown(withReasons(10_000), maxBytes);
    expect(bytes(text)).toBeLessThanOrEqual(maxBytes);
    expect(bytes(text)).toBeGreaterThan(maxBytes - 1000);
    const [, omitted] = /\*\*([\d,]+) more reasons are omitted/.exec(text) ?? [];
    const shown = [...text.matchAll(/^- \*\*(failed|could not tell|waived)\*\*/gm)].map(([, state]) => state);
    expect(Number(omitted?.replaceAll(',', '')) + shown.length).toBe(10_000);
    expect(shown.lastIndexOf('failed')).toBeLessThan(
      shown.includes('waived') ? shown.indexOf('waived') : Infinity,
    );
    expect(text).toContain('## Rules');
  });

  it('is within the limit of a step summary, by default and whatever the characters', () => {
    const wide = withReasons(10_000, { message: '€'.repeat(300) });
    expect(bytes(renderDecisionMarkdown(wide))).toBeLessThanOrEqual(1_048_576);
  });
});
