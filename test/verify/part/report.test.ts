import { describe, expect, it } from 'vitest';
import { memoryAccess, platform as portable, toUtf8 } from '../../../src/bytes/index.ts';
import { attestDsse, parseAttestation } from '../../../src/evidence/index.ts';
import { readZipWithYauzl } from '../../../src/node/second-opinion/index.ts';
import { dsseBytes, keyIdOf } from '../../../src/trust/index.ts';
import { verifyPart, type BundleReport, type VerifyPartOptions } from '../../../src/verify/index.ts';
import {
  errorsOf,
  forge,
  idOf,
  listingOf,
  makePart,
  makeSigner,
  makeTrust,
  NOW,
  repacked,
  stateOf,
  unpack,
} from '../../support/evidence.ts';

const BUNDLE = idOf('evidence', 1);
const secondOpinion = { p256: portable.p256, readZip: readZipWithYauzl };

const signer = makeSigner();
const trust = makeTrust(signer);
const signed = (await makePart(1, signer)).bytes;
const unsigned = (await makePart(1)).bytes;
const statement = parseAttestation((await unpack(signed)).get('attestation.json')!).statement;
const dsse = dsseBytes(await attestDsse(statement, [signer]));

const verify = (bytes: Uint8Array, options: Partial<VerifyPartOptions> = {}): Promise<BundleReport> =>
  verifyPart(memoryAccess(bytes), { asOfMs: NOW, trust, ...options });

/** A part in which the object of a role is other bytes of the same name. */
const withObject = (path: RegExp, bytes: Uint8Array): Promise<Uint8Array> =>
  repacked(signed, (entries) => {
    const name = [...entries.keys()].find((one) => path.test(one));
    if (name === undefined) throw new TypeError('there is no such object');
    entries.set(name, bytes);
  });

const ids = (report: BundleReport) => report.checks.map(({ id }) => id);
const key = () => ({
  issuer: statement.issuer,
  keyId: signer.keyId,
  issuedAtMs: statement.issuedAtMs,
  thumbprint: keyIdOf(signer.point),
  validThroughMs: null,
});
/** What a report finds by a code, without its words and without what the catalogue says of it. */
const found = (report: BundleReport, code: string) =>
  report.findings
    .filter((one) => one.code === code)
    .map(({ class: _class, severity: _severity, message, ...rest }) => {
      expect(message).not.toBe('');
      return rest;
    });

describe('the signers of a part', () => {
  it('are those of its attestation, with the inputs that it pins', async () => {
    const report = await verify(signed);
    expect(report.signers).toStrictEqual([{ ...key(), in: 'attestation' }]);
    expect(report.reproduction).toStrictEqual(statement.subject.reproduction);
  });

  it('are those of a given envelope, with the inputs that it pins, where it has no attestation', async () => {
    const report = await verify(unsigned, { dsse });
    expect([report.verdict, report.signers]).toStrictEqual(['verified', [{ ...key(), in: 'dsse' }]]);
    expect(report.reproduction).toStrictEqual(statement.subject.reproduction);
  });

  it('are those of both, its own first', async () => {
    const { signers } = await verify(signed, { dsse });
    expect(signers?.map((one) => one.in)).toEqual(['attestation', 'dsse']);
  });

  it('are absent when no trusted key signed it', async () => {
    for (const report of [
      await verify(unsigned),
      await verify(signed, { trust: makeTrust(makeSigner()) }),
      await verify(unsigned, { dsse: toUtf8('{}') }),
    ]) {
      expect(report.signers ?? []).toEqual([]);
      expect(report).not.toHaveProperty('signer');
    }
  });
});

it('a part of which something could not be read leaves an envelope about an unread bundle open, and fails one about another manifest', async () => {
  const bytes = await withObject(/run-?result|result/, toUtf8('{}'));
  const report = await verify(bytes, { dsse });
  expect(stateOf(report, 'dsse.attestation')).toBe('not_checked');
  expect(stateOf(report, 'attestation.binding')).toBe('not_checked');
  expect(errorsOf(report)).not.toContain('bundle.BINDING_MISMATCH');
  const other = await repacked(bytes, async (entries) => {
    const forged = await forge(entries.get('attestation.json'), signer, ({ subject }) => {
      subject.manifestDigest = `sha256:${'0'.repeat(64)}`;
    });
    entries.set('attestation.json', forged);
  });
  expect(errorsOf(await verify(other))).toContain('attestation.SUBJECT_MISMATCH');
});

it('a part of which something could not be read leaves a hash open that differs from the statement when it could not be compared', async () => {
  const bytes = await withObject(/run-?result|result/, toUtf8('{}'));
  const other = await repacked(bytes, async (entries) => {
    const forged = await forge(entries.get('attestation.json'), signer, ({ subject }) => {
      subject.stateHash = `sha256:${'0'.repeat(64)}`;
    });
    entries.set('attestation.json', forged);
  });
  const report = await verify(other);
  expect(stateOf(report, 'attestation.binding')).toBe('not_checked');
  expect(errorsOf(report)).toEqual(errorsOf(await verify(bytes)));
  expect(report.verdict).toBe('failed');
});

it('a part of which something could not be read lists exactly the checks that were requested', async () => {
  const broken = new Uint8Array(10);
  expect(ids(await verify(broken))).not.toContain('second.reader');
  expect(ids(await verify(broken))).not.toContain('dsse.attestation');
  const asked = await verify(broken, { secondOpinion, dsse });
  for (const id of ['second.reader', 'second.crypto', 'dsse.attestation'] as const)
    expect(stateOf(asked, id)).toBe('not_checked');
  expect(new Set(ids(asked)).size).toBe(ids(asked).length);
});

it('a part whose attestation could not be read fails, and has one answer on the envelopes that were given', async () => {
  const broken = await repacked(signed, (entries) => void entries.set('attestation.json', toUtf8('{}')));
  const report = await verify(broken, { dsse });
  expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.INVALID']]);
  expect(stateOf(report, 'dsse.attestation')).toBe('passed');
  expect(new Set(ids(report)).size).toBe(ids(report).length);
});

it('a second opinion of the signature does not apply to a part that carries none, and is named only where it is asked for', async () => {
  expect(stateOf(await verify(unsigned, { secondOpinion }), 'second.crypto')).toBe('not_applicable');
  expect(stateOf(await verify(unsigned), 'second.crypto')).toBeUndefined();
});

it('a finding about a part has the id of the bundle, the path and the actual value', async () => {
  const bytes = await withObject(/readme/, toUtf8('other'));
  const path = [...(await unpack(bytes)).keys()].find((name) => name.includes('readme'))!;
  const [size] = found(await verify(bytes), 'object.BYTES_MISMATCH');
  expect(size).toMatchObject({ subject: BUNDLE, path, actual: '5' });
  const [digest] = found(await verify(bytes), 'object.DIGEST_MISMATCH');
  expect(digest).toMatchObject({ subject: BUNDLE, path });
  expect(digest?.expected).not.toBe(digest?.actual);
  const gone = await repacked(bytes, (entries) => void entries.delete(path));
  expect(found(await verify(gone), 'object.MISSING')).toStrictEqual([
    { code: 'object.MISSING', subject: BUNDLE, path },
  ]);
  const extra = await repacked(signed, (entries) => void entries.set('objects/zz', toUtf8('x')));
  expect(found(await verify(extra), 'object.EXTRA')).toStrictEqual([
    { code: 'object.EXTRA', subject: BUNDLE, path: 'objects/zz' },
  ]);
  expect(found(await verify(extra), 'zip.ORDER_UNUSUAL')).toEqual([]);
});

it('a finding about a part names it by its row, where one lists it', async () => {
  const listed = await listingOf(signed);
  const row = { ...listed.row, evidenceBundleId: idOf('evidence', 9) };
  const report = await verify(signed, { listed: { ...listed, row } });
  expect(found(report, 'part.ROW_MISMATCH')).toMatchObject([
    { subject: idOf('evidence', 9), expected: idOf('evidence', 9), actual: BUNDLE },
  ]);
});

it('a finding about a part fails for a broken expectation even if another one about the export cannot be checked', async () => {
  const expected = { organizationId: idOf('org', 9), bundles: 1 };
  const report = await verify(signed, { expect: expected });
  expect(stateOf(report, 'bundle.expected')).toBe('failed');
  expect(found(report, 'expect.ORGANIZATION_MISMATCH')).toMatchObject([
    { subject: BUNDLE, path: 'manifest.json', expected: idOf('org', 9) },
  ]);
  expect(stateOf(await verify(signed, { expect: { bundles: 1 } }), 'bundle.expected')).toBe('not_checked');
  expect(stateOf(await verify(signed), 'bundle.expected')).toBe('not_applicable');
});

it('a short report has no checks, and one finding of each code with their number', async () => {
  const bytes = await repacked(unsigned, (entries) => {
    for (const name of ['a', 'b', 'c']) entries.set(`objects/${name}`, toUtf8(name));
  });
  const whole = await verify(bytes);
  const [first, ...more] = whole.findings.filter(({ code }) => code === 'object.EXTRA');
  expect(more).toHaveLength(2);
  const others = whole.findings.filter(({ code }) => code !== 'object.EXTRA');
  const short = await verify(bytes, { short: true });
  expect(short).toEqual({ ...whole, checks: [], findings: short.findings });
  const many = { ...first, message: `${first!.message} (the first of 3)` };
  expect(short.findings).toHaveLength(others.length + 1);
  expect(short.findings).toEqual(expect.arrayContaining([...others, many]));
  expect(await verify(signed, { short: true })).toEqual({ ...(await verify(signed)), checks: [] });
});
