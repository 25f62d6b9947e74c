import { describe, expect, it } from 'vitest';
import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { readSummary } from '../../../src/policy/vsa/read.ts';
import { resourceOf, signSummary, summarize, VERIFIED_LEVEL } from '../../../src/policy/vsa/vsa.ts';
import { parseDsse, encodeDsse } from '../../../src/trust/dsse.ts';
import { makeSigner } from '../../support/evidence.ts';
import {
  AS_OF_MS,
  decided,
  exportInput,
  hexOf,
  MANIFEST_A,
  MANIFEST_B,
  POLICY,
  STORE,
  summaryOf,
  VERIFIER,
} from '../vsa-makers.ts';

describe('the summary of a decision', () => {
  it('names the verifier, the time, every input, the policy and the trust store', () => {
    const inputs = [exportInput({ name: 'b', id: 'evexp_b', manifestDigest: MANIFEST_B }), exportInput()];
    const { subject, predicate, predicateType } = summaryOf({ inputs });
    expect(predicateType).toBe('https://slsa.dev/verification_summary/v1');
    expect(subject).toEqual([
      {
        name: 'evexp_000000000001',
        digest: { sha256: hexOf('aa') },
        annotations: {
          'urn:drillproof:vsa:parameters': {},
          'urn:drillproof:vsa:runs': [],
          'urn:drillproof:vsa:trust-store': { sha256: hexOf('dd') },
        },
      },
      { name: 'evexp_b', digest: { sha256: hexOf('bb') } },
    ]);
    expect(predicate).toEqual({
      verifier: { id: VERIFIER, version: { drillproof: '1.2.3' } },
      timeVerified: '2026-11-21T12:00:00.000Z',
      resourceUri: resourceOf([MANIFEST_A, MANIFEST_B]),
      policy: { uri: 'urn:drillproof:policy:release', digest: { sha256: hexOf('cc') } },
      inputAttestations: [
        { uri: 'urn:drillproof:export:evexp_000000000001', digest: { sha256: hexOf('aa') } },
        { uri: 'urn:drillproof:export:evexp_b', digest: { sha256: hexOf('bb') } },
      ],
      verificationResult: 'PASSED',
      verifiedLevels: [VERIFIED_LEVEL],
      slsaVersion: '1.1',
    });
  });

  it('lists each envelope once as an input, and reads envelopes and manifests back separately', () => {
    const envelopes = [MANIFEST_B, STORE, STORE];
    const statement = summaryOf({ inputs: [exportInput({ envelopes })] });
    expect(statement.predicate.inputAttestations.slice(1)).toEqual([
      { uri: `urn:drillproof:dsse:${MANIFEST_B}`, digest: { sha256: hexOf('bb') } },
      { uri: `urn:drillproof:dsse:${STORE}`, digest: { sha256: hexOf('dd') } },
    ]);
    const read = readSummary({
      payloadType: 'application/vnd.in-toto+json',
      payload: canonicalBytes(statement),
    });
    expect([read.inputs, read.envelopes]).toEqual([[MANIFEST_A], [MANIFEST_B, STORE]]);
  });

  it('has a level outside the names that SLSA reserves', () => {
    expect(VERIFIED_LEVEL).not.toMatch(/^SLSA_/);
  });

  it('is not written if the gate could not tell', () => {
    expect(summaryOf({ answer: 'could_not_tell' })).toBeUndefined();
  });

  it('does not depend on the order of inputs, and lists a manifest once', () => {
    const [a, b] = [exportInput(), exportInput({ name: 'b', manifestDigest: MANIFEST_B })];
    expect(canonicalBytes(summaryOf({ inputs: [b, a] }))).toEqual(
      canonicalBytes(summaryOf({ inputs: [a, b] })),
    );
    expect(summaryOf({ inputs: [a, a] }).subject).toHaveLength(1);
  });

  it('needs an input that has a manifest, which a summary does not have', () => {
    const { manifestDigest: _, ...bare } = exportInput({ kind: 'summary' });
    for (const inputs of [[], [bare], [exportInput(), bare]])
      expect(() => summaryOf({ inputs })).toThrow(expect.objectContaining({ code: 'vsa.SUBJECT_MISSING' }));
  });

  it.each(['gate', '', 'https://a b', '//host', 'https:'])(
    'refuses the verifier %j, which is not a URI',
    (verifierId) => {
      expect(() => summarize(decided(), { verifierId, version: '1' })).toThrow(TypeError);
    },
  );

  it('refuses a time that RFC 3339 cannot express', () => {
    const [first, last] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];
    for (const asOfMs of [first - 1, last + 1, 8.64e15 + 1])
      expect(() => summaryOf({ asOfMs })).toThrow(TypeError);
    for (const asOfMs of [first, last])
      expect(summaryOf({ asOfMs }).predicate.timeVerified).toBe(new Date(asOfMs).toISOString());
  });

  it('is read back unchanged from its envelope', async () => {
    const { trust: _, ...without } = decided();
    for (const decision of [decided(), decided({ answer: 'no' }), without]) {
      const statement = summarize(decision, {
        verifierId: VERIFIER,
        version: '1',
        resourceUri: 'pkg:oci/app',
      })!;
      const read = readSummary(parseDsse(encodeDsse(await signSummary(statement, [makeSigner()]))));
      expect(read).toEqual({
        verifierId: VERIFIER,
        timeVerifiedMs: AS_OF_MS,
        resourceUri: 'pkg:oci/app',
        policyDigest: POLICY,
        parameters: {},
        runs: [],
        inputs: [MANIFEST_A],
        result: decision.answer === 'yes' ? 'PASSED' : 'FAILED',
        levels: statement.predicate.verifiedLevels,
        ...('trust' in decision && { trustStore: STORE }),
      });
    }
  });
});
