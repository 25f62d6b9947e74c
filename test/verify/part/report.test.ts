import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { attestDsse } from '../../../src/evidence/in-toto.ts';
import { secondOpinion } from '../../../src/node/second-opinion/second-opinion.ts';
import { encodeDsse } from '../../../src/trust/dsse.ts';
import { keyIdOf } from '../../../src/trust/key/key.ts';
import type { BundleReport } from '../../../src/verify/report.ts';
import {
  errorsOf,
  forge,
  idOf,
  listingOf,
  makeSigner,
  makeTrust,
  NOW,
  repack,
  stateOf,
} from '../../support/evidence.ts';
import { attestation, dsse, packed, part as signed, signer, unsigned, verify } from './setup.ts';

const ATTESTATION = 'attestation.json';
const ZEROS = `sha256:${'0'.repeat(64)}`;
const BUNDLE = idOf('evidence', 1);

const { statement } = attestation;

/** The part with other bytes for an object. */
const withObject = (path: string, bytes: Uint8Array): Promise<Uint8Array> =>
  repack(signed, (entries) => void entries.set(path, bytes));
const withoutResult = () => withObject('objects/run-result.json', toUtf8('{}'));
/** The part with another subject in its statement, signed again. */
const withSubject = (bytes: Uint8Array, subject: Partial<typeof statement.subject>): Promise<Uint8Array> =>
  repack(bytes, async (entries) => {
    const sign = forge(entries.get(ATTESTATION), signer, (s) => void Object.assign(s.subject, subject));
    entries.set(ATTESTATION, await sign);
  });

const ids = (report: BundleReport) => report.checks.map(({ id }) => id);
const key = {
  issuer: statement.issuer,
  keyId: signer.keyId,
  issuedAtMs: statement.issuedAtMs,
  thumbprint: keyIdOf(signer.point),
  validThroughMs: null,
};
/** The findings with a code, without their words and without the members that the catalogue determines. */
const findingsOf = (report: BundleReport, code: string) =>
  report.findings
    .filter((finding) => finding.code === code)
    .map(({ class: _class, severity: _severity, message, ...rest }) => {
      expect(message).not.toBe('');
      return rest;
    });

describe('the signers of a part', () => {
  it.each([
    ['its attestation', signed, {}, 'attestation'],
    ['an envelope from the caller if it has no attestation', unsigned, { dsse }, 'dsse'],
  ])('are those of %s, with the inputs that it pins', async (_, bytes, options, place) => {
    const report = await verify(bytes, options);
    expect([report.verdict, report.signers]).toStrictEqual(['verified', [{ ...key, in: place }]]);
    expect(report.reproduction).toStrictEqual(statement.subject.reproduction);
  });

  it('are those of its attestation and then those of the envelope', async () => {
    const { signers } = await verify(signed, { dsse });
    expect(signers?.map(({ in: place }) => place)).toEqual(['attestation', 'dsse']);
  });

  it.each([
    ['ends', { notAfterMs: NOW + 2 }, NOW + 2],
    ['ends before it is revoked', { notAfterMs: NOW + 1, revokedAtMs: NOW + 2, compromised: false }, NOW + 1],
    ['is revoked before it ends', { notAfterMs: NOW + 2, revokedAtMs: NOW + 1, compromised: false }, NOW + 1],
  ] as const)(
    'have the last time at which their key is valid, if it %s',
    async (_, period, validThroughMs) => {
      const { signers } = await verify(signed, { trust: makeTrust(signer, period) });
      expect(signers).toStrictEqual([{ ...key, validThroughMs, in: 'attestation' }]);
    },
  );

  it.each([0, 1])('of an envelope are compared with the time of the run: %d ms before it', async (ms) => {
    const issuedAtMs = packed.manifest.createdAtMs - ms;
    const early = encodeDsse(await attestDsse({ ...statement, issuedAtMs }, [signer]));
    const findings = findingsOf(await verify(unsigned, { dsse: early }), 'run.AFTER_SIGNATURE');
    const late = expect.objectContaining({ subject: BUNDLE, path: 'dsse' });
    expect(findings).toEqual(ms === 0 ? [] : [late]);
  });

  it('are absent when no trusted key signed it', async () => {
    const untrusted = await verify(signed, { trust: makeTrust(makeSigner()) });
    for (const report of [
      await verify(unsigned),
      untrusted,
      await verify(unsigned, { dsse: toUtf8('{}') }),
    ]) {
      expect(report.signers ?? []).toEqual([]);
      expect(report).not.toHaveProperty('signer');
    }
  });
});

it('a part with an unreadable run result leaves the envelope open, and fails if it is about another manifest', async () => {
  const bytes = await withoutResult();
  const report = await verify(bytes, { dsse });
  expect(stateOf(report, 'dsse.attestation')).toBe('not_checked');
  expect(stateOf(report, 'attestation.binding')).toBe('not_checked');
  expect(errorsOf(report)).not.toContain('bundle.BINDING_MISMATCH');
  const other = await withSubject(bytes, { manifestDigest: ZEROS });
  expect(errorsOf(await verify(other))).toContain('attestation.SUBJECT_MISMATCH');
});

it('a part with an unreadable run result has no finding about hashes that could not be compared', async () => {
  const bytes = await withoutResult();
  const report = await verify(await withSubject(bytes, { stateHash: ZEROS }));
  expect([report.verdict, stateOf(report, 'attestation.binding')]).toEqual(['failed', 'not_checked']);
  expect(errorsOf(report)).toEqual(errorsOf(await verify(bytes)));
});

it('a part that could not be read lists exactly the checks that were requested', async () => {
  const broken = new Uint8Array(10);
  for (const id of ['second.reader', 'dsse.attestation'] as const)
    expect(stateOf(await verify(broken), id)).toBeUndefined();
  const requested = await verify(broken, { secondOpinion, dsse });
  for (const id of ['second.reader', 'second.crypto', 'dsse.attestation'] as const)
    expect(stateOf(requested, id)).toBe('not_checked');
  expect(new Set(ids(requested)).size).toBe(ids(requested).length);
});

it('a part with an invalid attestation fails, and has one result for the envelopes from the caller', async () => {
  const broken = await repack(signed, (entries) => void entries.set(ATTESTATION, toUtf8('{}')));
  const report = await verify(broken, { dsse });
  expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.INVALID']]);
  expect(stateOf(report, 'dsse.attestation')).toBe('passed');
  expect(new Set(ids(report)).size).toBe(ids(report).length);
});

it('a second opinion of the signature does not apply to an unsigned part, and is reported only on request', async () => {
  expect(stateOf(await verify(unsigned, { secondOpinion }), 'second.crypto')).toBe('not_applicable');
  expect(stateOf(await verify(unsigned), 'second.crypto')).toBeUndefined();
});

it('a finding about a part has the id of the bundle, the path and the actual value', async () => {
  const path = 'objects/files/readme.txt';
  const bytes = await withObject(path, toUtf8('other'));
  const [size] = findingsOf(await verify(bytes), 'object.BYTES_MISMATCH');
  expect(size).toMatchObject({ subject: BUNDLE, path, actual: '5' });
  const [digest] = findingsOf(await verify(bytes), 'object.DIGEST_MISMATCH');
  expect(digest).toMatchObject({ subject: BUNDLE, path });
  expect(digest?.expected).not.toBe(digest?.actual);
  const missing = await repack(bytes, (entries) => void entries.delete(path));
  expect(findingsOf(await verify(missing), 'object.MISSING')).toStrictEqual([
    { code: 'object.MISSING', subject: BUNDLE, path },
  ]);
  const extra = await withObject('objects/zz', toUtf8('x'));
  expect(findingsOf(await verify(extra), 'object.EXTRA')).toStrictEqual([
    { code: 'object.EXTRA', subject: BUNDLE, path: 'objects/zz' },
  ]);
  expect(findingsOf(await verify(extra), 'zip.ORDER_UNUSUAL')).toEqual([]);
});

it('a finding about a part has the id in the row that lists the part', async () => {
  const listed = await listingOf(signed);
  const row = { ...listed.row, evidenceBundleId: idOf('evidence', 9) };
  const report = await verify(signed, { listed: { ...listed, row } });
  expect(findingsOf(report, 'part.ROW_MISMATCH')).toMatchObject([
    { subject: idOf('evidence', 9), expected: idOf('evidence', 9), actual: BUNDLE },
  ]);
});

it('a broken expectation about a part is a finding, even if another one about the export cannot be checked', async () => {
  const expected = { organizationId: idOf('org', 9), bundles: 1 };
  const report = await verify(signed, { expect: expected });
  expect(stateOf(report, 'bundle.expected')).toBe('failed');
  expect(findingsOf(report, 'expect.ORGANIZATION_MISMATCH')).toMatchObject([
    { subject: BUNDLE, path: 'manifest.json', expected: idOf('org', 9) },
  ]);
  expect(stateOf(await verify(signed, { expect: { bundles: 1 } }), 'bundle.expected')).toBe('not_checked');
  expect(stateOf(await verify(signed), 'bundle.expected')).toBe('not_applicable');
});

it('a short report has no checks, and one finding of each code with their number', async () => {
  const bytes = await repack(unsigned, (entries) => {
    for (const name of ['a', 'b', 'c']) entries.set(`objects/${name}`, toUtf8(name));
  });
  const whole = await verify(bytes);
  const [first, ...more] = whole.findings.filter(({ code }) => code === 'object.EXTRA');
  expect(more).toHaveLength(2);
  const others = whole.findings.filter(({ code }) => code !== 'object.EXTRA');
  const short = await verify(bytes, { short: true });
  expect(short).toEqual({ ...whole, checks: [], findings: short.findings });
  const many = { ...first, more: 2 };
  expect(short.findings).toHaveLength(others.length + 1);
  expect(short.findings).toEqual(expect.arrayContaining([...others, many]));
  expect(await verify(signed, { short: true })).toEqual({ ...(await verify(signed)), checks: [] });
});
