import { describe, expect, it } from 'vitest';
import type { EvidenceInput, SummaryFacts } from '../../../src/policy/index.ts';
import {
  AS_OF,
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
} from '../make.ts';

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
  const summary: SummaryFacts = {
    verifierId: 'ci',
    result: 'PASSED',
    timeVerifiedMs: AS_OF,
    resourceUri: 'urn:shop',
    policyDigest: digest('policy'),
    inputs: [digest('manifest')],
    thumbprints: [keyOf('one')],
    findings: [],
  };
  const rule = 'summary.accepted';
  const accepts: Rules = {
    summary: { accepted: [row] },
    waivers: [
      {
        code: 'policy.SUMMARY_NOT_ACCEPTED',
        subject: 'vsa',
        reason: 'no',
        owner: 'us',
        expires: '2026-02-01',
      },
    ],
  };
  const givenAs = (over: Partial<SummaryFacts> = {}): EvidenceInput => ({
    name: 'vsa',
    summary: { ...summary, ...over },
  });
  const base = { state: 'failed', input: 0, subject: 'vsa' };
  const bad = findingOf('dsse.SUBJECT_MISMATCH', 'summary');

  it('passes without evidence, and the rules about evidence do not apply', () => {
    const { answer, rules } = decide({ ...EVERY, ...accepts }, [givenAs()]);
    expect(answer).toBe('yes');
    for (const { rule: id, state, violations } of rules)
      expect({ id, state, violations }).toEqual({
        id,
        state: id === rule ? 'passed' : 'not_applicable',
        violations: [],
      });
    const warned = { findings: [findingOf('dsse.SIGNATURE_UNCOUNTED', 'summary')] };
    expect(decide(accepts, [givenAs(warned)]).answer).toBe('yes');
  });

  it('is refused with its values and findings, and no waiver lifts that', () => {
    expect(bad.severity).toBe('error');
    const of = (over: Partial<SummaryFacts>, rules: Rules = accepts) =>
      problemsOf(rules, [givenAs(over)], rule);
    expect(of({ result: 'FAILED' })).toStrictEqual([{ ...base, expected: 'PASSED', actual: 'FAILED' }]);
    expect(of({ findings: [bad] })).toStrictEqual([{ ...base, findings: ['dsse.SUBJECT_MISMATCH'] }]);
    expect(of({ verifierId: 'eve' })).toStrictEqual([base]);
    expect(of({ resourceUri: 'urn:till' })).toStrictEqual([base]);
    const two: Rules = {
      summary: { accepted: [{ ...row, threshold: 2, keys: [keyOf('one'), keyOf('two')] }] },
    };
    expect(of({ thumbprints: [keyOf('one'), keyOf('one'), keyOf('other')] }, two)).toStrictEqual([base]);
    expect(of({ thumbprints: [keyOf('one'), keyOf('two')] }, two)).toEqual([]);
    const { waivers } = accepts;
    expect(of({}, { waivers: waivers! })).toStrictEqual([base]);
    expect(of({ findings: [bad] }, { waivers: waivers! })).toStrictEqual([
      { ...base, findings: ['dsse.SUBJECT_MISMATCH'] },
    ]);
  });

  it('is distinguished from one that no row of the policy accepts', () => {
    const [none, others] = [{}, accepts].map(
      (rules) => violationsOf(decide(rules, [givenAs({ verifierId: 'eve' })]), rule)[0]?.message,
    );
    expect(none).not.toBe(others);
  });

  it('without inputs is never accepted', () => {
    const rules: Rules = { summary: { accepted: [{ ...row, inputs: [] }] } };
    expect(problemsOf(rules, [givenAs({ inputs: [] })], rule)).toHaveLength(1);
  });

  it('does not replace evidence that is present', () => {
    const required: Rules = { ...accepts, drills: { required: ['refund'] }, completeness: { bundles: 5 } };
    for (const beside of [inputOf(bundle(1)), inputOf(exportOf([])), GONE]) {
      const decision = decide(required, [givenAs(), beside]);
      const state = beside === GONE ? 'not_checked' : 'failed';
      expect(stateOf(decision, 'drills.required')).toBe(state);
      expect(stateOf(decision, 'completeness.bundles')).toBe(state);
    }
  });
});
