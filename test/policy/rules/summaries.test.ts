import { describe, expect, it } from 'vitest';
import type { EvidenceInput, SummaryFacts } from '../../../src/policy/facts.ts';
import {
  bundle,
  decide,
  digest,
  exportOf,
  findingOf,
  inputOf,
  keyOf,
  stateOf,
  violationsOf,
  type Rules,
  EVERY,
  GONE,
  problemsOf,
  summaryFacts,
  waiverOf,
} from '../make.ts';

const inputWith = (over: Partial<SummaryFacts> = {}): EvidenceInput => ({
  name: 'vsa',
  summary: summaryFacts(over),
});

describe('a summary in the place of evidence', () => {
  const row = {
    verifier: 'ci',
    policies: [digest('policy')],
    inputs: [digest('manifest')],
    maxAge: '1d',
    resource: 'urn:shop',
    threshold: 1,
    keys: [keyOf('one')],
  };
  const rule = 'summary.accepted';
  const accepts: Rules = {
    summary: { accepted: [row] },
    waivers: [waiverOf('policy.SUMMARY_NOT_ACCEPTED', 'vsa')],
  };
  const base = { state: 'failed', input: 0, subject: 'vsa' };
  const bad = findingOf('dsse.SUBJECT_MISMATCH', 'summary');

  it('passes without evidence, and the rules about evidence do not apply', () => {
    const { answer, rules } = decide({ ...EVERY, ...accepts }, [inputWith()]);
    expect(answer).toBe('yes');
    for (const { rule: id, state, violations } of rules)
      expect([id, state, violations]).toEqual([id, id === rule ? 'passed' : 'not_applicable', []]);
    const warned = { findings: [findingOf('dsse.SIGNATURE_UNCOUNTED', 'summary')] };
    expect(decide(accepts, [inputWith(warned)]).answer).toBe('yes');
  });

  it('is refused with its values and findings, and no waiver lifts that', () => {
    expect(bad.severity).toBe('error');
    const check = (over: Partial<SummaryFacts>, rules: Rules = accepts) =>
      problemsOf(rules, [inputWith(over)], rule);
    expect(check({ result: 'FAILED' })).toStrictEqual([{ ...base, expected: 'PASSED', actual: 'FAILED' }]);
    expect(check({ findings: [bad] })).toStrictEqual([{ ...base, findings: ['dsse.SUBJECT_MISMATCH'] }]);
    const unknown = { ...findingOf('trust.KEY_UNKNOWN', 'summary'), expected: 'key a', actual: 'key b' };
    expect(check({ findings: [unknown] })).toStrictEqual([
      { ...base, findings: ['trust.KEY_UNKNOWN'], expected: 'key a', actual: 'key b' },
    ]);
    expect(check({ verifierId: 'eve' })).toStrictEqual([base]);
    const two = { accepted: [{ ...row, threshold: 2, keys: [keyOf('one'), keyOf('two')] }] };
    const thumbprints = [keyOf('one'), keyOf('one'), keyOf('other')];
    expect(check({ thumbprints }, { summary: two })).toStrictEqual([base]);
    const { waivers } = accepts;
    expect(check({}, { waivers: waivers! })).toStrictEqual([base]);
    expect(check({ findings: [bad] }, { waivers: waivers! })).toStrictEqual([
      { ...base, findings: ['dsse.SUBJECT_MISMATCH'] },
    ]);
  });

  it('is refused with different messages without rows and if no row accepts it', () => {
    const [none, others] = [{}, accepts].map(
      (rules) => violationsOf(decide(rules, [inputWith({ verifierId: 'eve' })]), rule)[0]?.message,
    );
    expect(none).not.toBe(others);
  });

  it('without inputs is never accepted', () => {
    const rules: Rules = { summary: { accepted: [{ ...row, inputs: [] }] } };
    expect(problemsOf(rules, [inputWith({ inputs: [] })], rule)).toHaveLength(1);
  });

  it('does not replace evidence that is present', () => {
    const required: Rules = { ...accepts, drills: { required: ['refund'] }, completeness: { bundles: 5 } };
    for (const evidence of [inputOf(bundle(1)), inputOf(exportOf([])), GONE]) {
      const decision = decide(required, [inputWith(), evidence]);
      const state = evidence === GONE ? 'not_checked' : 'failed';
      expect(stateOf(decision, 'drills.required')).toBe(state);
      expect(stateOf(decision, 'completeness.bundles')).toBe(state);
    }
  });
});
