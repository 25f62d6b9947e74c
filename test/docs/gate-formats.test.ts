import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decisionRenderers } from '../../src/report/decision/renderers.ts';
import { NO } from '../report/decision/makers.ts';

const page = readFileSync('docs/gate-formats.md', 'utf8');
const samples = Array.from(
  page.matchAll(/^```text no\.(\S+)\n([\s\S]*?)\n```$/gm),
  ([, format = '', text = '']) => ({
    format,
    text,
  }),
);

/** Whether the lines stand in a text in this order, `…` being any lines between them. */
function standsIn(lines: readonly string[], text: string): boolean {
  const pieces = lines.join('\n').split(/^…$/m);
  let at = 0;
  return pieces.every((piece) => {
    const found = text.indexOf(piece.trim(), at);
    at = found + piece.trim().length;
    return found !== -1;
  });
}

describe('docs/gate-formats.md', () => {
  it('docs/gate-formats.md has a sample of every CI format', () => {
    const shown = samples.map(({ format }) => format);
    expect(shown.toSorted()).toEqual(
      Object.keys(decisionRenderers)
        .filter((kind) => !/^(text|json)$/.test(kind))
        .toSorted(),
    );
    for (const kind of Object.keys(decisionRenderers)) expect(page).toContain(`| \`${kind}\``);
  });

  it.each(samples)('docs/gate-formats.md shows $format as the program writes it', ({ format, text }) => {
    const render = Object.entries(decisionRenderers).find(([kind]) => kind === format)?.[1];
    expect(standsIn(text.split('\n'), render?.(NO) ?? '')).toBe(true);
  });
});
