import { describe, expect, it } from 'vitest';
import { summaryFacts, verifySummary, type SummaryExpectations } from '../../../src/policy/vsa/verify.ts';
import {
  DEFAULT_POLICY,
  evaluate,
  policyOf,
  type Answer,
  type PolicyDocument,
} from '../../../src/policy/index.ts';
import { encodeDsse, keyIdOf, parseDsse, type Signer, type TrustStore } from '../../../src/trust/index.ts';
import { makeSigner } from '../../support/evidence.ts';
import {
  AS_OF_MS,
  decided,
  digestOfPair,
  enveloped,
  exportInput,
  keyOf,
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
const trust = trusting(keyOf(signer));
const OTHER = digestOfPair('ee');

type Case = {
  readonly envelope: Uint8Array;
  readonly trust?: TrustStore;
  readonly expect?: SummaryExpectations;
  readonly asOfMs?: number;
  readonly threshold?: number;
};
const verify = ({ envelope, asOfMs = AS_OF_MS, trust: store = trust, ...rest }: Case) =>
  verifySummary(envelope, { asOfMs, trust: store, ...rest });
const errors = (input: Case): string[] =>
  verify(input).findings.flatMap(({ code, severity }) => (severity === 'error' ? [code] : []));

const passed = await enveloped(summaryOf(), [signer]);
const failed = await enveloped(summaryOf({ answer: 'no' }), [signer]);
const both = await enveloped(
  summaryOf({ inputs: [exportInput(), exportInput({ name: 'b', manifestDigest: MANIFEST_B })] }),
  [signer],
);
const byOther = await enveloped(summarize(decided(), { verifierId: 'https://evil.example', version: '1' })!, [
  signer,
]);

describe('a verification summary', () => {
  it('is valid if a trusted key signed it and every expectation holds', () => {
    const everything = {
      verifierId: VERIFIER,
      policyDigest: POLICY,
      inputs: [MANIFEST_A],
      maxAgeMs: 0,
      resourceUri: summaryOf().predicate.resourceUri,
    };
    expect(verify({ envelope: passed, expect: everything })).toMatchObject({
      verdict: 'valid',
      keys: [keyIdOf(signer.point)],
      findings: [],
      summary: { verifierId: VERIFIER, result: 'PASSED' },
    });
  });

  it('is not verified without a trust store', () => {
    const report = verifySummary(passed, { asOfMs: AS_OF_MS });
    expect(report).toMatchObject({ verdict: 'not_judged', keys: [] });
    expect(report.findings.map(({ code }) => code)).toEqual(['trust.STORE_ABSENT']);
  });

  it('is invalid when a bit of it was changed, and is never read as a different payload', () => {
    const { payloadType, payload, signatures } = parseDsse(passed);
    const changed = payload.slice();
    const at = new TextDecoder().decode(changed).indexOf('PASSED');
    changed[at + 5]! ^= 1;
    expect(errors({ envelope: encodeDsse({ payloadType, payload: changed, signatures }) })).toEqual([
      'vsa.INVALID',
    ]);
    expect(
      errors({ envelope: encodeDsse({ payloadType: 'application/json', payload, signatures }) }),
    ).toEqual(['dsse.PAYLOAD_TYPE_UNSUPPORTED']);
    const renamed = payload.slice();
    renamed[new TextDecoder().decode(renamed).indexOf('evexp_') + 6]! ^= 1;
    expect(errors({ envelope: encodeDsse({ payloadType, payload: renamed, signatures }) })).toEqual([
      'attestation.SIGNATURE_INVALID',
    ]);
  });

  it('never throws, whatever the bytes are', () => {
    for (const bytes of [new Uint8Array(), new Uint8Array([0xff]), Buffer.from('{}'), Buffer.from('[1]')])
      expect(verify({ envelope: bytes }).verdict).toBe('invalid');
  });
});

const signedBy = (...signers: [Signer, ...Signer[]]) => enveloped(summaryOf(), signers);

describe('a threshold', () => {
  const two = trusting(keyOf(signer), keyOf(other));

  it('counts different keys', async () => {
    expect(errors({ envelope: await signedBy(signer, other), trust: two, threshold: 2 })).toEqual([]);
    expect(errors({ envelope: await signedBy(signer, other), trust: two, threshold: 3 })).toEqual([
      'dsse.THRESHOLD_MISSED',
    ]);
  });

  it('counts a key once, whatever its signatures and names', async () => {
    expect(errors({ envelope: await signedBy(signer, signer), trust, threshold: 2 })).toEqual([
      'dsse.THRESHOLD_MISSED',
    ]);
    const alias = { ...signer, keyId: 'alias' };
    const named = trusting(keyOf(signer), keyOf(signer, { keyId: 'alias' }));
    expect(errors({ envelope: await signedBy(signer, alias), trust: named, threshold: 2 })).toEqual([
      'dsse.THRESHOLD_MISSED',
    ]);
  });

  it('reports a signature that does not count, and counts the others', async () => {
    const report = verify({ envelope: await signedBy(signer, other) });
    expect(report.verdict).toBe('valid');
    expect(report.findings.map(({ code }) => code)).toEqual(['dsse.SIGNATURE_UNCOUNTED']);
  });

  it.each([0, -1, 1.5, NaN])('is refused if it is %d', (threshold) => {
    expect(() => verify({ envelope: passed, threshold })).toThrow(TypeError);
  });
});

describe('a gate with a summary in place of evidence', () => {
  const pins = { policies: [POLICY], inputs: [MANIFEST_A], resource: resourceOf([MANIFEST_A]) };
  const row = { verifier: VERIFIER, ...pins, maxAge: '1h', threshold: 1 };
  const resource = resourceOf([MANIFEST_A, MANIFEST_B]);
  type Row = NonNullable<PolicyDocument['summary']>['accepted'][number];
  const answer = (
    envelope: Uint8Array,
    rows: readonly Row[],
    store: TrustStore | undefined = trust,
    asOfMs = AS_OF_MS,
  ): Answer => {
    const document: PolicyDocument = {
      schemaVersion: 1,
      kind: 'policy',
      ...(rows.length > 0 && { summary: { accepted: rows } }),
    };
    const summary = summaryFacts(envelope, { asOfMs, ...(store !== undefined && { trust: store }) });
    return evaluate([{ name: 'vsa.json', summary }], policyOf(document), { asOfMs }).answer;
  };

  it('accepts exactly the values that the policy pins', () => {
    expect(answer(passed, [row])).toBe('yes');
    expect(answer(passed, [{ ...row, keys: [keyIdOf(signer.point)] }])).toBe('yes');
    expect(answer(both, [{ ...row, resource, inputs: [MANIFEST_B, MANIFEST_A] }])).toBe('yes');
  });

  const refused: [string, Uint8Array, Row[], TrustStore?][] = [
    [
      'an expected verifier whose key is not trusted',
      byOther,
      [{ ...row, verifier: 'https://evil.example' }],
    ],
    ['an input too many', both, [{ ...row, resource }]],
    ['a key of purpose evidence', passed, [row], trusting(keyOf(signer, { purposes: ['evidence'] }))],
    ['a key that is not trusted', passed, [row], trusting(keyOf(other))],
  ];
  it.each(refused)('refuses %s', (_, envelope, rows, store) => {
    expect(answer(envelope, rows, store)).toBe('no');
  });

  it.each([
    [
      'without a trust store',
      policyOf({ schemaVersion: 1, kind: 'policy', summary: { accepted: [row] } }),
      {},
    ],
    ['under the default policy', DEFAULT_POLICY, { trust }],
  ])('refuses it %s', (_, policy, options) => {
    const summary = summaryFacts(passed, { asOfMs: AS_OF_MS, ...options });
    expect(evaluate([{ name: 'v', summary }], policy, { asOfMs: AS_OF_MS }).answer).toBe('no');
  });

  it('refuses a pass without the level of drillproof', async () => {
    const statement = structuredClone(summaryOf());
    const predicate = { ...statement.predicate, verifiedLevels: ['SLSA_BUILD_LEVEL_3'] };
    expect(answer(await enveloped({ ...statement, predicate }, [signer]), [row])).toBe('no');
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
    const statement = summaryOf();
    const predicate = { ...statement.predicate, verifiedLevels: ['A', 'B'] };
    expect(findingsOf(await enveloped({ ...statement, predicate }, [signer]))).toStrictEqual([
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
      {
        ...location,
        code,
        ...(expected !== undefined && { expected }),
        ...(actual !== undefined && { actual }),
      },
    ]);
  });

  it('its time', () => {
    const actual = new Date(AS_OF_MS).toISOString();
    expect(findingsOf(passed, { maxAgeMs: 1000 }, AS_OF_MS + 1001)).toStrictEqual([
      {
        ...location,
        code: 'vsa.TOO_OLD',
        expected: `at or after ${new Date(AS_OF_MS + 1).toISOString()}`,
        actual,
      },
    ]);
    expect(findingsOf(passed, {}, AS_OF_MS - 1)).toMatchObject([
      { code: 'vsa.FROM_FUTURE', expected: `at most ${new Date(AS_OF_MS - 1).toISOString()}`, actual },
    ]);
    expect(findingsOf(passed, {}, -8.64e15 - 1)).toMatchObject([{ expected: `at most ${-8.64e15 - 1} ms` }]);
  });
});

describe('the facts of a summary for a policy', () => {
  it('name every trusted key that signed it, so that a policy may pin either', async () => {
    const signers = [signer, other] as const;
    const envelope = await enveloped(summaryOf(), signers);
    const summary = summaryFacts(envelope, {
      asOfMs: AS_OF_MS,
      trust: trusting(...signers.map((key) => keyOf(key))),
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

  it('name the trusted key that signed it, if any', () => {
    const facts = summaryFacts(passed, { asOfMs: AS_OF_MS, trust });
    expect(facts).toStrictEqual({
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
