import { describe, expect, it } from 'vitest';
import { bundle as makeBundle, decide, inExport, unattested } from '../../policy/make.ts';
import { decisionRenderers } from '../../../src/report/decision-renderers.ts';
import { actionOf, formatAnswer, groupByCause, reasonsOf } from '../../../src/report/decision/reasons.ts';
import { codeEntry } from '../../../src/codes/catalogue.ts';
import { type RuleId, RULES } from '../../../src/policy/catalogue.ts';
import type { RuleState } from '../../../src/policy/decision.ts';
import {
  decision,
  input,
  NO,
  NOTHING,
  rule,
  texts,
  UNSURE,
  violation,
  withReasons,
  withTexts,
  YES,
} from './makers.ts';
import { forAll } from '../../support/property.ts';

// The text for people has tests of its own.
const formats = Object.entries(decisionRenderers).filter(([format]) => format !== 'text');

describe('the reasons of a decision', () => {
  it('are sorted from worst to least: failed, undecided, waived', () => {
    const states = reasonsOf(withReasons(40)).map(({ state }) => state);
    const order = ['failed', 'not_checked', 'waived'];
    expect(states).toEqual(states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
    expect(new Set(states).size).toBe(3);
  });

  it('name the rule, the subject, the code and the input, and are empty if the answer is yes', () => {
    expect(reasonsOf(NO)).toMatchObject([
      { rule: 'drills.required', subject: 'restore-backup', code: 'policy.DRILL_MISSING' },
      { rule: 'outcome.verdict', input: './mirror' },
      { rule: 'findings.warnings' },
    ]);
    expect(reasonsOf(YES)).toEqual([]);
  });

  it.each(['no', 'could_not_tell'] as const)('are never empty if the answer is %s', (answer) => {
    for (const rules of [
      [],
      [rule('verdict.bundles')],
      [rule('outcome.verdict', [violation({ state: 'waived' })])],
    ]) {
      const [first] = reasonsOf(decision({ answer, rules, inputs: [] }));
      expect(first).toMatchObject({ rule: 'decision', state: answer === 'no' ? 'failed' : 'not_checked' });
    }
  });

  it('have different fingerprints, which stay the same when only the message changes', () => {
    const twice = [violation(), violation(), violation({ subject: 'other' })];
    const fingerprintsOf = (message: string) => {
      const violations = twice.map((item) => ({ ...item, message }));
      const reasons = reasonsOf(decision({ answer: 'no', rules: [rule('outcome.verdict', violations)] }));
      return reasons.map(({ fingerprint }) => fingerprint);
    };
    expect(fingerprintsOf('one')).toEqual(fingerprintsOf('two'));
    expect(new Set(fingerprintsOf('one')).size).toBe(3);
    expect(fingerprintsOf('one')[0]).toMatch(/^[0-9a-f]{64}$/);
  });
});

const adviceOf = (code: Parameters<typeof codeEntry>[0]): string => codeEntry(code).action;

it('the action of a violation is the advice of its code', () => {
  const action = actionOf(violation({ code: 'policy.OUTCOME_VERDICT' }));
  expect(action).toBe(adviceOf('policy.OUTCOME_VERDICT'));
});

it('the action of a violation is the advice of the findings behind it, each once, so that it names a missing trust store', () => {
  const findings = ['trust.STORE_ABSENT', 'part.MISSING', 'trust.STORE_ABSENT'] as const;
  const action = actionOf(violation({ rule: 'verdict.bundles', code: 'policy.BUNDLE_VERDICT', findings }));
  expect(action).toBe(`${adviceOf('trust.STORE_ABSENT')} ${adviceOf('part.MISSING')}`);
  expect(action).toContain('--trust');
});

it('the action of a violation does not claim authentic evidence when the rule is undecided', () => {
  const open = violation({ rule: 'outcome.verdict', code: 'policy.OUTCOME_VERDICT', state: 'not_checked' });
  expect(actionOf(open)).toContain('verdict.bundles');
  expect(actionOf({ ...open, code: 'io.UNREADABLE' })).toBe(adviceOf('io.UNREADABLE'));
});

const RULE_IDS = Object.keys(RULES) as readonly RuleId[];
const rulesWith = (states: readonly RuleState[]) =>
  states.map((state, at) => ({ rule: RULE_IDS[at]!, state, examined: 1, violations: [] }));

it.each([
  ['yes', ['passed', 'passed'], 'YES: 2 of 2 rules hold for 1 input'],
  ['yes', ['passed', 'not_applicable'], 'YES: 1 of 1 rules hold for 1 input; 1 more had nothing to check'],
  ['yes', ['passed', 'waived'], 'YES: 2 of 2 rules hold for 1 input, 1 only by a waiver'],
  [
    'no',
    ['failed', 'passed', 'not_checked'],
    `NO: 1 of 3 rules hold for 1 input, 1 failed (${RULE_IDS[0]}), 1 could not tell`,
  ],
  [
    'could_not_tell',
    ['not_checked'],
    `COULD NOT TELL: 0 of 1 rules hold for 1 input, 1 could not tell (${RULE_IDS[0]})`,
  ],
  [
    'no',
    ['failed', 'failed', 'failed', 'failed', 'failed'],
    `NO: 0 of 5 rules hold for 1 input, 5 failed (${RULE_IDS.slice(0, 3).join(', ')} and 2 more)`,
  ],
  ['could_not_tell', ['passed', 'not_applicable'], 'COULD NOT TELL: there is nothing to evaluate'],
  ['could_not_tell', [], 'COULD NOT TELL: there is nothing to evaluate'],
] as const)('the first line of a decision for %s with rules that are %j', (answer, states, words) => {
  expect(formatAnswer(decision({ answer, rules: rulesWith(states) }))).toBe(words);
});

describe('every format', () => {
  it.each(formats)('%s renders the same decision to the same bytes and does not change it', (_, render) => {
    for (const item of [YES, NO, UNSURE, withReasons(30)]) {
      const before = structuredClone(item);
      expect(render(structuredClone(item))).toBe(render(item));
      expect(item).toEqual(before);
    }
  });

  it.each(formats)('%s ends with a newline and has no character that acts on a terminal', (_, render) => {
    forAll(200, [texts], (some) => {
      const text = render(withTexts(some));
      expect(text.endsWith('\n')).toBe(true);
      expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}/u);
    });
  });

  const DECISIONS = [
    [YES, /yes/i],
    [NO, /restore-backup/],
    [UNSURE, /io\.UNREADABLE/],
    [NOTHING, /nothing to (?:check|evaluate)|could_not_tell/],
  ] as const;
  it.each(formats)('%s shows the answer, and the cause of a no and of a could_not_tell', (_, render) => {
    for (const [item, words] of DECISIONS) expect(render(item)).toMatch(words);
  });

  it.each(formats.filter(([format]) => format !== 'json'))(
    '%s states the rule, the subject, expected, actual and what to do about each violation',
    (_, render) => {
      const text = render(NO).replaceAll(/[`*]|<[^>]*>/g, ' ');
      for (const words of ['outcome.verdict', 'evidence_000000000002', 'ops@example.org'])
        expect(text).toContain(words);
      expect(text).toMatch(/expected\W+passed[^]*actual\W+failed/i);
      expect(text).toMatch(/(?:to do|What to do)[^]*Read the assertions/i);
    },
  );
});

describe('the causes of a decision', () => {
  const damaged = { subject: 'evidence_1', input: 0 };
  const broken = (id: RuleId) =>
    violation({
      ...damaged,
      rule: id,
      state: 'failed',
      code: RULES[id].code,
      findings: ['part.DIGEST_MISMATCH'],
    });
  const open = (id: RuleId) =>
    violation({
      ...damaged,
      rule: id,
      state: 'not_checked',
      code: RULES[id].code,
      message: `${id} is not attested`,
    });
  const NEEDS = ['outcome.status', 'outcome.verdict', 'trials.reruns'] as const;
  const one = decision({
    answer: 'no',
    rules: [
      rule('verdict.export', [{ ...broken('verdict.export'), subject: 'evexp_1' }]),
      rule('verdict.bundles', [broken('verdict.bundles')]),
      ...NEEDS.map((id) => rule(id, [open(id)])),
    ],
  });

  it('are two for one damaged bundle, whatever the number of rules that need it', () => {
    const groups = groupByCause(reasonsOf(one));
    expect(groups.map((group) => group.map((reason) => reason.rule))).toEqual([
      ['verdict.export', 'verdict.bundles'],
      [...NEEDS],
    ]);
    expect(decisionRenderers.html(one).match(/<article/g)).toHaveLength(2);
    expect(decisionRenderers.text(one, { width: Infinity })).toContain(
      '3 rules wait for verdict.bundles; the first: outcome.status is not attested',
    );
  });

  it('show the values of each of two violations about the same drill', () => {
    const about = { rule: 'drills.required', code: 'policy.DRILL_MISSING', subject: 'refund' } as const;
    const violations = ['3 seeds', '2 signers'].map((expected) => violation({ ...about, expected }));
    const text = decisionRenderers.text(decision({ answer: 'no', rules: [rule(about.rule, violations)] }), {
      width: Infinity,
    });
    for (const { expected } of violations) expect(text).toContain(`expected ${expected}`);
  });

  it('are separate for rules with different codes and no finding', () => {
    const rules = (['outcome.status', 'outcome.verdict'] as const).map((id) =>
      rule(id, [violation({ rule: id, code: RULES[id].code })]),
    );
    expect(groupByCause(reasonsOf(decision({ answer: 'no', rules })))).toHaveLength(2);
  });
});

it('a violation names the drill, its target, its run and the assertions that did not pass', () => {
  const outcome = {
    drillId: 'refund',
    targetId: 'shop',
    status: 'completed',
    verdict: 'failed',
    assertions: [
      { id: 'rpo', gate: true, status: 'failed' },
      { id: 'rto', gate: true, status: 'passed' },
    ],
  };
  const bundle = {
    id: 'evidence_000000000002',
    runId: 'run_000000000009',
    verdict: 'verified',
    outcome,
  } as const;
  const rules = [rule('outcome.verdict', [violation()])];
  const named = decision({ answer: 'no', rules, inputs: [input({ evidence: [bundle] })] });
  const words = 'refund on shop, run run_000000000009: failed; assertion rpo failed';
  for (const format of ['text', 'markdown', 'github', 'html', 'junit'] as const)
    expect(decisionRenderers[format](named, { width: Infinity })).toContain(words);
  const claimed = { ...bundle, verdict: 'intact' } as const;
  const unnamed = decision({ answer: 'no', rules, inputs: [input({ evidence: [claimed] })] });
  expect(decisionRenderers.text(unnamed)).not.toContain('refund on shop');
});

it('text for people has one word for a rule that could not be decided', () => {
  for (const format of ['text', 'markdown', 'html'] as const) {
    const text = decisionRenderers[format](UNSURE).replace(/<script>[^]*<\/script>/, '');
    expect(text).not.toMatch(/undecided|not[ _]checked/i);
    expect(text).toMatch(/could not tell/i);
  }
});

it('the text of a decision ends with its first line, and has the worst rules first', () => {
  const lines = decisionRenderers.text(NO).trimEnd().split('\n');
  expect(lines.at(-1)).toBe(lines[0]);
  expect(lines[lines.indexOf('Rules') + 1]).toMatch(/^ {2}failed /);
});

it('300 runs that failed in the same way are one entry, and a run that failed otherwise is another', () => {
  const parts = Array.from({ length: 301 }, (_, at) =>
    makeBundle(at + 1, {
      pins: { drillId: 'refund' },
      outcome: {
        verdict: 'failed',
        assertions: [{ id: at === 300 ? 'other' : 'rpo-under-15m', gate: true, status: 'failed' }],
      },
    }),
  );
  const made = decide({ outcome: { verdict: ['passed'] } }, inExport(...parts));
  const text = decisionRenderers.text(made, { width: Infinity });
  expect(text).toContain('refund on shop: 300 of 301 runs: the outcome of the drill is not allowed');
  expect(text).toContain('failed; assertion rpo-under-15m failed; run_vector-1, run_vector-2');
  expect(text.match(/the outcome of the drill is not allowed/g)).toHaveLength(2);
  expect(decisionRenderers.github(made).match(/^::error file/gm)).toHaveLength(2);
});

it('all rules that wait for one damaged bundle are one line', () => {
  const made = decide(
    { outcome: { verdict: ['passed'] }, age: { run: '1d' }, run: { targets: ['shop'], seeds: ['42'] } },
    inExport(makeBundle(1, unattested('failed'))),
  );
  const text = decisionRenderers.text(made, { width: Infinity });
  expect(text).toContain('4 rules wait for verdict.bundles');
  expect(text.match(/wait for verdict.bundles/g)).toHaveLength(1);
});
