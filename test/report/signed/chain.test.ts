import { describe, expect, it } from 'vitest';
import type { Code } from '../../../src/codes/catalogue.ts';
import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { type JsonValue, parseJson } from '../../../src/bytes/json/parse.ts';
import { IN_TOTO_PAYLOAD_TYPE } from '../../../src/evidence/in-toto.ts';
import { readSignedReport, type SignedReport, signReport } from '../../../src/report/signed/statement.ts';
import { verifyReportChain } from '../../../src/report/signed/chain.ts';
import { type DsseEnvelope, encodeDsse, parseDsse, signDsse } from '../../../src/trust/dsse.ts';
import { trustStore } from '../../../src/trust/store.ts';
import { editJson, makeSigner, NOW } from '../../support/evidence.ts';
import { DIGEST, exportReport } from '../makers.ts';

const signer = makeSigner();
const ISSUER = 'auditor';
const store = (rest: object = {}, key = signer) =>
  trustStore([
    { issuer: ISSUER, keyId: key.keyId, point: key.point, compromised: true, purposes: ['report'], ...rest },
  ]);
const asJson = (value: object): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

type Statement = {
  predicateType: string;
  predicate: { previous?: string; more?: true; report: { kind: string; asOfMs: number } };
};
type Link = { readonly bytes: Uint8Array; readonly signed: SignedReport };

async function sign(n: number, previous?: SignedReport, issuedAtMs = NOW + n): Promise<Link> {
  const report = asJson(exportReport({ asOfMs: NOW + n }));
  const signing = { signer, issuer: ISSUER, issuedAtMs, ...(previous && { previous }) };
  const bytes = encodeDsse(await signReport(report, signing));
  return { bytes, signed: readSignedReport(parseDsse(bytes)) };
}

const first = await sign(1);
const second = await sign(2, first.signed);
const third = await sign(3, second.signed);
const replaced = await sign(7);
const fork = await sign(8, first.signed);
const early = await sign(2, first.signed, NOW);
const skipping = await sign(2, { ...first.signed, sequence: 5 });

const verify = (links: readonly Pick<Link, 'bytes'>[], options: object = {}) =>
  verifyReportChain(
    links.map(({ bytes }, at) => ({ name: `${at + 1}.json`, report: bytes })),
    { asOfMs: NOW + 10, trust: store(), ...options },
  );
const codes = ({ findings }: ReturnType<typeof verify>): string[] => findings.map(({ code }) => code);

describe('a chain of signed reports', () => {
  it('is valid for signed reports in order, and states the result of each', () => {
    const chain = verify([first, second, third], { expectLast: third.signed.digest });
    expect(chain.verdict).toBe('valid');
    expect(chain.findings).toEqual([]);
    expect(chain.reports.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(chain.reports[0]).toMatchObject({
      report: { kind: 'export', result: 'verified' },
      keys: [signer.keyId],
    });
  });

  it.each<[string, Code, readonly Link[], object?]>([
    ['a gap', 'report.PREVIOUS_MISSING', [first, third]],
    ['a missing beginning', 'report.PREVIOUS_MISSING', [second, third]],
    ['the wrong order', 'report.ORDER_MISMATCH', [second, first]],
    ['a report given twice', 'report.ORDER_MISMATCH', [first, first]],
    ['a missing end', 'report.LAST_MISMATCH', [first], { expectLast: `sha256:${'0'.repeat(64)}` }],
    ['a replaced report', 'report.PREVIOUS_MISMATCH', [replaced, second]],
    ['two reports that follow one', 'report.FORKED', [first, second, fork]],
    ['a report that is older than its predecessor', 'report.ORDER_MISMATCH', [first, early]],
    ['a number that was skipped', 'report.ORDER_MISMATCH', [first, skipping]],
    ['a report from the future', 'attestation.ISSUED_IN_FUTURE', [first], { asOfMs: NOW }],
    ['a key that is not trusted', 'trust.KEY_UNKNOWN', [first], { trust: store({}, makeSigner()) }],
    ['a key of another issuer', 'trust.KEY_UNKNOWN', [first], { trust: store({ issuer: 'other' }) }],
    ['a key for evidence', 'trust.PURPOSE_MISMATCH', [first], { trust: store({ purposes: ['evidence'] }) }],
    ['an expired key', 'trust.KEY_EXPIRED', [first], { trust: store({ notAfterMs: NOW }) }],
    ['a report without an envelope', 'dsse.INVALID', [{ ...first, bytes: canonicalBytes(exportReport()) }]],
  ])('is invalid for %s', (_what, code, links, options) => {
    const chain = verify(links, options);
    expect(chain.verdict).toBe('invalid');
    expect([...new Set(codes(chain))]).toEqual([code]);
  });

  it('accepts a beginning that the caller pins', () => {
    expect(verify([second, third], { after: first.signed.digest }).verdict).toBe('valid');
  });

  it('is not checked without a trust store, and invalid without a report', () => {
    const chain = verifyReportChain([{ name: 'a', report: first.bytes }], { asOfMs: NOW + 10 });
    expect([chain.verdict, codes(chain)]).toEqual(['not_checked', ['trust.STORE_ABSENT']]);
    expect(verify([]).verdict).toBe('invalid');
  });

  it('refuses a changed payload under the old signature', () => {
    const changed = editJson<{ payload: string }>(first.bytes, (envelope) => ({
      ...envelope,
      payload: Buffer.from(
        Buffer.from(envelope.payload, 'base64')
          .toString()
          .replace(`"issuedAtMs":${NOW + 1}`, `"issuedAtMs":${NOW}`),
      ).toString('base64'),
    }));
    expect(codes(verify([{ bytes: changed }]))).toEqual(['attestation.SIGNATURE_INVALID']);
  });

  it.each<[string, Code, (statement: Statement) => unknown]>([
    ['of another report', 'report.SUBJECT_MISMATCH', ({ predicate }) => (predicate.report.asOfMs += 1)],
    ['of another type', 'report.SIGNED_INVALID', (statement) => (statement.predicateType = 'urn:other')],
    ['with an unknown member', 'report.SIGNED_INVALID', ({ predicate }) => (predicate.more = true)],
    [
      'that is the first and follows another',
      'report.SIGNED_INVALID',
      ({ predicate }) => (predicate.previous = DIGEST),
    ],
    [
      'with an unknown kind of report',
      'report.SIGNED_INVALID',
      ({ predicate }) => (predicate.report.kind = 'other'),
    ],
  ])('refuses a statement %s with %s', async (_what, code, edit) => {
    const envelope: DsseEnvelope = parseDsse(first.bytes);
    const statement = parseJson(envelope.payload) as unknown as Statement;
    edit(statement);
    const payload = canonicalBytes(statement);
    const signed = await signDsse({ payloadType: IN_TOTO_PAYLOAD_TYPE, payload }, [signer]);
    expect(codes(verify([{ bytes: encodeDsse(signed) }]))).toEqual([code]);
  });

  it('signs nothing but a report', async () => {
    const signing = { signer, issuer: ISSUER, issuedAtMs: NOW };
    await expect(signReport({ kind: 'error' }, signing)).rejects.toMatchObject({
      code: 'report.SIGNED_INVALID',
    });
  });
});
