import { describe, expect, test } from 'vitest';
import { canonicalBytes, canonicalJson, platform as portable, toUtf8 } from '../../../src/bytes/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { parseAttestation } from '../../../src/evidence/index.ts';
import { publicKeyPem, resolveTrust } from '../../../src/trust/index.ts';
import { buildSigned } from '../../../src/verify/signature/attestation.ts';
import { verifySigned } from '../../../src/verify/signature/signed.ts';
import {
  type AttestationReport,
  type SecondOpinion,
  resolveSettings,
  verifyAttestation,
  type VerifyAttestationOptions,
} from '../../../src/verify/index.ts';
import {
  codesOf,
  errorsOf,
  idOf,
  makePart,
  makeSigner,
  makeTrust,
  NOW,
  ORGANIZATION,
  PROJECT,
  stateOf,
} from '../../support/evidence.ts';

const signer = makeSigner();
const part = (await makePart(1, signer)).packed;
const attestation = part.attestation!;

const verify = (
  options: Partial<VerifyAttestationOptions> = {},
  value: unknown = attestation,
): AttestationReport =>
  verifyAttestation(canonicalJson(value), { asOfMs: NOW, trust: makeTrust(signer), ...options });

const judgedBy = (issuer: string) => resolveTrust({ key: publicKeyPem(signer.point), issuer });

const broken = (): never => {
  throw new RangeError('bug');
};

const readZip = (): never => {
  throw new Error('there is no archive');
};

describe('an attestation alone', () => {
  test('is valid at best: it is bound to no bytes', () => {
    const report = verify();
    expect(report).toMatchObject({
      kind: 'attestation',
      verdict: 'valid',
      signer: { keyId: signer.keyId },
      findings: [],
    });
    expect(stateOf(report, 'attestation.binding')).toBe('not_checked');
    expect(JSON.stringify(report)).not.toContain('verified');
  });

  test('is not_judged without a trust store', () => {
    const report = verifyAttestation(canonicalBytes(attestation), { asOfMs: NOW });
    expect([report.verdict, codesOf(report), report.signer]).toEqual([
      'not_judged',
      ['trust.STORE_ABSENT'],
      undefined,
    ]);
  });

  test('is not_judged for a limited key until project and organization are given', () => {
    const trust = makeTrust(signer, {
      projects: [PROJECT],
      organizations: [ORGANIZATION],
      notAfterMs: NOW - 1,
    });
    for (const known of [{}, { projectId: PROJECT }, { organizationId: ORGANIZATION }]) {
      const report = verify({ trust, ...known });
      expect([report.verdict, stateOf(report, 'attestation.key')]).toEqual(['not_judged', 'not_checked']);
      expect(report.signer).toBeUndefined();
      expect(codesOf(report)).toEqual(['attestation.TIME_CLAIMED']);
    }
    expect(verify({ trust, projectId: PROJECT, organizationId: ORGANIZATION }).verdict).toBe('valid');
    expect(errorsOf(verify({ trust, projectId: idOf('prj', 9) }))).toEqual(['trust.PROJECT_MISMATCH']);
    expect(errorsOf(verify({ trust, organizationId: idOf('org', 9) }))).toEqual([
      'trust.ORGANIZATION_MISMATCH',
    ]);
  });

  test('is invalid with an invalid signature, even if the key could not be checked', () => {
    const forged = structuredClone(attestation);
    forged.statement.issuedAtMs++;
    const trust = makeTrust(signer, { projects: [PROJECT] });
    expect(errorsOf(verify({ trust }, forged))).toEqual(['attestation.SIGNATURE_INVALID']);
    expect(verify({ trust }, forged).verdict).toBe('invalid');
  });

  test.each([[null], ['text'], [[]], [{}]])('is invalid when it is none: %j', (value) => {
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
    'is invalid when no bytes could have been signed for it: a lone surrogate in %s',
    (member) => {
      const text = canonicalJson(attestation).replace(`"${member}":"`, `"${member}":"\\ud800`);
      const report = verifyAttestation(text, { asOfMs: NOW, trust: makeTrust(signer) });
      expect([report.verdict, errorsOf(report)]).toEqual(['invalid', ['json.SURROGATE_LONE']]);
    },
  );

  test('is not taken for unsound by a fault of the program, which is thrown on', () => {
    const signed = {
      ...buildSigned(attestation, canonicalBytes(attestation)),
      signatures: [{ path: '/signature', decode: broken }],
    };
    const settings = resolveSettings({ asOfMs: NOW, trust: makeTrust(signer) });
    const context = { subject: 'attestation', path: '', settings };
    expect(() => verifySigned(signed, { purpose: 'evidence' }, context)).toThrow(RangeError);
  });

  test('is parsed strictly from bytes, a Buffer or text', () => {
    const options = { asOfMs: NOW, trust: makeTrust(signer) };
    const text = canonicalJson(attestation);
    for (const given of [text, toUtf8(text), Buffer.from(text)])
      expect(verifyAttestation(given, options).verdict).toBe('valid');
    const twice = text.replace('{', '{"algorithm":"ecdsa-p256-sha256",');
    expect(JSON.parse(twice)).toEqual(attestation);
    const refused: [string, string][] = [
      [twice, 'json.MEMBER_DUPLICATE'],
      [`${text}\n`, 'json.NOT_CANONICAL'],
      [`\ufeff${text}`, 'json.BOM'],
      ['\ud800', 'encoding.UTF8_INVALID'],
      ['', 'json.INVALID'],
      [`${' '.repeat(1024 * 1024)}${text}`, 'json.TOO_LARGE'],
    ];
    for (const [given, code] of refused) {
      const report = verifyAttestation(given, options);
      expect([report.verdict, errorsOf(report)]).toEqual(['invalid', [code]]);
      expect(() => parseAttestation(toUtf8(given))).toThrow();
    }
  });

  test('is verified with one key and its issuer in place of a trust store', () => {
    const { issuer } = attestation.statement;
    const key = publicKeyPem(signer.point);
    const judge = (trust: VerifyAttestationOptions['trust']) =>
      verifyAttestation(canonicalJson(attestation), { asOfMs: new Date(NOW), trust: trust! });
    expect(judge({ key, issuer })).toEqual(verify({ trust: judgedBy(issuer) }));
    expect(judge({ key, issuer }).verdict).toBe('valid');
    expect(judge({ key: Buffer.from(key), issuer }).verdict).toBe('valid');
    expect(errorsOf(judge({ key, issuer: 'eve' }))).toEqual(['trust.KEY_UNKNOWN']);
    expect(errorsOf(judge({ key: publicKeyPem(makeSigner().point), issuer }))).toEqual(['trust.KEY_UNKNOWN']);
    expect(errorsOf(judge({ key, issuer, keyId: 'other' }))).toEqual(['trust.KEY_UNKNOWN']);
    expect(() => judge({ key: 'x', issuer })).toThrow(expect.objectContaining({ code: 'trust.KEY_INVALID' }));
    expect(() => judge({ key, issuer: '' })).toThrow(DrillproofError);
    expect(() => judge({ key, isuer: 'x', issuer } as never)).toThrow(/trust.*isuer.*Did you mean issuer/);
    expect(() => judge({ key } as never)).toThrow(/trust\.issuer/);
  });

  test('can be verified twice', () => {
    const report = verify({ secondOpinion: { p256: portable.p256, readZip } });
    expect([report.verdict, stateOf(report, 'second.crypto')]).toEqual(['valid', 'passed']);
  });
});

const p256 = portable.p256;
const opinionOf = (answer: boolean): SecondOpinion => ({
  p256: { ...p256, verifier: () => ({ verify: () => answer }) },
  readZip,
});

/** What it finds, without its words and without what the catalogue says of a code. */
const found = (...how: Parameters<typeof verify>) =>
  verify(...how).findings.map(({ message, class: _class, severity: _severity, ...rest }) => {
    expect(message).not.toBe('');
    return rest;
  });
const unsound = () => ({ ...attestation, signature: 'AAAA' });
const forged = () => ({ ...attestation, statement: { ...attestation.statement, issuer: 'eve' } });
const opinion = (...how: Parameters<typeof verify>) => stateOf(verify(...how), 'second.crypto');

describe('the report on an attestation alone', () => {
  const at = { subject: 'attestation', path: '' };

  test('names the expected and the actual value', () => {
    const { predicateType, issuedAtMs, subject } = attestation.statement;
    expect(found({ predicateTypes: { evidence: ['x', 'y'], export: [] } })).toStrictEqual([
      { ...at, code: 'attestation.PREDICATE_UNSUPPORTED', expected: 'x or y', actual: predicateType },
    ]);
    const asOfMs = issuedAtMs - 1;
    expect(found({ asOfMs })).toStrictEqual([
      { ...at, code: 'attestation.ISSUED_IN_FUTURE', expected: `at most ${asOfMs}`, actual: `${issuedAtMs}` },
    ]);
    expect(found({ manifestDigest: 'sha256:x' })).toStrictEqual([
      {
        subject: 'attestation',
        path: '/statement/subject/manifestDigest',
        code: 'attestation.SUBJECT_MISMATCH',
        expected: 'sha256:x',
        actual: subject.manifestDigest,
      },
    ]);
    expect(found({ trust: makeTrust(makeSigner()) })).toMatchObject([{ ...at, code: 'trust.KEY_UNKNOWN' }]);
    expect(found({}, unsound())).toStrictEqual([
      { ...at, path: '#/signature', code: 'attestation.SIGNATURE_ENCODING' },
    ]);
    expect(found({ trust: makeTrust(signer, { issuer: 'eve' }) }, forged())).toStrictEqual([
      { ...at, code: 'attestation.SIGNATURE_INVALID' },
    ]);
    expect(found({ trust: makeTrust(signer, { notAfterMs: NOW - 1 }) })).toStrictEqual([
      { ...at, code: 'attestation.TIME_CLAIMED' },
    ]);
  });

  test('names no signer and no key when no trusted key signed it', () => {
    expect(verify()).toHaveProperty('signer');
    expect(verify({}, unsound())).not.toHaveProperty('signer');
    expect(verify({ trust: makeTrust(makeSigner()) })).not.toHaveProperty('signer');
  });

  test('leaves a step unchecked if the step before it lacks its input', () => {
    expect(stateOf(verify({}, unsound()), 'attestation.signature')).toBe('not_checked');
    expect(stateOf(verify({}, unsound()), 'attestation.key')).toBe('passed');
    expect(stateOf(verify({ trust: makeTrust(makeSigner()) }), 'attestation.signature')).toBe('not_checked');
  });

  test('has a second opinion exactly when one is asked for', () => {
    const secondOpinion = { p256, readZip };
    expect(opinion()).toBeUndefined();
    expect(opinion({ secondOpinion })).toBe('passed');
    expect(opinion({ secondOpinion }, unsound())).toBe('not_checked');
    expect(opinion({ secondOpinion, trust: makeTrust(makeSigner()) })).toBe('not_checked');
    expect(opinion({ secondOpinion, trust: makeTrust(signer, { issuer: 'eve' }) }, forged())).toBe('passed');
    const without = verifyAttestation(canonicalBytes(attestation), { asOfMs: NOW, secondOpinion });
    expect(stateOf(without, 'second.crypto')).toBe('not_checked');
    expect(
      stateOf(verifyAttestation(canonicalBytes(attestation), { asOfMs: NOW }), 'second.crypto'),
    ).toBeUndefined();
  });

  test('names both opinions where they differ', () => {
    const code = 'attestation.SECOND_OPINION';
    expect(found({ secondOpinion: opinionOf(false) })).toStrictEqual([
      { ...at, code, expected: 'valid', actual: 'invalid' },
    ]);
    const trust = makeTrust(signer, { issuer: 'eve' });
    expect(found({ secondOpinion: opinionOf(true), trust }, forged())).toStrictEqual([
      { ...at, code: 'attestation.SIGNATURE_INVALID' },
      { ...at, code, expected: 'invalid', actual: 'valid' },
    ]);
  });
});
