import { describe, expect, it } from 'vitest';
import { summaryFacts, verifySummary, type SummaryExpectations } from '../../../src/policy/vsa/verify.ts';
import { defined } from '../../../src/bytes/arguments.ts';
import { DEFAULT_POLICY } from '../../../src/policy/policy.ts';
import { evaluate } from '../../../src/policy/evaluate.ts';
import type { Answer } from '../../../src/policy/decision.ts';
import type { PolicyDocument } from '../../../src/policy/document/document.ts';
import { keyIdOf } from '../../../src/trust/key/key.ts';
import { trustStore } from '../../../src/trust/store.ts';
import { makeSigner, makeTrust } from '../../support/evidence.ts';
import {
  AS_OF_MS,
  decided,
  digestOfPair,
  enveloped,
  exportInput,
  MANIFEST_A,
  MANIFEST_B,
  POLICY,
  summaryOf,
  trusting,
  VERIFIER,
} from '../vsa-makers.ts';
import { resourceOf, summarize, VERIFIED_LEVEL } from '../../../src/policy/vsa/vsa.ts';
import { decide, stateOf } from '../make.ts';

const signer = makeSigner();
const other = makeSigner();
const trust = trusting(signer);
const OTHER = digestOfPair('ee');

const sign = (statement: object) => enveloped(statement, [signer]);
const passed = await sign(summaryOf());
const failed = await sign(summaryOf({ answer: 'no' }));
const inputs = [exportInput(), exportInput({ name: 'b', manifestDigest: MANIFEST_B })];
const both = await sign(summaryOf({ inputs }));
const OTHER_VERIFIER = 'https://evil.example';
const byOther = await sign(summarize(decided(), { verifierId: OTHER_VERIFIER, version: '1' })!);
/** A summary with other levels. */
const withLevels = (...verifiedLevels: string[]) => {
  const statement = summaryOf();
  return sign({ ...statement, predicate: { ...statement.predicate, verifiedLevels } });
};

const otherLevel = await withLevels('SLSA_BUILD_LEVEL_3');

it.each([0, -1, 1.5, NaN])('a summary is not verified with a threshold of %d', (threshold) => {
  expect(() => verifySummary(passed, { asOfMs: AS_OF_MS, trust, threshold })).toThrow(TypeError);
});

it.each([
  ['expected verifier', { trust, expect: { verifierId: VERIFIER.replace('a', '\u0430') } }, 'expected'],
  [
    'issuer of the trusted key',
    { trust: makeTrust(signer, { issuer: VERIFIER.replace('a', '\u0430'), purposes: ['summary' as const] }) },
    'expected',
  ],
])(
  'a summary whose verifier looks like the %s shows both names, and marks the letter',
  (_what, options, which) => {
    const { findings } = verifySummary(passed, { asOfMs: AS_OF_MS, ...options });
    const [error] = findings.filter(({ severity }) => severity === 'error');
    expect(error?.expected).toContain('\u0430');
    expect(error?.actual).toContain(VERIFIER);
    expect(error?.message).toContain(`only the ${which} name has U+0430`);
  },
);

it('bytes of any kind make an invalid summary, not an error', () => {
  for (const bytes of [new Uint8Array(), new Uint8Array([0xff]), Buffer.from('{}'), Buffer.from('[1]')])
    expect(verifySummary(bytes, { asOfMs: AS_OF_MS, trust }).verdict).toBe('invalid');
});

describe('a gate with a summary in place of evidence', () => {
  const pins = { policies: [POLICY], inputs: [MANIFEST_A], resource: resourceOf([MANIFEST_A]) };
  const row = { verifier: VERIFIER, ...pins, maxAge: '1h', threshold: 1 };
  const resource = resourceOf([MANIFEST_A, MANIFEST_B]);
  type Row = NonNullable<PolicyDocument['summary']>['accepted'][number];
  const answer = (
    envelope: Uint8Array,
    accepted: Row,
    options: Partial<Parameters<typeof summaryFacts>[1]> = { trust },
  ): Answer => {
    const summary = summaryFacts(envelope, { asOfMs: AS_OF_MS, ...options });
    return decide({ summary: { accepted: [accepted] } }, [{ name: 'vsa.json', summary }], AS_OF_MS).answer;
  };

  it('accepts exactly the values that the policy pins', () => {
    expect(answer(passed, row)).toBe('yes');
    expect(answer(passed, { ...row, keys: [keyIdOf(signer.point)] })).toBe('yes');
    expect(answer(both, { ...row, resource, inputs: [MANIFEST_B, MANIFEST_A] })).toBe('yes');
  });

  it.each([
    ['an expected verifier whose key is not trusted', byOther, { ...row, verifier: OTHER_VERIFIER }],
    ['an input too many', both, { ...row, resource }],
    ['a key of purpose evidence', passed, row, { trust: makeTrust(signer, { issuer: VERIFIER }) }],
    ['a key that is not trusted', passed, row, { trust: trusting(other) }],
    ['it without a trust store', passed, row, {}],
    ['a pass without the level of drillproof', otherLevel, row],
  ])('refuses %s', (_, envelope, accepted, options = { trust }) => {
    expect(answer(envelope, accepted, options)).toBe('no');
  });

  it('refuses it under the default policy', () => {
    const summary = summaryFacts(passed, { asOfMs: AS_OF_MS, trust });
    expect(evaluate([{ name: 'v', summary }], DEFAULT_POLICY, { asOfMs: AS_OF_MS }).answer).toBe('no');
  });
});

/** The findings of a report without their messages and the facts of the catalogue. */
const findingsOf = (envelope: Uint8Array, expectations: SummaryExpectations = {}, asOfMs = AS_OF_MS) =>
  verifySummary(envelope, { asOfMs, trust, expect: expectations }).findings.map(
    ({ message: _message, class: _class, severity: _severity, ...rest }) => rest,
  );
const location = { subject: 'summary', path: 'dsse' };

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
    expect([report, without, unread].map(({ keys }) => keys)).toEqual([[keyIdOf(signer.point)], [], []]);
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

  it('states how many keys the threshold requires, and how many signed', () => {
    const { findings } = verifySummary(passed, { asOfMs: AS_OF_MS, trust, threshold: 2 });
    expect(findings).toMatchObject([
      { code: 'dsse.THRESHOLD_MISSED', path: 'dsse#/signatures', expected: 'at least 2', actual: '1' },
    ]);
  });
});

describe('a finding about a summary states the expected and the actual value:', () => {
  it('its result and level', async () => {
    expect(findingsOf(failed)).toStrictEqual([
      { ...location, code: 'vsa.NOT_PASSED', expected: 'PASSED', actual: 'FAILED' },
    ]);
    expect(findingsOf(await withLevels('A', 'B'))).toStrictEqual([
      { ...location, code: 'vsa.LEVEL_MISSING', expected: VERIFIED_LEVEL, actual: 'A, B' },
    ]);
  });

  it.each<[SummaryExpectations, string, string | undefined, string | undefined]>([
    [{ verifierId: 'x' }, 'vsa.VERIFIER_MISMATCH', 'x', VERIFIER],
    [{ resourceUri: 'x' }, 'vsa.RESOURCE_MISMATCH', 'x', summaryOf().predicate.resourceUri],
    [{ policyDigest: OTHER }, 'vsa.POLICY_MISMATCH', OTHER, POLICY],
    [{ inputs: [MANIFEST_A, OTHER] }, 'vsa.INPUT_MISSING', OTHER, undefined],
    [{ inputs: [] }, 'vsa.INPUT_EXTRA', undefined, MANIFEST_A],
  ])('%j: %s', (expectations, code, expected, actual) => {
    expect(findingsOf(passed, expectations)).toStrictEqual([
      { ...location, code, ...defined({ expected, actual }) },
    ]);
  });

  it('its time', () => {
    const [before, actual, after] = [-1, 0, 1].map((ms) => new Date(AS_OF_MS + ms).toISOString());
    expect(findingsOf(passed, { maxAgeMs: 1000 }, AS_OF_MS + 1001)).toStrictEqual([
      { ...location, code: 'vsa.TOO_OLD', expected: `at or after ${after}`, actual },
    ]);
    expect(findingsOf(passed, {}, AS_OF_MS - 1)).toMatchObject([
      { code: 'vsa.FROM_FUTURE', expected: `at most ${before}`, actual },
    ]);
    expect(findingsOf(passed, {}, -8.64e15 - 1)).toMatchObject([{ expected: `at most ${-8.64e15 - 1} ms` }]);
  });
});

describe('the facts of a summary for a policy', () => {
  it('name every trusted key that signed it, so that a policy may pin either', async () => {
    const signers = [signer, other] as const;
    const envelope = await enveloped(summaryOf(), signers);
    const store = trustStore(signers.flatMap((key) => trusting(key).keys));
    const summary = summaryFacts(envelope, { asOfMs: AS_OF_MS, trust: store });
    expect(summary.thumbprints).toEqual(signers.map(({ point }) => keyIdOf(point)).toSorted());
    const { verifierId, policyDigest, resourceUri: resource } = summary;
    const answers = [...signers, makeSigner()].map(({ point }) => {
      const pins = { policies: [policyDigest], inputs: [...summary.inputs], resource, threshold: 1 };
      const row = { verifier: verifierId, maxAge: '1d', ...pins };
      const rules = { summary: { accepted: [{ ...row, keys: [keyIdOf(point)] }] } };
      return stateOf(decide(rules, [{ name: 'vsa', summary }], AS_OF_MS), 'summary.accepted');
    });
    expect(answers).toEqual(['passed', 'passed', 'failed']);
  });

  it('name the trusted key that signed it, if any', () => {
    const facts = summaryFacts(passed, { asOfMs: AS_OF_MS, trust });
    expect(facts).toStrictEqual({
      verifierId: VERIFIER,
      result: 'PASSED',
      timeVerifiedMs: AS_OF_MS,
      resourceUri: resourceOf([MANIFEST_A]),
      policyDigest: POLICY,
      parameters: {},
      inputs: [MANIFEST_A],
      thumbprints: [keyIdOf(signer.point)],
      findings: [],
    });
    expect(summaryFacts(passed, { asOfMs: AS_OF_MS }).thumbprints).toEqual([]);
  });
});
