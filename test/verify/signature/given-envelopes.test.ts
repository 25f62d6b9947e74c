import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countFindings } from '../../../src/verify/finding.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { attestDsse, attestExportDsse } from '../../../src/evidence/in-toto.ts';
import { buildExportStatement } from '../../../src/evidence/export/pack-export.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import type { PackedBundle } from '../../../src/evidence/bundle/pack-bundle.ts';
import { encodeDsse, parseDsse } from '../../../src/trust/dsse.ts';
import { trustStore, type TrustStore } from '../../../src/trust/store.ts';
import type { Signer } from '../../../src/trust/key/signer.ts';
import { MAX_ENVELOPES } from '../../../src/verify/signature/dsse.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { verifyPart } from '../../../src/verify/part/part.ts';
import type { ExportReport } from '../../../src/verify/report.ts';
import {
  codesOf,
  errorsOf,
  makeExport,
  makePart,
  makeSigner,
  makeSigning,
  makeTrust,
  NOW,
  stateOf,
  type MadeExport,
} from '../../support/evidence.ts';
import { forAllAsync } from '../../support/property.ts';
import { omitFiles } from '../sources.ts';

const PART = 'parts/evidence_000000000001.zip';

const [a, b, c] = [makeSigner(), makeSigner(), makeSigner()];
const keys = (...signers: readonly Signer[]): TrustStore =>
  trustStore(signers.flatMap((signer) => makeTrust(signer).keys));
const all = keys(a, b, c);

const unsigned = await makeExport({ signer: a, parts: 3, signedParts: false, signedList: false });
const signed = await makeExport({ signer: a, parts: 3, signedList: false });
const stranger = (await makePart(9)).packed;

/** An envelope about the bundle of that number; the exports have 1 to 3. */
async function sign(n: number, signer: Signer): Promise<Uint8Array> {
  const { packed } = await makePart(n, signer);
  return encodeDsse(await attestDsse(packed.attestation!.statement, [signer]));
}

async function signList({ packed }: MadeExport, signer: Signer): Promise<Uint8Array> {
  const statement = buildExportStatement(packed.manifest, packed.manifestDigest, makeSigning(signer));
  return encodeDsse(await attestExportDsse(statement, [signer]));
}

const verify = (sample: MadeExport, dsse: Uint8Array | readonly Uint8Array[], options = {}) =>
  verifyExport(memorySource(sample.files), { asOfMs: NOW, trust: all, dsse, ...options });
const verifyFirst = (...dsse: readonly Uint8Array[]) =>
  verifyPart(memoryAccess(unsigned.files[PART]!), { asOfMs: NOW, trust: all, dsse });
const verdictsOf = ({ parts }: ExportReport): string[] => parts.map(({ verdict }) => verdict);
const signersOf = ({ parts }: ExportReport): number[] =>
  parts.map(({ signers = [] }) => new Set(signers.map(({ thumbprint }) => thumbprint)).size);

const hexOf = ({ manifestDigest }: PackedBundle): string => manifestDigest.slice('sha256:'.length);

describe('envelopes from the caller for an export', () => {
  it('replace the attestations of the bundles that they are about, and change no other bundle', async () => {
    const report = await verify(unsigned, [await sign(1, a), await sign(3, b)]);
    expect(verdictsOf(report)).toEqual(['verified', 'intact', 'verified']);
    expect(report.parts.map(({ signer }) => signer?.keyId)).toEqual([a.keyId, undefined, b.keyId]);
    const states = [...report.parts, report].map((part) => stateOf(part, 'dsse.attestation'));
    expect(states).toEqual(['passed', undefined, 'passed', undefined]);
    expect(report.verdict).toBe('intact');
    expect(codesOf(report.parts[1]!)).toEqual(['bundle.UNSIGNED']);
  });

  it('count in addition to its attestations and to each other, each key once', async () => {
    const dsse = [await sign(1, b), await sign(1, c), await sign(2, a), await sign(3, b)];
    const report = await verify(signed, dsse);
    expect([report.verdict, signersOf(report)]).toEqual(['verified', [3, 1, 2]]);
    expect(report.parts[0]!.signers?.map(({ in: place }) => place)).toEqual(['attestation', 'dsse', 'dsse']);
    const again = await verify(signed, [dsse[0]!, dsse[0]!]);
    expect([again.verdict, signersOf(again)]).toEqual(['verified', [2, 1, 1]]);
  });

  it('may be about the list and about bundles at the same time', async () => {
    const dsse = [await sign(1, b), await signList(unsigned, a), await sign(2, b), await sign(3, b)];
    const report = await verify(unsigned, [...dsse, await signList(unsigned, c)]);
    expect(report).toMatchObject({ verdict: 'verified', completeness: 'attested' });
    expect(report.signer?.keyId).toBe(a.keyId);
    expect(stateOf(report, 'dsse.attestation')).toBe('passed');
  });

  it('give the same result in every order, except for the first signer', async () => {
    const dsse = [await sign(1, b), await sign(2, a), await sign(3, c), await signList(unsigned, a)];
    await forAllAsync(10, [fc.shuffledSubarray(dsse, { minLength: 4 })], async (order) => {
      expect(await verify(unsigned, order)).toEqual(await verify(unsigned, dsse));
    });
  });

  it('change nothing when there are none', async () => {
    const without = await verifyExport(memorySource(signed.files), { asOfMs: NOW, trust: all });
    expect(await verify(signed, [])).toEqual(without);
  });

  it('may be a single one, in a list or not', async () => {
    const dsse = await signList(signed, a);
    expect(await verify(signed, [dsse])).toEqual(await verify(signed, dsse));
    expect((await verify(signed, await sign(1, b))).verdict).toBe('verified');
  });

  it('leave parts intact without a trust store, and at depth digest', async () => {
    const dsse = [await sign(1, a), await sign(2, a), await sign(3, a)];
    for (const options of [{ trust: undefined }, { depth: 'digest' as const }]) {
      const report = await verify(unsigned, dsse, options);
      expect(report.verdict).toBe('intact');
      for (const part of report.parts) expect(stateOf(part, 'dsse.attestation')).toBe('not_checked');
    }
  });

  it('are not_checked when a part is missing or the manifest cannot be read', async () => {
    const dsse = [await sign(1, a), await sign(2, a)];
    const missing = await verify({ ...unsigned, files: omitFiles(unsigned.files, PART) }, dsse);
    expect(missing.verdict).toBe('failed');
    expect(stateOf(missing.parts[0]!, 'dsse.attestation')).toBe('not_checked');
    const broken = { ...unsigned.files, 'manifest.json': toUtf8('{}') };
    const report = await verify({ ...unsigned, files: broken }, dsse);
    expect([report.verdict, stateOf(report, 'dsse.attestation')]).toEqual(['failed', 'not_checked']);
  });

  it('reach the function of the caller that verifies the part', async () => {
    const seen: string[][] = [];
    await verify(unsigned, [await sign(2, a), await signList(unsigned, a), await sign(2, b)], {
      startThreads:
        () =>
        (_path: string, { envelopes = [] }: { envelopes?: readonly { path: string }[] }) => {
          seen.push(envelopes.map(({ path }) => path));
        },
    });
    expect(seen).toEqual([[], ['dsse/0', 'dsse/2'], []]);
  });
});

describe('an envelope that is wrong', () => {
  it('fails the export when it is about a bundle that is not in it, and has a finding', async () => {
    const dsse = [await sign(1, a), await sign(9, a)];
    const report = await verify(unsigned, dsse);
    expect(report).toMatchObject({ verdict: 'failed', completeness: 'claimed' });
    expect(report.findings.find(({ code }) => code === 'dsse.SUBJECT_UNKNOWN')).toMatchObject({
      path: 'dsse/1#/payload#/subject/0/digest/sha256',
      actual: stranger.manifestDigest,
    });
    expect(errorsOf(report)).toEqual(['dsse.SUBJECT_UNKNOWN']);
    expect(stateOf(report, 'dsse.attestation')).toBe('failed');
    expect(verdictsOf(report)).toEqual(['verified', 'intact', 'intact']);
  });

  it.each([
    ['so that no envelope about the list counts', all],
    ['without a trust store, too', undefined],
  ])('fails the export %s', async (_, trust) => {
    const dsse = [await signList(signed, a), await sign(9, a)];
    const report = await verify(signed, dsse, { trust });
    expect(report).toMatchObject({ verdict: 'failed', completeness: 'claimed' });
    expect([report.signer, stateOf(report, 'dsse.attestation')]).toEqual([undefined, 'failed']);
  });

  it('fails the export when it is about the list of another', async () => {
    const dsse = [await sign(1, a), await signList(await makeExport({ parts: 1, reports: 0 }), a)];
    expect(errorsOf(await verify(unsigned, dsse))).toEqual(['export.ATTESTATION_SUBJECT_MISMATCH']);
  });

  it('never counts for another bundle of the export, even with another subject outside the predicate', async () => {
    const [first, second] = [parseDsse(await sign(1, a)), parseDsse(await sign(2, a))];
    const swapped = encodeDsse({ ...first, signatures: second.signatures });
    const report = await verify(unsigned, [swapped]);
    expect(verdictsOf(report)).toEqual(['failed', 'intact', 'intact']);
    expect(errorsOf(report.parts[0]!)).toEqual(['attestation.SIGNATURE_INVALID']);
    const text = new TextDecoder().decode(first.payload);
    const [from, to] = unsigned.packedParts.map((bundle) => `{"sha256":"${hexOf(bundle)}"}`);
    const redirected = text.replace(from!, to!);
    expect(redirected).not.toBe(text);
    const forged = await verify(unsigned, [encodeDsse({ ...first, payload: toUtf8(redirected) })]);
    expect(verdictsOf(forged)).toEqual(['intact', 'failed', 'intact']);
    expect(errorsOf(forged.parts[1]!)).toEqual(['dsse.SUBJECT_MISMATCH']);
  });

  it('fails its bundle whatever else signed it, and no other key counts', async () => {
    const good = await sign(1, b);
    const report = await verify(signed, [good, await sign(1, c)], { trust: keys(a, b) });
    expect(verdictsOf(report)).toEqual(['failed', 'verified', 'verified']);
    expect(errorsOf(report.parts[0]!)).toEqual(['trust.KEY_UNKNOWN']);
    const finding = report.parts[0]!.findings.find(({ code }) => code === 'trust.KEY_UNKNOWN');
    expect(finding?.path).toMatch(/^dsse\/1/);
    expect(signersOf(report)).toEqual([1, 1, 1]);
  });
});

it('envelopes from the caller for a single part add up their keys, and each must be about the part', async () => {
  const both = await verifyFirst(await sign(1, a), await sign(1, b));
  expect([both.verdict, both.signers?.map(({ keyId }) => keyId)]).toEqual(['verified', [a.keyId, b.keyId]]);
  const wrong = await verifyFirst(await sign(1, a), await sign(2, a));
  expect([wrong.verdict, wrong.signers]).toEqual(['failed', undefined]);
  expect(errorsOf(wrong)).toContain('attestation.SUBJECT_MISMATCH');
});

describe('the limits of envelopes', () => {
  it('are 10,000 envelopes, each of which is verified', async () => {
    const many = Array.from({ length: MAX_ENVELOPES }, () => toUtf8('{}'));
    const report = await verify(unsigned, many);
    const invalid = report.findings.filter(({ code }) => code === 'dsse.INVALID');
    const each = (await verify(unsigned, [toUtf8('{}')])).findings.filter(
      ({ code }) => code === 'dsse.INVALID',
    );
    expect([invalid.length, countFindings(invalid)]).toEqual([100, MAX_ENVELOPES * each.length]);
    await expect(verify(unsigned, [...many, toUtf8('{}')])).rejects.toThrow(TypeError);
  });

  it.each([
    [0, 'verified'],
    [1, 'failed'],
  ])('are 1 MiB for each: with %d bytes more the part is %s', async (more, verdict) => {
    const envelope = await sign(1, a);
    const padded = new Uint8Array(2 ** 20 + more).fill(0x20);
    padded.set(envelope);
    expect((await verifyFirst(padded)).verdict).toBe(verdict);
    expect(errorsOf(await verify(unsigned, [padded]))).toEqual(more === 0 ? [] : ['json.TOO_LARGE']);
  });
});
