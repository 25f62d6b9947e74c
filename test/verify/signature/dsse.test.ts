import { beforeAll, describe, expect, it } from 'vitest';
import { memoryAccess, platform as portable, toUtf8 } from '../../../src/bytes/index.ts';
import {
  attestDsse,
  attestExportDsse,
  DEFAULT_LIMITS,
  exportStatement,
  memorySource,
  parseAttestation,
  type Statement,
} from '../../../src/evidence/index.ts';
import { readZipWithYauzl } from '../../../src/node/second-opinion/index.ts';
import {
  dsseBytes,
  parseDsse,
  signDsse,
  trustStore,
  type Signer,
  type TrustStore,
} from '../../../src/trust/index.ts';
import { decide, stateOf as stateOfRule } from '../../policy/make.ts';
import { verifyDsse, verifyExport, verifyPart } from '../../../src/verify/index.ts';
import {
  codesOf,
  errorsOf,
  EXPORT_ID,
  ISSUER,
  makeExport,
  makePart,
  makeSigner,
  makeSigning,
  makeTrust,
  NOW,
  ORGANIZATION,
  PROJECT,
  stateOf,
  unpack,
  type MadeExport,
} from '../../support/evidence.ts';

type Side = {
  signer: Signer;
  signed: Uint8Array;
  unsigned: Uint8Array;
  manifest: Uint8Array;
  statement: Statement;
  dsse: Uint8Array;
};

async function side(n: number): Promise<Side> {
  const signer = makeSigner();
  const [signed, unsigned] = [(await makePart(n, signer)).bytes, (await makePart(n)).bytes];
  const entries = await unpack(signed);
  const { statement } = parseAttestation(entries.get('attestation.json')!);
  const dsse = dsseBytes(await attestDsse(statement, [signer]));
  return { signer, signed, unsigned, manifest: entries.get('manifest.json')!, statement, dsse };
}

const [a, b] = await Promise.all([side(1), side(2)]);
const both = trustStore([...makeTrust(a.signer).keys, ...makeTrust(b.signer).keys]);

const secondOpinion = { p256: portable.p256, readZip: readZipWithYauzl };
const part = (bytes: Uint8Array, dsse: Uint8Array, options = {}) =>
  verifyPart(memoryAccess(bytes), { asOfMs: NOW, trust: both, dsse, ...options });
const alone = (dsse: Uint8Array, options = {}) =>
  verifyDsse(dsse, { asOfMs: NOW, trust: both, manifest: a.manifest, ...options });

describe('an envelope given with a part', () => {
  it('replaces the attestation of a part that has none', async () => {
    const report = await part(a.unsigned, a.dsse, { secondOpinion });
    expect(report).toMatchObject({ verdict: 'verified', provenance: 'attested', signed: false });
    expect(report.signer).toEqual({ issuer: ISSUER, keyId: a.signer.keyId, issuedAtMs: NOW - 50_000 });
    expect(codesOf(report)).toEqual([]);
    expect(report.coverage.attestedBytes).toBe(report.coverage.coveredBytes);
  });

  it('leaves a part intact without a trust store, and at depth digest', async () => {
    const untrusting = await verifyPart(memoryAccess(a.unsigned), { asOfMs: NOW, dsse: a.dsse });
    expect(untrusting.verdict).toBe('intact');
    expect(stateOf(untrusting, 'dsse.attestation')).toBe('not_checked');
    const shallow = await part(a.unsigned, a.dsse, { depth: 'digest' });
    expect(shallow.verdict).toBe('incomplete');
    expect(stateOf(shallow, 'dsse.attestation')).toBe('not_checked');
  });

  it('credits the issuer that the statement names, and never another name of its key', async () => {
    const alias = makeTrust(a.signer, { issuer: 'https://aaa.example' });
    const trust = trustStore([...makeTrust(a.signer).keys, ...alias.keys]);
    for (const bytes of [a.unsigned, a.signed]) {
      const report = await part(bytes, a.dsse, { trust });
      expect(new Set(report.signers?.map(({ issuer }) => issuer))).toEqual(new Set([ISSUER]));
      const states = [ISSUER, 'https://aaa.example'].map((issuer) =>
        stateOfRule(
          decide({ signers: { issuers: [issuer] } }, [{ name: 'a', report }], NOW),
          'signers.issuers',
        ),
      );
      expect(states).toEqual(['passed', 'failed']);
    }
    const stranger = await part(a.unsigned, a.dsse, { trust: alias });
    expect([stranger.verdict, stranger.signers]).toEqual(['failed', undefined]);
  });

  it('credits a countersignature to the only issuer of its key, and to none where there are two', async () => {
    const twice = dsseBytes(await signDsse(parseDsse(a.dsse), [a.signer, b.signer]));
    const named = (...issuers: string[]) =>
      trustStore([
        ...makeTrust(a.signer).keys,
        ...issuers.flatMap((issuer) => makeTrust(b.signer, { issuer }).keys),
      ]);
    const issuersOf = async (trust: TrustStore) =>
      (await part(a.unsigned, twice, { trust })).signers?.map(({ issuer }) => issuer);
    expect(await issuersOf(named('qa'))).toEqual([ISSUER, 'qa']);
    expect(await issuersOf(named('qa', 'aa'))).toEqual([ISSUER]);
    expect(await issuersOf(named('aa', ISSUER))).toEqual([ISSUER, ISSUER]);
  });
});

type Members = { payload: string; payloadType: string; signatures: [{ keyid: string; sig: string }] };

describe('envelopes put together from two valid ones', () => {
  it('are refused whichever bit of payload or signature is flipped', async () => {
    const text = new TextDecoder().decode(a.dsse);
    const { payload, signatures } = JSON.parse(text) as Members;
    for (const [name, value] of [
      ['payload', payload],
      ['sig', signatures[0].sig],
    ] as const) {
      const bytes = Buffer.from(value, 'base64');
      for (let at = 0; at < bytes.length; at += name === 'sig' ? 1 : 37) {
        const copy = Buffer.from(bytes);
        copy[at]! ^= 1 << (at % 8);
        const report = alone(toUtf8(text.replace(value, copy.toString('base64'))));
        expect([name, at, report.verdict]).toEqual([name, at, 'invalid']);
      }
    }
  });
});

const limitOf = (documentBytes: number) => ({ limits: { ...DEFAULT_LIMITS, documentBytes } });

describe('an envelope by itself', () => {
  it('is valid and bound to nothing without a manifest', () => {
    const report = alone(a.dsse, { manifest: undefined });
    expect(report.verdict).toBe('valid');
    expect(stateOf(report, 'attestation.binding')).toBe('not_checked');
  });

  it.each([
    ['another project', { projects: ['prj_000000000009'] }],
    ['another organization', { organizations: ['org_000000000009'] }],
    ['exports alone', { purposes: ['export'] }],
  ] as const)('does not count a further key for %s', async (_, rest) => {
    const dsse = dsseBytes(await attestDsse(a.statement, [a.signer, b.signer]));
    const trust = trustStore([...makeTrust(a.signer).keys, ...makeTrust(b.signer, rest).keys]);
    expect(errorsOf(alone(dsse, { threshold: 2, trust }))).toEqual(['dsse.THRESHOLD_MISSED']);
  });

  it('counts a further key for its project and organization', async () => {
    const dsse = dsseBytes(await attestDsse(a.statement, [a.signer, b.signer]));
    const limits = { projects: [PROJECT], organizations: [ORGANIZATION] };
    const trust = trustStore([...makeTrust(a.signer).keys, ...makeTrust(b.signer, limits).keys]);
    expect(alone(dsse, { threshold: 2, trust })).toMatchObject({ verdict: 'valid', findings: [] });
  });

  it('is not read beyond the limit of documents', () => {
    expect(alone(a.dsse, limitOf(a.dsse.length)).verdict).toBe('valid');
    const report = alone(a.dsse, limitOf(a.dsse.length - 1));
    expect([report.verdict, stateOf(report, 'dsse.envelope')]).toEqual(['invalid', 'failed']);
  });

  it.each([0, -1, 1.5, NaN])('is refused with a threshold of %d', (threshold) => {
    expect(() => alone(a.dsse, { threshold })).toThrow(TypeError);
  });
});

it.each([
  ['a whole organization', { kind: 'organization' }, 'failed'],
  ['its project', { kind: 'project', projectId: PROJECT }, 'verified'],
] as const)('a key for one project speaks of the list of %s: %s', async (_, scope, wanted) => {
  const made = await makeExport({ signer: a.signer, signedList: false, input: { scope } });
  const { manifest, manifestDigest } = made.packed;
  const statement = exportStatement(manifest, manifestDigest, makeSigning(a.signer));
  const dsse = dsseBytes(await attestExportDsse(statement, [a.signer]));
  const trust = makeTrust(a.signer, { projects: [PROJECT] });
  const report = await verifyExport(memorySource(made.files), { asOfMs: NOW, trust, dsse });
  expect(report.verdict).toBe(wanted);
  const elsewhere = makeTrust(a.signer, { projects: ['prj_000000000009'] });
  const { findings } = verifyDsse(dsse, {
    asOfMs: NOW,
    trust: elsewhere,
    purpose: 'export',
    manifest: made.files['manifest.json']!,
  });
  expect(findings.map(({ code }) => code)).toContain('trust.PROJECT_MISMATCH');
});

describe('an envelope given with an export', () => {
  let made: MadeExport;
  let dsse: Uint8Array;
  beforeAll(async () => {
    made = await makeExport({ signer: a.signer, signedList: false });
    const { manifest, manifestDigest } = made.packed;
    const statement = exportStatement(manifest, manifestDigest, makeSigning(a.signer));
    dsse = dsseBytes(await attestExportDsse(statement, [a.signer]));
  });
  const verify = (options: object) =>
    verifyExport(memorySource(made.files), { asOfMs: NOW, trust: both, ...options });

  it('attests the list of bundles as an export attestation does', async () => {
    expect((await verify({})).completeness).toBe('claimed');
    const report = await verify({ dsse });
    expect(report).toMatchObject({
      verdict: 'verified',
      completeness: 'attested',
      evidenceExportId: EXPORT_ID,
    });
    expect(report.signer?.keyId).toBe(a.signer.keyId);
    expect(report.parts.every(({ checks }) => checks.every(({ id }) => id !== 'dsse.attestation'))).toBe(
      true,
    );
  });
});
