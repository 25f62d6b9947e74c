import type { Check, CheckState, Finding } from '../../../src/verify/report.ts';
import { describe, expect, it } from 'vitest';
import type { Code } from '../../../src/codes/index.ts';
import type { CheckId } from '../../../src/verify/checks.ts';
import { finding } from '../../../src/verify/finding.ts';
import {
  findBundleStanding,
  findListStanding,
  compareStandings,
  type SignatureStanding,
} from '../../../src/verify/index.ts';

const signer = { issuer: 'acme-ci', keyId: 'key-1', issuedAtMs: 1 };
const other = { issuer: 'acme-ci', keyId: 'key-2', issuedAtMs: 1 };
const of = (...codes: Code[]): Finding[] => codes.map((code) => finding(code, 'b', { message: 'so it is' }));
const checksOf = (states: Partial<Record<CheckId, CheckState>>): Check[] =>
  Object.entries(states).map(([id, state]) => ({ id: id as CheckId, state }));

const standingOf = (states: Partial<Record<CheckId, CheckState>>, ...codes: Code[]) =>
  findListStanding({ checks: checksOf(states), findings: of(...codes), completeness: 'claimed' }).standing;

const signatureOf = (over: Partial<SignatureStanding> = {}): SignatureStanding => ({
  kind: 'bundle',
  id: 'b',
  standing: 'stands',
  codes: [],
  ...over,
});

const effectOf = (before: Partial<SignatureStanding>, after: Partial<SignatureStanding>) =>
  compareStandings([signatureOf(before)], [signatureOf(after)])[0];

describe('the standing of a bundle', () => {
  const judged = { checks: [], findings: [] };

  it('names the bundle by its id, else by its path, else as a bundle', () => {
    const base = { kind: 'bundle', standing: 'unread', codes: [] };
    expect(findBundleStanding({ ...judged, evidenceBundleId: 'b', path: 'p' })).toStrictEqual({
      ...base,
      id: 'b',
      path: 'p',
    });
    expect(findBundleStanding({ ...judged, path: 'p' })).toStrictEqual({ ...base, id: 'p', path: 'p' });
    expect(findBundleStanding(judged)).toStrictEqual({ ...base, id: 'bundle' });
  });

  it('has the state `stands` with its signer, whatever the warnings', () => {
    expect(findBundleStanding({ ...judged, signer, signed: true })).toStrictEqual({
      kind: 'bundle',
      id: 'bundle',
      standing: 'stands',
      signer,
      codes: [],
    });
    const warned = findBundleStanding({ checks: [], findings: of('attestation.TIME_CLAIMED'), signer });
    expect(warned.standing).toBe('stands');
  });

  it('is unread with an incomplete verdict, even if a trusted key signed it', () => {
    expect(findBundleStanding({ ...judged, signer, verdict: 'incomplete' }).standing).toBe('unread');
    expect(findBundleStanding({ ...judged, signer, verdict: 'verified' }).standing).toBe('stands');
  });

  it('is unsigned only if the archive or its row shows no attestation', () => {
    expect(findBundleStanding({ ...judged, signed: false }).standing).toBe('unsigned');
    expect(findBundleStanding({ ...judged, signed: true }).standing).toBe('unread');
    expect(findBundleStanding(judged).standing).toBe('unread');
  });

  it.each<[CheckId, CheckState, string]>([
    ['attestation.key', 'failed', 'refused'],
    ['attestation.key', 'passed', 'refused'],
    ['attestation.key', 'not_checked', 'unread'],
    ['attestation.key', 'not_applicable', 'unread'],
    ['attestation.signature', 'failed', 'refused'],
    ['attestation.signature', 'passed', 'refused'],
    ['attestation.signature', 'not_checked', 'unread'],
    ['attestation.format', 'failed', 'unread'],
  ])('with an error, and %s %s: %s', (id, state, standing) => {
    const findings = of('trust.KEY_UNKNOWN');
    expect(findBundleStanding({ checks: checksOf({ [id]: state }), findings, signed: true }).standing).toBe(
      standing,
    );
  });

  it('with an error is never `stands` or `unsigned`', () => {
    const findings = of('part.DIGEST_MISMATCH');
    expect(findBundleStanding({ checks: [], findings, signer }).standing).toBe('unread');
    expect(findBundleStanding({ checks: [], findings, signed: false }).standing).toBe('unread');
  });

  it('has the codes of errors and warnings, each once, and none of facts', () => {
    const findings = of('trust.KEY_UNKNOWN', 'bundle.UNSIGNED', 'trust.KEY_UNKNOWN', 'zip.ORDER_UNUSUAL');
    const told = findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code);
    expect(findings.some(({ severity }) => severity === 'info')).toBe(true);
    expect(findBundleStanding({ checks: [], findings }).codes).toEqual([...new Set(told)]);
  });
});

describe('the standing of the list of bundles', () => {
  const read = { 'export.manifest': 'passed' } as const;

  it('has the state `stands` when a trusted key signed it', () => {
    const list = { checks: [], findings: [], completeness: 'attested' as const };
    const base = { kind: 'list', standing: 'stands', codes: [] };
    expect(findListStanding({ ...list, evidenceExportId: 'e', signer })).toStrictEqual({
      ...base,
      id: 'e',
      signer,
    });
    expect(findListStanding(list)).toStrictEqual({ ...base, id: 'export' });
  });

  it('is unread without a manifest, whatever the state of the attestation', () => {
    for (const state of ['failed', 'not_checked', 'not_applicable'] as const)
      expect(standingOf({ 'export.manifest': state, 'export.attestation': 'not_applicable' })).toBe('unread');
    expect(standingOf({ 'export.attestation': 'not_applicable' })).toBe('unread');
  });

  it('is unsigned without an attestation', () => {
    expect(standingOf({ ...read, 'export.attestation': 'not_applicable' })).toBe('unsigned');
  });

  it.each<[Code, string]>([
    ['trust.KEY_UNKNOWN', 'refused'],
    ['trust.KEY_EXPIRED', 'refused'],
    ['attestation.SIGNATURE_INVALID', 'refused'],
    ['json.INVALID', 'unread'],
    ['io.UNREADABLE', 'unread'],
  ])('with an attestation that failed by %s is %s', (code, standing) => {
    expect(standingOf({ ...read, 'export.attestation': 'failed' }, code)).toBe(standing);
  });

  it('is unread when the attestation was not checked, whatever the findings', () => {
    const states = { ...read, 'export.attestation': 'not_checked' } as const;
    expect(standingOf(states, 'trust.KEY_UNKNOWN')).toBe('unread');
    expect(standingOf(read, 'trust.KEY_UNKNOWN')).toBe('unread');
  });
});

describe('the effect of a change of the trust store on one signature', () => {
  it('names the bundle or the list', () => {
    const base = { outcome: 'stands', codes: [] };
    expect(effectOf({}, {})).toStrictEqual({ ...base, kind: 'bundle', id: 'b' });
    expect(effectOf({ kind: 'list', id: 'e', path: 'p' }, {})).toStrictEqual({
      ...base,
      kind: 'list',
      id: 'e',
      path: 'p',
    });
  });

  it('names the signer if a key of one of the stores is valid for it', () => {
    expect(effectOf({ signer }, { signer: other })?.signer).toBe(signer);
    expect(effectOf({ signer }, { standing: 'refused' })?.signer).toBe(signer);
    expect(effectOf({ standing: 'refused' }, { signer: other })?.signer).toBe(other);
    expect(effectOf({ signer, standing: 'refused' }, { standing: 'refused' })).not.toHaveProperty('signer');
    expect(effectOf({ signer }, { signer, standing: 'unread' })).not.toHaveProperty('signer');
  });

  it('has all codes if it is unread or refused, and otherwise the new ones', () => {
    const codes = ['trust.KEY_UNKNOWN', 'trust.KEY_EXPIRED'] as const;
    const [known] = codes;
    const brings = (before: SignatureStanding['standing'], after: SignatureStanding['standing']) =>
      effectOf({ standing: before, codes: [known] }, { standing: after, codes })?.codes;
    expect(brings('refused', 'refused')).toEqual(codes);
    expect(brings('stands', 'unread')).toEqual(codes);
    expect(brings('stands', 'refused')).toEqual(codes.slice(1));
    expect(brings('unsigned', 'unsigned')).toEqual(codes.slice(1));
  });

  it.each([
    ['stands', 'stands', 'stands'],
    ['stands', 'refused', 'stops'],
    ['refused', 'stands', 'starts'],
    ['refused', 'refused', 'refused'],
    ['unsigned', 'unsigned', 'unsigned'],
    ['unread', 'unread', 'unread'],
    ['stands', 'unread', 'unread'],
    ['unread', 'stands', 'unread'],
    ['unsigned', 'stands', 'starts'],
    ['unsigned', 'refused', 'refused'],
    ['refused', 'unsigned', 'refused'],
    ['stands', 'unsigned', 'stops'],
    ['unsigned', 'unread', 'unread'],
    ['unread', 'unsigned', 'unread'],
  ] as const)('from %s to %s: %s', (before, after, outcome) => {
    expect(effectOf({ standing: before }, { standing: after })?.outcome).toBe(outcome);
  });

  it('is refused between lists about different evidence', () => {
    expect(() => compareStandings([signatureOf()], [])).toThrow(TypeError);
    expect(() => compareStandings([], [signatureOf()])).toThrow(TypeError);
  });
});
