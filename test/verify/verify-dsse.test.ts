import { describe, expect, it } from 'vitest';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { attestDsse, attestExportDsse } from '../../src/evidence/in-toto.ts';
import { DEFAULT_LIMITS } from '../../src/evidence/document.ts';
import { buildExportStatement } from '../../src/evidence/export/pack-export.ts';
import { memorySource } from '../../src/evidence/source.ts';
import { secondOpinion } from '../../src/node/second-opinion/second-opinion.ts';
import { encodeDsse, parseDsse, signDsse } from '../../src/trust/dsse.ts';
import { trustStore, type TrustStore } from '../../src/trust/store.ts';
import { decide, stateOf as stateOfRule } from '../policy/make.ts';
import { verifyDsse } from '../../src/verify/verify-dsse.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import { verifyPart } from '../../src/verify/part/part.ts';
import {
  codesOf,
  errorsOf,
  EXPORT_ID,
  flipBit,
  ISSUER,
  makeExport,
  makeSigner,
  makeSigning,
  makeTrust,
  NOW,
  ORGANIZATION,
  PROJECT,
  stateOf,
} from '../support/evidence.ts';
import { attestation, dsse as envelope, packed, part as signed, signer, unsigned } from './part/setup.ts';

const second = makeSigner();
const trustBoth = (...limits: Parameters<typeof makeTrust>[1][]): TrustStore =>
  trustStore([...makeTrust(signer).keys, ...limits.flatMap((rest) => makeTrust(second, rest).keys)]);
const both = trustBoth({});

const verifyWith = (bytes: Uint8Array, dsse: Uint8Array, options = {}) =>
  verifyPart(memoryAccess(bytes), { asOfMs: NOW, trust: both, dsse, ...options });
const verifyAlone = (dsse: Uint8Array, options = {}) =>
  verifyDsse(dsse, { asOfMs: NOW, trust: both, manifest: canonicalBytes(packed.manifest), ...options });

describe('an envelope from the caller for a part', () => {
  it('replaces the attestation of a part that has none', async () => {
    const report = await verifyWith(unsigned, envelope, { secondOpinion });
    expect(report).toMatchObject({ verdict: 'verified', provenance: 'attested', signed: false });
    expect(report.signer).toEqual({ issuer: ISSUER, keyId: signer.keyId, issuedAtMs: NOW - 50_000 });
    expect(codesOf(report)).toEqual([]);
    expect(report.coverage.attestedBytes).toBe(report.coverage.coveredBytes);
  });

  it('credits the issuer that the statement names, and never another name of its key', async () => {
    const alias = makeTrust(signer, { issuer: 'https://aaa.example' });
    const trust = trustStore([...makeTrust(signer).keys, ...alias.keys]);
    for (const bytes of [unsigned, signed]) {
      const report = await verifyWith(bytes, envelope, { trust });
      expect(new Set(report.signers?.map(({ issuer }) => issuer))).toEqual(new Set([ISSUER]));
      const [decision, other] = [ISSUER, 'https://aaa.example'].map((issuer) =>
        decide({ signers: { issuers: [issuer] } }, [{ name: 'a', report }], NOW),
      );
      expect(stateOfRule(decision!, 'signers.issuers')).toBe('passed');
      expect(stateOfRule(other!, 'signers.issuers')).toBe('failed');
    }
    const stranger = await verifyWith(unsigned, envelope, { trust: alias });
    expect([stranger.verdict, stranger.signers]).toEqual(['failed', undefined]);
  });

  it('credits a countersignature to the only issuer of its key, and to none if there are two', async () => {
    const twice = encodeDsse(await signDsse(parseDsse(envelope), [signer, second]));
    const issuersOf = async (...issuers: string[]) => {
      const trust = trustBoth(...issuers.map((issuer) => ({ issuer })));
      return (await verifyWith(unsigned, twice, { trust })).signers?.map(({ issuer }) => issuer);
    };
    expect(await issuersOf('qa')).toEqual([ISSUER, 'qa']);
    expect(await issuersOf('qa', 'aa')).toEqual([ISSUER]);
    expect(await issuersOf('aa', ISSUER)).toEqual([ISSUER, ISSUER]);
  });
});

type Members = { payload: string; signatures: [{ sig: string }] };

it('an envelope with any flipped bit in payload or signature is refused', () => {
  const text = new TextDecoder().decode(envelope);
  const { payload, signatures } = JSON.parse(text) as Members;
  for (const [value, stride] of [
    [payload, 37],
    [signatures[0].sig, 1],
  ] as const) {
    const bytes = Buffer.from(value, 'base64');
    for (let at = 0; at < bytes.length; at += stride) {
      const changed = Buffer.from(flipBit(bytes, at)).toString('base64');
      expect([at, verifyAlone(toUtf8(text.replace(value, changed))).verdict]).toEqual([at, 'invalid']);
    }
  }
});

const limitOf = (documentBytes: number) => ({ limits: { ...DEFAULT_LIMITS, documentBytes } });

describe('an envelope by itself', () => {
  it('is valid and bound to nothing without a manifest', () => {
    const report = verifyAlone(envelope, { manifest: undefined });
    expect(report.verdict).toBe('valid');
    expect(stateOf(report, 'attestation.binding')).toBe('not_checked');
  });

  it.each([
    ['another project', { projects: ['prj_000000000009'] }],
    ['another organization', { organizations: ['org_000000000009'] }],
    ['exports alone', { purposes: ['export'] }],
  ] as const)('does not count a further key for %s', async (_, rest) => {
    const dsse = encodeDsse(await attestDsse(attestation.statement, [signer, second]));
    const trust = trustBoth(rest);
    expect(errorsOf(verifyAlone(dsse, { threshold: 2, trust }))).toEqual(['dsse.THRESHOLD_MISSED']);
  });

  it('counts a further key for its project and organization', async () => {
    const dsse = encodeDsse(await attestDsse(attestation.statement, [signer, second]));
    const limits = { projects: [PROJECT], organizations: [ORGANIZATION] };
    const report = verifyAlone(dsse, { threshold: 2, trust: trustBoth(limits) });
    expect(report).toMatchObject({ verdict: 'valid', findings: [] });
    expect(report.signers?.map(({ keyId }) => keyId)).toEqual([signer.keyId, second.keyId]);
  });

  it('does not state that enough trusted keys signed it if none did', () => {
    const report = verifyAlone(envelope, { trust: makeTrust(second) });
    expect([report.verdict, stateOf(report, 'dsse.threshold')]).toEqual(['invalid', 'failed']);
    expect(stateOf(verifyAlone(envelope, {}), 'dsse.threshold')).toBe('passed');
  });

  it('does not state that enough trusted keys signed it if the named key is trusted for another issuer', () => {
    const report = verifyAlone(envelope, { trust: makeTrust(signer, { issuer: 'another' }) });
    expect([report.verdict, stateOf(report, 'attestation.key'), stateOf(report, 'dsse.threshold')]).toEqual([
      'invalid',
      'failed',
      'not_checked',
    ]);
  });

  it('is not read beyond the limit of documents', () => {
    expect(verifyAlone(envelope, limitOf(envelope.length)).verdict).toBe('valid');
    const report = verifyAlone(envelope, limitOf(envelope.length - 1));
    expect([report.verdict, stateOf(report, 'dsse.envelope')]).toEqual(['invalid', 'failed']);
  });

  it.each([0, -1, 1.5, NaN])('is refused with a threshold of %d', (threshold) => {
    expect(() => verifyAlone(envelope, { threshold })).toThrow(TypeError);
  });
});

/** An export with an envelope about its list. */
async function makeListed(input: Parameters<typeof makeExport>[0] = {}) {
  const sample = await makeExport({ signer, signedList: false, ...input });
  const { manifest, manifestDigest } = sample.packed;
  const statement = buildExportStatement(manifest, manifestDigest, makeSigning(signer));
  return { sample, dsse: encodeDsse(await attestExportDsse(statement, [signer])) };
}

it.each([
  ['a whole organization', { kind: 'organization' }, 'failed'],
  ['its project', { kind: 'project', projectId: PROJECT }, 'verified'],
] as const)('with a key for one project, the list of %s is %s', async (_, scope, verdict) => {
  const { sample, dsse } = await makeListed({ input: { scope } });
  const trust = makeTrust(signer, { projects: [PROJECT] });
  const report = await verifyExport(memorySource(sample.files), { asOfMs: NOW, trust, dsse });
  expect(report.verdict).toBe(verdict);
  const elsewhere = makeTrust(signer, { projects: ['prj_000000000009'] });
  const manifest = sample.files['manifest.json']!;
  const alone = verifyDsse(dsse, { asOfMs: NOW, trust: elsewhere, purpose: 'export', manifest });
  expect(codesOf(alone)).toContain('trust.PROJECT_MISMATCH');
});

it('an envelope from the caller attests the list of bundles as an export attestation does', async () => {
  const { sample, dsse } = await makeListed();
  const source = memorySource(sample.files);
  expect((await verifyExport(source, { asOfMs: NOW, trust: both })).completeness).toBe('claimed');
  const report = await verifyExport(source, { asOfMs: NOW, trust: both, dsse });
  const facts = { verdict: 'verified', completeness: 'attested', evidenceExportId: EXPORT_ID };
  expect(report).toMatchObject({ ...facts, signer: { keyId: signer.keyId } });
  for (const part of report.parts) expect(stateOf(part, 'dsse.attestation')).toBeUndefined();
});
