import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decisionRenderers } from '../../../src/report/decision/renderers.ts';
import { reasonsOf } from '../../../src/report/decision/reasons.ts';
import { decision, NO, rule, texts, UNSURE, violation, withReasons, withTexts, YES } from './makers.ts';

// The text for people has tests of its own.
const formats = Object.entries(decisionRenderers).filter(([format]) => format !== 'text');

describe('the reasons of a decision', () => {
  it('come worst first: failed, undecided, waived', () => {
    const states = reasonsOf(withReasons(40)).map(({ state }) => state);
    const order = ['failed', 'not_checked', 'waived'];
    expect(states).toEqual(states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
    expect(new Set(states).size).toBe(3);
  });

  it('say the rule, the subject, expected, actual and what to do', () => {
    const [missing, outcome] = reasonsOf(NO);
    expect(missing).toMatchObject({
      rule: 'drills.required',
      subject: 'restore-backup',
      code: 'policy.DRILL_MISSING',
    });
    expect(outcome).toMatchObject({ input: './mirror', expected: 'passed', actual: 'failed' });
    expect(outcome?.action).toMatch(/^Read the assertions/);
  });

  it('are none for a yes', () => {
    expect(reasonsOf(YES)).toEqual([]);
  });

  it.each(['no', 'could_not_tell'] as const)('are never none where the answer is %s', (answer) => {
    for (const rules of [
      [],
      [rule('verdict.bundles')],
      [rule('outcome.verdict', [violation({ state: 'waived' })])],
    ]) {
      const [first] = reasonsOf(decision({ answer, rules, inputs: [] }));
      expect(first).toMatchObject({ rule: 'decision', state: answer === 'no' ? 'failed' : 'not_checked' });
    }
  });

  it('keep their fingerprint when only the message changes, and have one each', () => {
    const twice = [violation(), violation(), violation({ subject: 'other' })];
    const of = (message: string) =>
      reasonsOf(
        decision({
          answer: 'no',
          rules: [
            rule(
              'outcome.verdict',
              twice.map((one) => ({ ...one, message })),
            ),
          ],
        }),
      ).map(({ fingerprint }) => fingerprint);
    expect(of('one')).toEqual(of('two'));
    expect(new Set(of('one')).size).toBe(3);
    expect(of('one')[0]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('every format', () => {
  it.each(formats)('%s gives the same bytes for the same decision, and never changes it', (_, render) => {
    for (const one of [YES, NO, UNSURE, withReasons(30)]) {
      const before = structuredClone(one);
      expect(render(structuredClone(one))).toBe(render(one));
      expect(one).toEqual(before);
    }
  });

  it.each(formats)('%s ends with a newline and holds nothing that acts on a terminal', (_, render) => {
    fc.assert(
      fc.property(texts, (some) => {
        const text = render(withTexts(some));
        expect(text.endsWith('\n')).toBe(true);
        expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}/u);
      }),
      { numRuns: 200 },
    );
  });

  const kinds: readonly [string, RegExp][] = [
    ['yes', /yes/i],
    ['no', /restore-backup/],
    ['unsure', /io\.UNREADABLE/],
  ];
  it.each(formats)('%s looks as it did for a yes, a no and a could not tell', async (format, render) => {
    for (const [at, one] of [YES, NO, UNSURE].entries()) {
      const [name = '', told = /./] = kinds[at] ?? [];
      const text = render(one);
      if (format !== 'gitlab' || one.answer !== 'yes') expect(text).toMatch(told);
      await expect(text).toMatchFileSnapshot(`decisions/${name}.${format}.txt`);
    }
  });
});
