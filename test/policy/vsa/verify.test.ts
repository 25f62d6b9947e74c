import { describe, expect, it } from 'vitest';

import { summaryFacts, verifySummary, type SummaryExpectations } from '../../../src/policy/vsa/verify.ts';
import {
  DEFAULT_POLICY,
  evaluate,
  policyOf,
  type Answer,
  type PolicyDocument,
} from '../../../src/policy/index.ts';
import { dsseBytes, keyIdOf, parseDsse, type Signer, type TrustStore } from '../../../src/trust/index.ts';
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
import { resourceOf, summarize } from '../../../src/policy/vsa/vsa.ts';

const signer = makeSigner();
const other = makeSigner();
const trust = trusting(keyOf(signer));
const HOUR_MS = 3_600_000;

type Case = {
  readonly envelope: Uint8Array;
  readonly trust?: TrustStore;
  readonly expect?: SummaryExpectations;
  readonly asOfMs?: number;
  readonly threshold?: number;
};
const judge = ({ envelope, asOfMs = AS_OF_MS, trust: store = trust, ...rest }: Case) =>
  verifySummary(envelope, { asOfMs, trust: store, ...rest });
const errors = (one: Case): string[] =>
  judge(one).findings.flatMap(({ code, severity }) => (severity === 'error' ? [code] : []));

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
  it('is valid where a key of the verifier vouches for it and everything expected holds', () => {
    const everything = {
      verifierId: VERIFIER,
      policyDigest: POLICY,
      inputs: [MANIFEST_A],
      maxAgeMs: 0,
      resourceUri: summaryOf().predicate.resourceUri,
    };
    expect(judge({ envelope: passed, expect: everything })).toMatchObject({
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
    const bent = payload.slice();
    const at = new TextDecoder().decode(bent).indexOf('PASSED');
    bent[at + 5]! ^= 1;
    expect(errors({ envelope: dsseBytes({ payloadType, payload: bent, signatures }) })).toEqual([
      'vsa.INVALID',
    ]);
    expect(errors({ envelope: dsseBytes({ payloadType: 'application/json', payload, signatures }) })).toEqual(
      ['dsse.PAYLOAD_TYPE_UNSUPPORTED'],
    );
    const renamed = payload.slice();
    renamed[new TextDecoder().decode(renamed).indexOf('evexp_') + 6]! ^= 1;
    expect(errors({ envelope: dsseBytes({ payloadType, payload: renamed, signatures }) })).toEqual([
      'attestation.SIGNATURE_INVALID',
    ]);
  });

  it('never throws, whatever the bytes are', () => {
    for (const bytes of [new Uint8Array(), new Uint8Array([0xff]), Buffer.from('{}'), Buffer.from('[1]')])
      expect(judge({ envelope: bytes }).verdict).toBe('invalid');
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

  it('tells of a signature that counts for nothing, and goes by the others', async () => {
    const report = judge({ envelope: await signedBy(signer, other) });
    expect(report.verdict).toBe('valid');
    expect(report.findings.map(({ code }) => code)).toEqual(['dsse.SIGNATURE_UNCOUNTED']);
  });

  it.each([0, -1, 1.5, NaN])('is no %d', (threshold) => {
    expect(() => judge({ envelope: passed, threshold })).toThrow(TypeError);
  });
});

describe('a gate that is given a summary in place of evidence', () => {
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
    ['a policy that says nothing of summaries', passed, []],
    ['another verifier', byOther, [row]],
    [
      'a verifier that is expected, and another is trusted',
      byOther,
      [{ ...row, verifier: 'https://evil.example' }],
    ],
    ['FAILED', failed, [row]],
    ['another policy', passed, [{ ...row, policies: [digestOfPair('ee')] }]],
    ['an input that is missing', passed, [{ ...row, inputs: [MANIFEST_A, MANIFEST_B] }]],
    ['an input too many', both, [{ ...row, resource }]],
    ['another resource', passed, [{ ...row, resource }]],
    ['fewer keys than the threshold', passed, [{ ...row, threshold: 2 }]],
    ['another subject', passed, [{ ...row, inputs: [MANIFEST_B] }]],
    ['another key', passed, [{ ...row, keys: [keyIdOf(other.point)] }]],
    ['a key of purpose evidence', passed, [row], trusting(keyOf(signer, { purposes: ['evidence'] }))],
    ['a key that is not trusted', passed, [row], trusting(keyOf(other))],
  ];
  it.each(refused)('refuses %s', (_, envelope, rows, store) => {
    expect(answer(envelope, rows, store)).toBe('no');
  });

  it('refuses it without a trust store', () => {
    const document: PolicyDocument = { schemaVersion: 1, kind: 'policy', summary: { accepted: [row] } };
    const summary = summaryFacts(passed, { asOfMs: AS_OF_MS });
    expect(evaluate([{ name: 'v', summary }], policyOf(document), { asOfMs: AS_OF_MS }).answer).toBe('no');
  });

  it('refuses it under the default policy', () => {
    const summary = summaryFacts(passed, { asOfMs: AS_OF_MS, trust });
    expect(evaluate([{ name: 'v', summary }], DEFAULT_POLICY, { asOfMs: AS_OF_MS }).answer).toBe('no');
  });

  it('holds its age to the millisecond, and takes none from the future', () => {
    expect(answer(passed, [row], trust, AS_OF_MS + HOUR_MS)).toBe('yes');
    expect(answer(passed, [row], trust, AS_OF_MS + HOUR_MS + 1)).toBe('no');
    expect(answer(passed, [row], trust, AS_OF_MS - 1)).toBe('no');
  });

  it('refuses a pass of other levels than its own', async () => {
    const statement = structuredClone(summaryOf());
    const predicate = { ...statement.predicate, verifiedLevels: ['SLSA_BUILD_LEVEL_3'] };
    expect(answer(await enveloped({ ...statement, predicate }, [signer]), [row])).toBe('no');
  });
});
