import type { Check, CheckState, Finding } from '../../../src/verify/report.ts';
import { describe, expect, it } from 'vitest';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { CheckId } from '../../../src/verify/checks.ts';
import { finding } from '../../../src/verify/finding.ts';
import {
  findBundleStanding,
  findListStanding,
  compareStandings,
  type SignatureStanding,
} from '../../../src/verify/signature/standing.ts';

const signer = { issuer: 'acme-ci', keyId: 'key-1', issuedAtMs: 1 };
const other = { issuer: 'acme-ci', keyId: 'key-2', issuedAtMs: 1 };
const makeFindings = (...codes: Code[]): Finding[] =>
  codes.map((code) => finding(code, 'b', { message: 'so it is' }));
const makeChecks = (states: Partial<Record<CheckId, CheckState>>): Check[] =>
  Object.entries(states).map(([id, state]) => ({ id: id as CheckId, state }));

const rateList = (states: Partial<Record<CheckId, CheckState>>, ...codes: Code[]) =>
  findListStanding({ checks: makeChecks(states), findings: makeFindings(...codes), completeness: 'claimed' })
    .standing;

const makeStanding = (over: Partial<SignatureStanding> = {}): SignatureStanding => ({
  kind: 'bundle',
  id: 'b',
  standing: 'stands',
  codes: [],
  ...over,
});

const effectOf = (before: Partial<SignatureStanding>, after: Partial<SignatureStanding>) =>
  compareStandings([makeStanding(before)], [makeStanding(after)])[0];

describe('the standing of a bundle', () => {
  const sound = { checks: [], findings: [] };
  const rate = (bundle: Partial<Parameters<typeof findBundleStanding>[0]>): string =>
    findBundleStanding({ ...sound, ...bundle }).standing;

  it('names the bundle by its id, else by its path, else as a bundle', () => {
    const base = { kind: 'bundle', standing: 'unread', codes: [] };
    const named = findBundleStanding({ ...sound, evidenceBundleId: 'b', path: 'p' });
    expect(named).toStrictEqual({ ...base, id: 'b', path: 'p' });
    expect(findBundleStanding({ ...sound, path: 'p' })).toStrictEqual({ ...base, id: 'p', path: 'p' });
    expect(findBundleStanding(sound)).toStrictEqual({ ...base, id: 'bundle' });
  });

  it('has the state `stands` with its signer, whatever the warnings', () => {
    const base = { kind: 'bundle', id: 'bundle', standing: 'stands', codes: [] };
    expect(findBundleStanding({ ...sound, signer, signed: true })).toStrictEqual({ ...base, signer });
    expect(rate({ findings: makeFindings('attestation.TIME_CLAIMED'), signer })).toBe('stands');
  });

  const findings = makeFindings('part.DIGEST_MISMATCH');
  it.each<[string, Parameters<typeof rate>[0], string]>([
    ['unread with an incomplete verdict, even with a signer', { signer, verdict: 'incomplete' }, 'unread'],
    ['valid with a verified verdict', { signer, verdict: 'verified' }, 'stands'],
    ['unsigned if archive or row show no attestation', { signed: false }, 'unsigned'],
    ['unread if the attestation was not verified', { signed: true }, 'unread'],
    ['unread if it is unknown whether there is an attestation', {}, 'unread'],
    ['unread with an error, even with a signer', { findings, signer }, 'unread'],
    ['unread with an error, even if it is unsigned', { findings, signed: false }, 'unread'],
  ])('is %s', (_, bundle, standing) => {
    expect(rate(bundle)).toBe(standing);
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
    const bundle = { findings: makeFindings('trust.KEY_UNKNOWN'), signed: true };
    expect(rate({ ...bundle, checks: makeChecks({ [id]: state }) })).toBe(standing);
  });

  it('has the codes of errors and warnings, each once, and none of facts', () => {
    const [error, fact, warning] = ['trust.KEY_UNKNOWN', 'trust.STORE_ABSENT', 'zip.ORDER_UNUSUAL'] as const;
    const standing = findBundleStanding({ ...sound, findings: makeFindings(error, fact, error, warning) });
    expect(standing.codes).toEqual([error, warning]);
  });
});

describe('the standing of the list of bundles', () => {
  const read = { 'export.manifest': 'passed' } as const;

  it('has the state `stands` when a trusted key signed it', () => {
    const list = { checks: [], findings: [], completeness: 'attested' as const };
    const base = { kind: 'list', standing: 'stands', codes: [] };
    const named = findListStanding({ ...list, evidenceExportId: 'e', signer });
    expect(named).toStrictEqual({ ...base, id: 'e', signer });
    expect(findListStanding(list)).toStrictEqual({ ...base, id: 'export' });
  });

  const attestation = (state: CheckState) => ({ ...read, 'export.attestation': state });
  const absent = attestation('not_applicable');
  it.each<[string, string, ...Parameters<typeof rateList>]>([
    ['unread', 'with a failed manifest', { ...absent, 'export.manifest': 'failed' }],
    ['unread', 'with an unread manifest', { ...absent, 'export.manifest': 'not_checked' }],
    ['unread', 'without a manifest', { 'export.attestation': 'not_applicable' }],
    ['unsigned', 'without an attestation', absent],
    ['refused', 'with an unknown key', attestation('failed'), 'trust.KEY_UNKNOWN'],
    ['refused', 'with an expired key', attestation('failed'), 'trust.KEY_EXPIRED'],
    ['refused', 'with an invalid signature', attestation('failed'), 'attestation.SIGNATURE_INVALID'],
    ['unread', 'with an invalid attestation', attestation('failed'), 'json.INVALID'],
    ['unread', 'with an unreadable attestation', attestation('failed'), 'io.UNREADABLE'],
    ['unread', 'if the attestation was not checked', attestation('not_checked'), 'trust.KEY_UNKNOWN'],
    ['unread', 'if the attestation has no state', read, 'trust.KEY_UNKNOWN'],
  ])('is %s %s', (standing, _, states, ...codes) => {
    expect(rateList(states, ...codes)).toBe(standing);
  });
});

describe('the effect of a change of the trust store on one signature', () => {
  it('names the bundle or the list', () => {
    const base = { outcome: 'stands', codes: [] };
    expect(effectOf({}, {})).toStrictEqual({ ...base, kind: 'bundle', id: 'b' });
    const list = { kind: 'list', id: 'e', path: 'p' } as const;
    expect(effectOf(list, {})).toStrictEqual({ ...base, ...list });
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
    const [first] = codes;
    const listCodes = (before: SignatureStanding['standing'], after: SignatureStanding['standing']) =>
      effectOf({ standing: before, codes: [first] }, { standing: after, codes })?.codes;
    expect(listCodes('refused', 'refused')).toEqual(codes);
    expect(listCodes('stands', 'unread')).toEqual(codes);
    expect(listCodes('stands', 'refused')).toEqual(codes.slice(1));
    expect(listCodes('unsigned', 'unsigned')).toEqual(codes.slice(1));
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
    expect(() => compareStandings([makeStanding()], [])).toThrow(TypeError);
    expect(() => compareStandings([], [makeStanding()])).toThrow(TypeError);
  });
});
