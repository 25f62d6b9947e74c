import { describe, expect, test } from 'vitest';
import { canonicalBytes, canonicalJson } from '../../src/bytes/json/canonical.ts';
import { platform as portable } from '../../src/bytes/platform-portable.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { DrillproofError } from '../../src/errors.ts';
import { publicKeyPem } from '../../src/trust/key/key.ts';
import { resolveTrust } from '../../src/trust/store.ts';
import { verifyAttestation, type VerifyAttestationOptions } from '../../src/verify/verify-attestation.ts';
import { decodeSignature } from '../../src/verify/signature/signed.ts';
import type { AttestationReport } from '../../src/verify/report.ts';
import type { SecondOpinion } from '../../src/verify/options.ts';
import {
  codesOf,
  errorsOf,
  makeSigner,
  makeTrust,
  NOW,
  ORGANIZATION,
  PROJECT,
  stateOf,
} from '../support/evidence.ts';
import { attestation, signer, trust as trusted } from './part/setup.ts';

type Choices = Partial<VerifyAttestationOptions>;
const verifyInput = (input: Uint8Array | string, choices: Choices = {}): AttestationReport =>
  verifyAttestation(input, { asOfMs: NOW, trust: trusted, ...choices });
const verify = (choices: Choices = {}, value: unknown = attestation): AttestationReport =>
  verifyInput(canonicalJson(value), choices);
const verifyWith = (trust: NonNullable<VerifyAttestationOptions['trust']>) =>
  verify({ asOfMs: new Date(NOW), trust });

const readZip = (): never => {
  throw new Error('an attestation has no archive');
};

describe('an attestation alone', () => {
  test('is valid at best: it is bound to no bytes', () => {
    const report = verify();
    const facts = { kind: 'attestation', verdict: 'valid', findings: [] };
    expect(report).toMatchObject({ ...facts, signer: { keyId: signer.keyId } });
    expect(stateOf(report, 'attestation.binding')).toBe('not_checked');
    expect(JSON.stringify(report)).not.toContain('verified');
  });

  test('is not_checked for a limited key until project and organization are given', () => {
    const limits = { projects: [PROJECT], organizations: [ORGANIZATION] };
    const trust = makeTrust(signer, { ...limits, notAfterMs: NOW - 1 });
    for (const scope of [{}, { projectId: PROJECT }, { organizationId: ORGANIZATION }]) {
      const report = verify({ trust, ...scope });
      expect([report.verdict, stateOf(report, 'attestation.key')]).toEqual(['not_checked', 'not_checked']);
      expect(report.signer).toBeUndefined();
      expect(codesOf(report)).toEqual(['attestation.TIME_CLAIMED']);
    }
    expect(verify({ trust, projectId: PROJECT, organizationId: ORGANIZATION }).verdict).toBe('valid');
  });

  test('is invalid with an invalid signature, even if the key could not be checked', () => {
    const edited = structuredClone(attestation);
    edited.statement.issuedAtMs++;
    const report = verify({ trust: makeTrust(signer, { projects: [PROJECT] }) }, edited);
    expect([report.verdict, errorsOf(report)]).toEqual(['invalid', ['attestation.SIGNATURE_INVALID']]);
  });

  test.each([[null], ['text'], [[]], [{}]])('is invalid when it has another form: %j', (value) => {
    const report = verify({}, value);
    expect([report.verdict, errorsOf(report)]).toEqual(['invalid', ['attestation.INVALID']]);
    expect(report.checks.map(({ id, state }) => [id, state])).toEqual([
      ['attestation.format', 'failed'],
      ['attestation.key', 'not_checked'],
      ['attestation.signature', 'not_checked'],
      ['attestation.binding', 'not_checked'],
    ]);
  });

  test.each(['predicateType', 'issuer', 'keyId'] as const)(
    'is invalid with a lone surrogate in %s, which no signed bytes can have',
    (member) => {
      const text = canonicalJson(attestation).replace(`"${member}":"`, `"${member}":"\\ud800`);
      const report = verifyInput(text);
      expect([report.verdict, errorsOf(report)]).toEqual(['invalid', ['json.SURROGATE_LONE']]);
    },
  );

  test('does not hide a fault of the program, which is rethrown', () => {
    const encoded = { path: '/signature', decode: readZip };
    expect(() => decodeSignature(encoded, 'key')).toThrow('no archive');
  });

  test('is parsed from bytes, a Buffer or text', () => {
    const text = canonicalJson(attestation);
    for (const input of [text, toUtf8(text), Buffer.from(text)])
      expect(verifyInput(input).verdict).toBe('valid');
    for (const [input, code] of [
      ['\ud800', 'encoding.UTF8_INVALID'],
      [`${' '.repeat(1024 * 1024)}${text}`, 'json.TOO_LARGE'],
    ] as const) {
      const report = verifyInput(input);
      expect([report.verdict, errorsOf(report)]).toEqual(['invalid', [code]]);
    }
  });

  test('is verified with one key and its issuer in place of a trust store', () => {
    const { issuer } = attestation.statement;
    const key = publicKeyPem(signer.point);
    expect(verifyWith({ key, issuer })).toEqual(verify({ trust: resolveTrust({ key, issuer }) }));
    expect(verifyWith({ key, issuer }).verdict).toBe('valid');
    expect(verifyWith({ key: Buffer.from(key), issuer }).verdict).toBe('valid');
    for (const other of [{ issuer: 'eve' }, { key: publicKeyPem(makeSigner().point) }, { keyId: 'other' }])
      expect(errorsOf(verifyWith({ key, issuer, ...other }))).toEqual(['trust.KEY_UNKNOWN']);
    const invalid = expect.objectContaining({ code: 'trust.KEY_INVALID' });
    expect(() => verifyWith({ key: 'x', issuer })).toThrow(invalid);
    expect(() => verifyWith({ key, issuer: '' })).toThrow(DrillproofError);
    const misspelt = /trust.*isuer.*Did you mean issuer/;
    expect(() => verifyWith({ key, isuer: 'x', issuer } as never)).toThrow(misspelt);
    expect(() => verifyWith({ key } as never)).toThrow(/trust\.issuer/);
  });
});

const p256 = portable.p256;
const opinionOf = (answer: boolean): SecondOpinion => ({
  p256: { ...p256, verifier: () => ({ verify: () => answer }) },
  readZip,
});

/** The findings, without their words and without the members that the catalogue determines. */
const findingsOf = (...how: Parameters<typeof verify>) =>
  verify(...how).findings.map(({ message, class: _class, severity: _severity, ...rest }) => {
    expect(message).not.toBe('');
    return rest;
  });
const stranger = makeTrust(makeSigner());
const eve = makeTrust(signer, { issuer: 'eve' });
const unsound = () => ({ ...attestation, signature: 'AAAA' });
const forged = () => ({ ...attestation, statement: { ...attestation.statement, issuer: 'eve' } });
const opinion = (...how: Parameters<typeof verify>) => stateOf(verify(...how), 'second.crypto');

describe('the report on an attestation alone', () => {
  const at = { subject: 'attestation', path: '' };

  test('names the expected and the actual value', () => {
    const { predicateType, issuedAtMs, subject } = attestation.statement;
    const asOfMs = issuedAtMs - 1;
    const path = '/statement/subject/manifestDigest';
    const types = { evidence: ['x', 'y'], export: [] };
    const cases: [object[], object][] = [
      [
        [{ predicateTypes: types }],
        { code: 'attestation.PREDICATE_UNSUPPORTED', expected: 'x or y', actual: predicateType },
      ],
      [
        [{ asOfMs }],
        { code: 'attestation.ISSUED_IN_FUTURE', expected: `at most ${asOfMs}`, actual: `${issuedAtMs}` },
      ],
      [
        [{ manifestDigest: 'sha256:x' }],
        { path, code: 'attestation.SUBJECT_MISMATCH', expected: 'sha256:x', actual: subject.manifestDigest },
      ],
      [[{}, unsound()], { path: '#/signature', code: 'attestation.SIGNATURE_ENCODING' }],
      [[{ trust: eve }, forged()], { code: 'attestation.SIGNATURE_INVALID' }],
      [[{ trust: makeTrust(signer, { notAfterMs: NOW - 1 }) }], { code: 'attestation.TIME_CLAIMED' }],
    ];
    for (const [how, finding] of cases)
      expect(findingsOf(...(how as Parameters<typeof verify>))).toStrictEqual([{ ...at, ...finding }]);
    expect(findingsOf({ trust: stranger })).toMatchObject([{ ...at, code: 'trust.KEY_UNKNOWN' }]);
  });

  test('names no signer and no key when no trusted key signed it', () => {
    expect(verify()).toHaveProperty('signer');
    expect(verify({}, unsound())).not.toHaveProperty('signer');
    expect(verify({ trust: stranger })).not.toHaveProperty('signer');
  });

  test('leaves a step unchecked if the step before it lacks its input', () => {
    expect(stateOf(verify({}, unsound()), 'attestation.signature')).toBe('not_checked');
    expect(stateOf(verify({}, unsound()), 'attestation.key')).toBe('passed');
    expect(stateOf(verify({ trust: stranger }), 'attestation.signature')).toBe('not_checked');
  });

  test('has a second opinion only on request', () => {
    const secondOpinion = { p256, readZip };
    expect(opinion()).toBeUndefined();
    expect(opinion({ secondOpinion })).toBe('passed');
    expect(verify({ secondOpinion }).verdict).toBe('valid');
    expect(opinion({ secondOpinion }, unsound())).toBe('not_checked');
    expect(opinion({ secondOpinion, trust: stranger })).toBe('not_checked');
    expect(opinion({ secondOpinion, trust: eve }, forged())).toBe('passed');
    const untrusting = verifyAttestation(canonicalBytes(attestation), { asOfMs: NOW, secondOpinion });
    expect(stateOf(untrusting, 'second.crypto')).toBe('not_checked');
  });

  test('names both opinions where they differ', () => {
    const code = 'attestation.SECOND_OPINION';
    expect(findingsOf({ secondOpinion: opinionOf(false) })).toStrictEqual([
      { ...at, code, expected: 'valid', actual: 'invalid' },
    ]);
    expect(findingsOf({ secondOpinion: opinionOf(true), trust: eve }, forged())).toStrictEqual([
      { ...at, code: 'attestation.SIGNATURE_INVALID' },
      { ...at, code, expected: 'invalid', actual: 'valid' },
    ]);
  });
});
