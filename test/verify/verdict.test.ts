import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { catalogue, type Code } from '../../src/codes/catalogue.ts';
import { listRequiredChecks, type CheckId } from '../../src/verify/checks.ts';
import { finding } from '../../src/verify/finding.ts';
import { forAll } from '../support/property.ts';
import type { Step } from '../../src/verify/step.ts';
import { VERDICTS, type Verdict, type CheckState, type Finding } from '../../src/verify/report.ts';
import { decideBundleVerdict, rateFindings, pickWorstVerdict } from '../../src/verify/verdict.ts';

const detail = { message: 'so it is' };
const makeFinding = (code: Code): Finding => finding(code, 'export', detail);
const rank = (verdict: Verdict | undefined): number =>
  verdict === undefined ? -1 : VERDICTS.indexOf(verdict);
const codes = Object.keys(catalogue) as Code[];
const someFindings = fc.array(fc.constantFrom(...codes).map(makeFinding), { maxLength: 6 });

describe('the worst verdict', () => {
  test.each<[Verdict[], Verdict]>([
    [['verified'], 'verified'],
    [['verified', 'intact'], 'intact'],
    [['incomplete', 'intact', 'verified'], 'incomplete'],
    [['incomplete', 'failed'], 'failed'],
  ])('of %j is %s', (verdicts, worst) => expect(pickWorstVerdict(verdicts, 'verified')).toBe(worst));

  test('of very many is the worst of them', () => {
    const many: Verdict[] = [...Array<Verdict>(200_000).fill('verified'), 'failed'];
    expect(pickWorstVerdict(many, 'verified')).toBe('failed');
  });

  test('of no verdicts is the one that the caller gives', () => {
    for (const none of VERDICTS) expect(pickWorstVerdict([], none)).toBe(none);
  });
});

describe('the verdict by findings', () => {
  test.each<[Code[], Verdict | undefined]>([
    [[], undefined],
    [['bundle.UNSIGNED', 'zip.ORDER_UNUSUAL'], undefined],
    [['io.UNREADABLE'], 'incomplete'],
    [['io.UNREADABLE', 'zip.METADATA_UNUSUAL'], 'incomplete'],
    [['io.CHANGED', 'part.DIGEST_MISMATCH'], 'failed'],
    [['trust.KEY_UNKNOWN'], 'failed'],
    [['json.TOO_LARGE'], 'failed'],
  ])('%j: %s', (list, verdict) => expect(rateFindings(list.map(makeFinding))).toBe(verdict));

  test('is never better for one finding more, and does not depend on their order', () => {
    forAll(100, [someFindings, fc.constantFrom(...codes)], (list, code) => {
      const [before, after] = [list, [...list, makeFinding(code)]].map(rateFindings);
      expect(rank(after)).toBeGreaterThanOrEqual(rank(before));
      expect(rank(rateFindings(list.toReversed()))).toBe(rank(before));
      if (catalogue[code].severity === 'error') expect(after).toBeDefined();
    });
  });
});

const ALL = listRequiredChecks('bundle', 'always', 'full', 'verified');
const sound = { depth: 'full', signed: true, trusted: true, listed: true } as const;

function stepOf(states: Partial<Record<CheckId, CheckState | 'absent'>>, findings: Finding[] = []): Step {
  const ids = new Set([...ALL, ...(Object.keys(states) as CheckId[])]);
  const checks = [...ids].flatMap((id) => {
    const state = states[id] ?? 'passed';
    return state === 'absent' ? [] : [{ id, state }];
  });
  return { checks, findings };
}

const decideWithEnvelope = (state: CheckState, states: Partial<Record<CheckId, CheckState>>) =>
  decideBundleVerdict(stepOf({ ...states, 'dsse.attestation': state }), sound);

describe('the verdict on a bundle', () => {
  test('is verified when every check passed', () => {
    expect(decideBundleVerdict(stepOf({}), sound)).toBe('verified');
    expect(decideBundleVerdict(stepOf({}), { ...sound, listed: false })).toBe('verified');
  });

  test.each(
    ALL.flatMap((id) => (['not_checked', 'failed', 'absent'] as const).map((state) => [id, state] as const)),
  )('is incomplete when %s is %s', (id, state) => {
    expect(decideBundleVerdict(stepOf({ [id]: state }), sound)).toBe('incomplete');
  });

  test.each([
    ['part.bytes', 'verified'],
    ['bundle.row', 'verified'],
    ['bundle.expected', 'verified'],
    ['attestation.format', 'incomplete'],
    ['attestation.key', 'incomplete'],
    ['attestation.signature', 'incomplete'],
    ['attestation.binding', 'incomplete'],
  ] as const)('when %s does not apply is %s', (id, verdict) => {
    expect(decideBundleVerdict(stepOf({ [id]: 'not_applicable' }), sound)).toBe(verdict);
  });

  test('is incomplete without a requested second opinion', () => {
    for (const id of ['second.crypto', 'second.reader'] as const)
      expect(decideBundleVerdict(stepOf({ [id]: 'not_checked' }), sound)).toBe('incomplete');
  });

  test('is intact without a signature, without trust, and at depth digest with a row', () => {
    expect(decideBundleVerdict(stepOf({}), { ...sound, signed: false })).toBe('intact');
    expect(decideBundleVerdict(stepOf({}), { ...sound, trusted: false })).toBe('intact');
    expect(decideBundleVerdict(stepOf({}), { ...sound, depth: 'digest' })).toBe('intact');
    expect(decideBundleVerdict(stepOf({}), { ...sound, depth: 'digest', listed: false })).toBe('incomplete');
  });

  test('counts an envelope from the caller only if it passed, and the attestation passed or is missing', () => {
    const none = { 'attestation.format': 'not_applicable', 'attestation.key': 'not_applicable' } as const;
    const rest = {
      'attestation.signature': 'not_applicable',
      'attestation.binding': 'not_applicable',
    } as const;
    expect(decideWithEnvelope('passed', {})).toBe('verified');
    expect(decideWithEnvelope('passed', { ...none, ...rest })).toBe('verified');
    expect(decideWithEnvelope('passed', none)).toBe('incomplete');
    expect(decideWithEnvelope('passed', { 'attestation.signature': 'not_checked' })).toBe('incomplete');
    expect(decideWithEnvelope('not_checked', {})).toBe('incomplete');
    expect(decideWithEnvelope('not_checked', { ...none, ...rest })).toBe('incomplete');
  });

  test('is never better with one more error', () => {
    const anyFacts = fc.record({
      depth: fc.constantFrom('full' as const, 'digest' as const),
      signed: fc.boolean(),
      trusted: fc.boolean(),
      listed: fc.boolean(),
    });
    const state = fc.constantFrom('passed', 'failed', 'not_checked', 'not_applicable', 'absent');
    const anyStates = fc.dictionary(fc.constantFrom(...ALL), state);
    forAll(
      100,
      [anyFacts, anyStates, someFindings, fc.constantFrom(...codes)],
      (facts, states, list, code) => {
        const [before, after] = [list, [...list, makeFinding(code)]].map((findings) =>
          decideBundleVerdict(stepOf(states, findings), facts),
        );
        expect(rank(after)).toBeGreaterThanOrEqual(rank(before));
        if (catalogue[code].severity === 'error') expect(['incomplete', 'failed']).toContain(after);
        if (after === 'verified')
          expect([facts.depth, facts.signed, facts.trusted]).toEqual(['full', true, true]);
      },
    );
  });
});
