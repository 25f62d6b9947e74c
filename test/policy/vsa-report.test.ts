import { describe, expect, it } from 'vitest';
import { summaryFacts, verifySummary, type SummaryExpectations } from '../../src/policy/vsa/verify.ts';
import { resourceOf, VERIFIED_LEVEL } from '../../src/policy/vsa/vsa.ts';
import { keyIdOf } from '../../src/trust/index.ts';
import { decide, stateOf } from './make.ts';
import { makeSigner } from '../support/evidence.ts';
import {
  AS_OF_MS,
  digestOfPair,
  enveloped,
  keyOf,
  MANIFEST_A,
  POLICY,
  summaryOf,
  trusting,
  VERIFIER,
} from './vsa-makers.ts';

const signer = makeSigner();
const other = makeSigner();
const trust = trusting(keyOf(signer));
const passed = await enveloped(summaryOf(), [signer]);
const failed = await enveloped(summaryOf({ answer: 'no' }), [signer]);
const OTHER = digestOfPair('ee');

/** What a report finds, without its words and without what the catalogue says of a code. */
const found = (envelope: Uint8Array, expect_: SummaryExpectations = {}, asOfMs = AS_OF_MS) =>
  verifySummary(envelope, { asOfMs, trust, expect: expect_ }).findings.map(
    ({ message: _message, class: _class, severity: _severity, ...rest }) => rest,
  );
const at = { subject: 'summary', path: 'dsse' };

describe('the report on a summary', () => {
  it('names the trust store and the summary, if there are any', () => {
    const report = verifySummary(passed, { asOfMs: AS_OF_MS, trust });
    expect(report.trust).toStrictEqual({ fingerprint: trust.fingerprint, keys: 1 });
    expect(report.asOfMs).toBe(AS_OF_MS);
    const without = verifySummary(passed, { asOfMs: AS_OF_MS });
    expect(without).not.toHaveProperty('trust');
    expect(without.summary).toStrictEqual(report.summary);
    const unread = verifySummary(new Uint8Array(), { asOfMs: AS_OF_MS, trust });
    expect(unread).not.toHaveProperty('summary');
    expect(unread.keys).toStrictEqual([]);
    expect(verifySummary(passed, { asOfMs: AS_OF_MS }).keys).toStrictEqual([]);
  });

  it('asks for a time in whole milliseconds', () => {
    for (const asOfMs of [0.5, NaN, Infinity])
      expect(() => verifySummary(passed, { asOfMs, trust })).toThrow(TypeError);
  });

  it('names the key whose signature does not count, and why', async () => {
    const report = verifySummary(await enveloped(summaryOf(), [signer, other]), { asOfMs: AS_OF_MS, trust });
    const [uncounted] = report.findings;
    expect(uncounted).toMatchObject({ code: 'dsse.SIGNATURE_UNCOUNTED', path: 'dsse#/signatures/1' });
    const alone = verifySummary(await enveloped(summaryOf(), [other]), { asOfMs: AS_OF_MS, trust });
    const [unknown] = alone.findings;
    expect(unknown).toMatchObject({ code: 'trust.KEY_UNKNOWN', path: 'dsse#/signatures/0' });
    expect(unknown?.message).not.toBe('');
    expect(uncounted?.message).toContain(unknown?.message);
  });

  it('names how many keys were asked for, and how many signed', () => {
    const { findings } = verifySummary(passed, { asOfMs: AS_OF_MS, trust, threshold: 2 });
    expect(findings).toMatchObject([
      { code: 'dsse.THRESHOLD_MISSED', path: 'dsse#/signatures', expected: 'at least 2', actual: '1' },
    ]);
  });
});

describe('a finding about a summary names what was expected and what it says:', () => {
  it('its result and level', async () => {
    expect(found(failed)).toStrictEqual([
      { ...at, code: 'vsa.NOT_PASSED', expected: 'PASSED', actual: 'FAILED' },
    ]);
    const statement = summaryOf();
    const predicate = { ...statement.predicate, verifiedLevels: ['A', 'B'] };
    expect(found(await enveloped({ ...statement, predicate }, [signer]))).toStrictEqual([
      { ...at, code: 'vsa.LEVEL_MISSING', expected: VERIFIED_LEVEL, actual: 'A, B' },
    ]);
  });

  it.each<[SummaryExpectations, string, string | undefined, string | undefined]>([
    [{ verifierId: 'x' }, 'vsa.VERIFIER_MISMATCH', 'x', VERIFIER],
    [{ resourceUri: 'x' }, 'vsa.RESOURCE_MISMATCH', 'x', summaryOf().predicate.resourceUri],
    [{ policyDigest: OTHER }, 'vsa.POLICY_MISMATCH', OTHER, POLICY],
    [{ inputs: [MANIFEST_A, OTHER] }, 'vsa.INPUT_MISSING', OTHER, undefined],
    [{ inputs: [] }, 'vsa.INPUT_EXTRA', undefined, MANIFEST_A],
  ])('%j: %s', (expected_, code, expected, actual) => {
    expect(found(passed, expected_)).toStrictEqual([
      { ...at, code, ...(expected !== undefined && { expected }), ...(actual !== undefined && { actual }) },
    ]);
  });

  it('its time', () => {
    const actual = new Date(AS_OF_MS).toISOString();
    expect(found(passed, { maxAgeMs: 1000 }, AS_OF_MS + 1001)).toStrictEqual([
      { ...at, code: 'vsa.TOO_OLD', expected: `at or after ${new Date(AS_OF_MS + 1).toISOString()}`, actual },
    ]);
    expect(found(passed, {}, AS_OF_MS - 1)).toMatchObject([
      { code: 'vsa.FROM_FUTURE', expected: `at most ${new Date(AS_OF_MS - 1).toISOString()}`, actual },
    ]);
    expect(found(passed, {}, -8.64e15 - 1)).toMatchObject([{ expected: `at most ${-8.64e15 - 1} ms` }]);
  });
});

describe('what a policy is told of a summary', () => {
  it('names every trusted key that signed it, so that a policy may pin either', async () => {
    const signers = [signer, other] as const;
    const envelope = await enveloped(summaryOf(), signers);
    const summary = summaryFacts(envelope, {
      asOfMs: AS_OF_MS,
      trust: trusting(...signers.map((one) => keyOf(one))),
    });
    expect(summary.thumbprints).toEqual(signers.map(({ point }) => keyIdOf(point)).toSorted());
    const { verifierId, policyDigest, resourceUri: resource, inputs } = summary;
    const answers = [...signers, makeSigner()].map(({ point }) => {
      const pins = { policies: [policyDigest], inputs: [...inputs], resource, threshold: 1 };
      const row = { verifier: verifierId, maxAge: '1d', ...pins };
      const rules = { summary: { accepted: [{ ...row, keys: [keyIdOf(point)] }] } };
      return stateOf(decide(rules, [{ name: 'vsa', summary }], AS_OF_MS), 'summary.accepted');
    });
    expect(answers).toEqual(['passed', 'passed', 'failed']);
  });

  it('names the key that vouches for it, where one does', () => {
    const told = summaryFacts(passed, { asOfMs: AS_OF_MS, trust });
    expect(told).toStrictEqual({
      verifierId: VERIFIER,
      result: 'PASSED',
      timeVerifiedMs: AS_OF_MS,
      resourceUri: resourceOf([MANIFEST_A]),
      policyDigest: POLICY,
      inputs: [MANIFEST_A],
      thumbprints: [keyIdOf(signer.point)],
      findings: [],
    });
    expect(summaryFacts(passed, { asOfMs: AS_OF_MS }).thumbprints).toEqual([]);
  });
});
