import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Decision } from '../../../src/policy/decision.ts';
import { renderDecisionTap } from '../../../src/report/decision/tap.ts';
import { printable } from '../../../src/report/printable.ts';
import { BENIGN, decision, NO, texts, UNSURE, withReasons, withTexts, YES } from './makers.ts';

type Point = {
  ok: boolean;
  number: number;
  description: string;
  directive?: string;
  diagnostic?: Diagnostic;
};
type Diagnostic = { reasons?: Record<string, unknown>[]; message?: string };

const POINT = /^(ok|not ok) (\d+) - ((?:\\[\\#]|[^\\#])*?)(?: # (TODO|SKIP) .*)?$/;

/** TAP 13 as its specification says a harness reads it; anything but a plan, points and YAML is refused. */
function read(one: Decision): Point[] {
  const [version, plan, ...lines] = renderDecisionTap(one).split('\n');
  expect(version).toBe('TAP version 13');
  expect(lines.pop()).toBe('');
  const points: Point[] = [];
  while (lines.length > 0) {
    const [, result, number, description = '', directive] = POINT.exec(lines.shift() ?? '') ?? [];
    expect(result).toBeDefined();
    const point: Point = {
      ok: result === 'ok',
      number: Number(number),
      description,
      ...(directive && { directive }),
    };
    if (lines[0] === '  ---') {
      const end = lines.indexOf('  ...');
      point.diagnostic = parse(lines.slice(1, end).join('\n')) as Diagnostic;
      lines.splice(0, end + 1);
    }
    points.push(point);
  }
  expect(plan).toBe(`1..${points.length}`);
  expect(points.map((point) => point.number)).toEqual(points.map((_, at) => at + 1));
  return points;
}
/** Whether a harness says that everything is fine. */
const passes = (points: readonly Point[]): boolean =>
  points.every(({ ok, directive }) => ok || directive === 'TODO');

const outlines = (one: Decision) =>
  read(one).map(({ ok, number, description, directive }) => ({ ok, number, description, directive }));

describe('TAP 13', () => {
  it('passes for a yes only', () => {
    expect([YES, NO, UNSURE].map((one) => passes(read(one)))).toEqual([true, false, false]);
    expect(passes(read(decision({ answer: 'could_not_tell', inputs: [], rules: [] })))).toBe(false);
  });

  it('has a point for the answer and one for each rule, what is waived as TODO', () => {
    const points = read(NO);
    expect(points).toHaveLength(NO.rules.length + 1);
    expect(points.map(({ ok, directive }) => [ok, directive])).toEqual([
      [false, undefined],
      [true, undefined],
      [false, undefined],
      [false, undefined],
      [false, 'TODO'],
    ]);
    expect(read(YES).at(-1)?.directive).toBe('SKIP');
  });

  it('says the rule, the subject, expected, actual and what to do in its diagnostics', () => {
    expect(read(NO)[3]?.diagnostic?.reasons).toEqual([
      expect.objectContaining({
        subject: 'evidence_000000000002',
        expected: 'passed',
        actual: 'failed',
        code: 'policy.OUTCOME_VERDICT',
        action: expect.stringMatching(/^See/),
      }),
    ]);
  });

  it('bails out for nobody: only a crash does', () => {
    for (const one of [YES, NO, UNSURE, withReasons(50)])
      expect(renderDecisionTap(one)).not.toContain('Bail out!');
  });

  it('has the same points whatever the texts, which come back from its YAML', () => {
    const benign = outlines(withTexts(BENIGN));
    fc.assert(
      fc.property(texts, (some) => {
        const hostile = withTexts(some);
        expect(outlines(hostile)).toEqual(benign);
        expect(read(hostile)[2]?.diagnostic?.reasons?.[0]?.['message']).toBe(printable(some.message));
      }),
      { numRuns: 300 },
    );
  });
});
