import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { fromBase64url, toBase64url, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { EXPORT_PREDICATE_TYPE, type RunResult } from '../../../src/contract/index.ts';
import { attest, packBundle, type Statement } from '../../../src/evidence/index.ts';
import { platform as portable } from '../../../src/bytes/platform-portable.ts';
import type { Signer, TrustedKey } from '../../../src/trust/index.ts';
import { trustStore } from '../../../src/trust/index.ts';
import { verifyPart, type BundleReport, type VerifyPartOptions } from '../../../src/verify/index.ts';
import { readZipWithYauzl } from '../../../src/node/second-opinion/yauzl-reader.ts';
import { encode, integers, N } from '../../trust/makers.ts';
import {
  codesOf,
  collect,
  edited,
  errorsOf,
  forge,
  hashOf,
  idOf,
  ISSUER,
  makeBundleInput,
  makeExport,
  makePart,
  makeRunResult,
  makeSigner,
  makeSigning,
  makeTrust,
  NOW,
  ORGANIZATION,
  pack,
  PROJECT,
  repacked,
  stateOf,
  unpack,
  type Json,
} from '../../support/evidence.ts';

const ATTESTATION = 'attestation.json';
const ISSUED = NOW - 50_000;

const signer = makeSigner();
const trust = makeTrust(signer);
const part = (await makePart(1, signer)).bytes;
const entries = await unpack(part);

const verify = (bytes: Uint8Array, options: Partial<VerifyPartOptions> = {}): Promise<BundleReport> =>
  verifyPart(memoryAccess(bytes), { asOfMs: NOW, trust, ...options });

/** The part with another attestation beside everything as it was. */
const withAttestation = (attestation: Uint8Array): Promise<Uint8Array> =>
  pack(new Map(entries).set(ATTESTATION, attestation));

/** The part with a statement that was edited and signed again by the trusted key. */
const withStatement = async (edit: (statement: Statement) => void): Promise<Uint8Array> =>
  withAttestation(await forge(entries.get(ATTESTATION), signer, edit));

describe('what a signed bundle binds', () => {
  const subject: [keyof Statement['subject'], string][] = [
    ['runId', 'run_other-run'],
    ['runResultHash', hashOf('x')],
    ['evidenceHash', hashOf('x')],
    ['stateHash', hashOf('x')],
    ['trajectoryHash', hashOf('x')],
  ];
  test.each(subject)('fails when the statement has another %s', async (field, value) => {
    const report = await verify(await withStatement((s) => Object.assign(s.subject, { [field]: value })));
    expect(report.verdict).toBe('failed');
    expect(errorsOf(report)).toEqual(['bundle.BINDING_MISMATCH']);
    expect(stateOf(report, 'attestation.signature')).toBe('passed');
    expect(stateOf(report, 'attestation.binding')).toBe('failed');
  });

  const reproduction: [string, unknown][] = [
    ['drillId', 'other'],
    ['targetId', 'other'],
    ['buildHash', hashOf('x')],
    ['packageLockHash', hashOf('x')],
    ['seed', '99'],
    ['scenarioId', 'other'],
    ['scenarioId', undefined],
    ['setupHash', hashOf('x')],
    ['setupHash', undefined],
    ['originalTrial', 2],
    ['originalTrialCount', 2],
    ['originalAttempt', 2],
    ['originalAttemptLimit', 2],
  ];
  test.each(reproduction)('fails when the reproduction has another %s: %s', async (field, value) => {
    const report = await verify(
      await withStatement(({ subject: { reproduction: own } }) => {
        if (value === undefined) Reflect.deleteProperty(own, field);
        else Object.assign(own, { [field]: value });
      }),
    );
    expect(report.findings.map(({ code, path }) => [code, path])).toEqual([
      ['bundle.BINDING_MISMATCH', `reproduction.${field}`],
    ]);
    expect(report.verdict).toBe('failed');
  });

  test('fails when the statement names a different manifest', async () => {
    const report = await verify(
      await withStatement((s) => void (s.subject.manifestDigest = hashOf('other'))),
    );
    expect(errorsOf(report)).toEqual(['attestation.SUBJECT_MISMATCH']);
    expect(report.findings).toMatchObject([
      {
        path: 'attestation.json#/statement/subject/manifestDigest',
        expected: report.manifestDigest,
        actual: hashOf('other'),
      },
    ]);
    expect(report.verdict).toBe('failed');
  });

  test('fails with the attestation of another bundle of the same signer', async () => {
    const other = await unpack((await makePart(2, signer)).bytes);
    const report = await verify(await withAttestation(other.get(ATTESTATION)!));
    expect(report.verdict).toBe('failed');
    expect(errorsOf(report)).toEqual(['attestation.SUBJECT_MISMATCH', 'bundle.BINDING_MISMATCH']);
  });

  const results: [string, (result: RunResult) => void][] = [
    ['stateHash', (result) => void (result.stateHash = hashOf('x'))],
    ['evidenceHash', (result) => void (result.evidenceHash = hashOf('x'))],
    ['trajectoryHash', (result) => void (result.trajectoryHash = hashOf('x'))],
    ['identity.runId', (result) => void (result.identity.runId = 'run_other-run')],
  ];
  test.each(results)(
    'fails when the run result has another %s, though all was signed again',
    async (name, edit) => {
      const report = await verify(await withRunResult(edit));
      expect(report.findings.map(({ code, path }) => [code, path])).toEqual([
        ['bundle.BINDING_MISMATCH', `result.${name}`],
      ]);
      expect(report.verdict).toBe('failed');
    },
  );

  test('fails when the manifest has another runId than the statement and the result', async () => {
    const report = await verify(await withManifest((m) => void (m['runId'] = 'run_other-run')));
    expect(report.findings.map(({ path }) => path)).toEqual(['subject.runId']);
  });

  test.each(['run-result', 'evidence', 'state', 'trajectory'])(
    'fails when no object has the role %s',
    async (role) => {
      const report = await verify(
        await withManifest(({ objects }) => {
          for (const object of objects) if (object['role'] === role) object['role'] = 'file';
        }),
      );
      expect(report.verdict).toBe('failed');
      expect(report.findings).toContainEqual(
        expect.objectContaining({ code: 'bundle.MANIFEST_INVALID', path: 'manifest.json#/objects' }),
      );
    },
  );

  test('matches a rerun only with the counters of the original run', async () => {
    const original = { trial: 3, trialCount: 4, attempt: 5, attemptLimit: 6 };
    const input = makeBundleInput(1, { rerunOfHostedRunId: idOf('hrun', 77) });
    const rerun = await packBundle(input, makeSigning(signer, { original }));
    const bytes = await collect(rerun.archive());
    expect((await verify(bytes)).verdict).toBe('verified');
    const plain = packBundle(makeBundleInput(1), makeSigning(signer, { original }));
    await expect(plain).rejects.toMatchObject({ code: 'pack.INPUT_INVALID' });
  });
});

type Manifest = Json & { objects: Json[] };

/** The part with an edited manifest and a statement about it, signed again by the trusted key. */
async function withManifest(edit: (manifest: Manifest) => void, files = entries): Promise<Uint8Array> {
  const manifest = edited<Manifest>(files.get('manifest.json'), edit);
  const attestation = await forge(files.get(ATTESTATION), signer, (statement) => {
    statement.subject.manifestDigest = hashOf(new TextDecoder().decode(manifest));
  });
  return pack(new Map(files).set('manifest.json', manifest).set(ATTESTATION, attestation));
}

/** The part with an edited run result that manifest and statement name, signed again by the trusted key. */
async function withRunResult(edit: (result: RunResult) => void): Promise<Uint8Array> {
  const path = 'objects/run-result.json';
  const result = edited<RunResult>(entries.get(path), edit);
  const digest = hashOf(new TextDecoder().decode(result));
  const attestation = await forge(
    entries.get(ATTESTATION),
    signer,
    (s) => void (s.subject.runResultHash = digest),
  );
  const files = new Map(entries).set(path, result).set(ATTESTATION, attestation);
  return withManifest(({ objects }) => {
    const row = objects.find((object) => object['path'] === path)!;
    Object.assign(row, { digest, bytes: result.length });
  }, files);
}

describe('the form of an attestation', () => {
  const faults: [string, (attestation: Json & { statement: Json & { subject: Json } }) => void][] = [
    ['an unknown member', (a) => void (a['extra'] = 1)],
    ['an unknown member of the statement', (a) => void (a.statement['extra'] = 1)],
    ['an unknown member of the subject', (a) => void (a.statement.subject['extra'] = 1)],
    ['another algorithm', (a) => void (a['algorithm'] = 'none')],
    ['another encoding', (a) => void (a['encoding'] = 'p1363-base64url')],
    ['an empty signature', (a) => void (a['signature'] = '')],
    ['an empty keyId', (a) => void (a.statement['keyId'] = '')],
    ['a keyId of 257 characters', (a) => void (a.statement['keyId'] = 'k'.repeat(257))],
    ['a member __proto__', (a) => Object.defineProperty(a, '__proto__', { value: 1, enumerable: true })],
  ];
  test.each(faults)('is invalid with %s', async (_, edit) => {
    const report = await verify(await withAttestation(edited(entries.get(ATTESTATION), edit)));
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.INVALID']]);
    expect(stateOf(report, 'attestation.signature')).toBe('not_checked');
  });

  test('is refused with a byte that is not its own', async () => {
    const spaced = toUtf8(`${new TextDecoder().decode(entries.get(ATTESTATION))}\n`);
    const report = await verify(await withAttestation(spaced));
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['json.NOT_CANONICAL']]);
  });

  const signatureEdits: [string, (signature: string) => string][] = [
    ['padding', (signature) => `${signature}==`],
    ['the standard alphabet', (signature) => `${signature.slice(0, -1)}+`],
    ['a trailing byte', (signature) => toBase64url(Uint8Array.of(...fromBase64url(signature), 0))],
    ['r of zero', () => toBase64url(encode(0n, 1n))],
    ['s of the order', () => toBase64url(encode(1n, N))],
    ['bare r and s', () => toBase64url(new Uint8Array(64).fill(1))],
  ];
  test.each(signatureEdits)('is refused when the signature has %s', async (_, edit) => {
    const changed = edited(
      entries.get(ATTESTATION),
      (a) => void (a['signature'] = edit(String(a['signature']))),
    );
    for (const options of [{ trust }, {}]) {
      const report = await verifyPart(memoryAccess(await withAttestation(changed)), {
        asOfMs: NOW,
        ...options,
      });
      expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.SIGNATURE_ENCODING']]);
    }
  });

  test('with (r, n - s) in place of (r, s) is the same attestation', async () => {
    const twin = edited(entries.get(ATTESTATION), (a) => {
      const [r, s] = integers(fromBase64url(String(a['signature'])));
      a['signature'] = toBase64url(encode(r, N - s));
    });
    const report = await verify(await withAttestation(twin));
    expect([report.verdict, report.findings]).toEqual(['verified', []]);
  });

  test('with a signature over another statement is invalid', async () => {
    const other = edited<Json & { statement: Json }>(entries.get(ATTESTATION), (a) => {
      a.statement['issuedAtMs'] = ISSUED + 1;
    });
    const report = await verify(await withAttestation(other));
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.SIGNATURE_INVALID']]);
    expect(report.signer).toBeUndefined();
  });
});

test('the type of a statement must be that of evidence: the type of an export attestation is refused', async () => {
  const report = await verify(await withStatement((s) => void (s.predicateType = EXPORT_PREDICATE_TYPE)));
  expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.PREDICATE_UNSUPPORTED']]);
  expect(report.signer).toBeUndefined();
});

test('the type of a statement may be another one that the caller accepts, and then not ours', async () => {
  const type = 'https://example.com/evidence/v1';
  const bytes = await withStatement((s) => void (s.predicateType = type));
  const predicateTypes = { evidence: [type], export: [] };
  expect((await verify(bytes, { predicateTypes })).verdict).toBe('verified');
  expect(errorsOf(await verify(part, { predicateTypes }))).toEqual(['attestation.PREDICATE_UNSUPPORTED']);
});

test('the type of a statement is not open to a whole export attestation', async () => {
  const { files } = await makeExport({ signer });
  const report = await verify(await withAttestation(files['export-attestation.json']!));
  expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.INVALID']]);
});

const trustedKey = ({ keyId, point: bytes }: Signer): TrustedKey => ({
  issuer: ISSUER,
  keyId,
  point: bytes,
  compromised: true,
  purposes: ['evidence'],
});

const withKey = (rest: Partial<TrustedKey>): VerifyPartOptions => ({
  asOfMs: NOW,
  trust: makeTrust(signer, rest),
});

describe('the key of a statement', () => {
  const judged: [string, Partial<TrustedKey>, string[]][] = [
    ['from this millisecond on', { notBeforeMs: ISSUED }, []],
    ['from the next millisecond on', { notBeforeMs: ISSUED + 1 }, ['trust.KEY_NOT_YET_VALID']],
    ['until the millisecond before', { notAfterMs: ISSUED - 1 }, ['trust.KEY_EXPIRED']],
    ['compromised later', { revokedAtMs: NOW }, ['trust.KEY_REVOKED']],
    ['revoked in this millisecond', { revokedAtMs: ISSUED, compromised: false }, ['trust.KEY_REVOKED']],
    ['for exports only', { purposes: ['export'] }, ['trust.PURPOSE_MISMATCH']],
    ['for another project', { projects: [idOf('prj', 9)] }, ['trust.PROJECT_MISMATCH']],
    ['for this project', { projects: [PROJECT] }, []],
    ['for another organization', { organizations: [idOf('org', 9)] }, ['trust.ORGANIZATION_MISMATCH']],
    ['for this organization', { organizations: [ORGANIZATION] }, []],
    ['of another issuer', { issuer: 'https://other.example' }, ['trust.KEY_UNKNOWN']],
    ['of an issuer that looks alike', { issuer: `${ISSUER}/` }, ['trust.KEY_UNKNOWN']],
    ['under another id', { keyId: 'other' }, ['trust.KEY_UNKNOWN']],
    ['with another point', { point: makeSigner().point }, ['attestation.SIGNATURE_INVALID']],
  ];
  test.each(judged)('that speaks %s', async (_, rest, codes) => {
    const report = await verifyPart(memoryAccess(part), withKey(rest));
    expect(errorsOf(report)).toEqual(codes);
    expect(report.verdict).toBe(codes.length === 0 ? 'verified' : 'failed');
    expect(report.signer === undefined).toBe(codes.length > 0);
  });

  test.each([
    ['retired after it signed', { notAfterMs: ISSUED }],
    ['revoked after it signed', { revokedAtMs: ISSUED + 1, compromised: false }],
  ])('%s still speaks, and only the signer says when', async (_, rest) => {
    const report = await verifyPart(memoryAccess(part), withKey(rest));
    expect([report.verdict, codesOf(report)]).toEqual(['verified', ['attestation.TIME_CLAIMED']]);
  });

  test.each(['__proto__', 'constructor', '../../x', ' ', '\u0000'])(
    'may have any name: %j',
    async (keyId) => {
      const named = { ...signer, keyId };
      const bytes = (await makePart(1, named)).bytes;
      expect(errorsOf(await verify(bytes))).toEqual(['trust.KEY_UNKNOWN']);
      const known = makeTrust(named, { keyId });
      expect((await verify(bytes, { trust: known })).verdict).toBe('verified');
      expect(errorsOf(await verify(bytes, { trust: makeTrust(makeSigner(), { keyId }) }))).toEqual([
        'attestation.SIGNATURE_INVALID',
      ]);
    },
  );

  test('is chosen by its id among keys that overlap', async () => {
    const old = makeSigner();
    const both = trustStore([trustedKey(old), trustedKey(signer)]);
    for (const one of [old, signer])
      expect((await verify((await makePart(1, one)).bytes, { trust: both })).verdict).toBe('verified');
  });
});

const issuedAt = (issuedAtMs: number): Promise<Uint8Array> =>
  withStatement((s) => void (s.issuedAtMs = issuedAtMs));

test('the time of a statement may be that of the verification, and not a millisecond later', async () => {
  expect((await verify(await issuedAt(NOW))).verdict).toBe('verified');
  const report = await verify(await issuedAt(NOW + 1));
  expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.ISSUED_IN_FUTURE']]);
  expect(report.signer).toBeUndefined();
});

describe('a second opinion', () => {
  const second = { p256: portable.p256, readZip: readZipWithYauzl };

  test('that agrees is reported', async () => {
    const report = await verify(part, { secondOpinion: second });
    expect([report.verdict, stateOf(report, 'second.reader'), stateOf(report, 'second.crypto')]).toEqual([
      'verified',
      'passed',
      'passed',
    ]);
  });

  test('that disagrees about the signature fails the part', async () => {
    const p256 = { ...portable.p256, verifier: () => ({ verify: () => false }) };
    const report = await verify(part, { secondOpinion: { ...second, p256 } });
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.SECOND_OPINION']]);
  });

  test.each([
    ['one entry less', (seen: Entry[]) => seen.slice(1)],
    ['one entry twice', (seen: Entry[]) => [...seen, seen[0]!]],
    ['one entry more', (seen: Entry[]) => [...seen, { ...seen[0]!, name: 'more' }]],
    [
      'other bytes',
      (seen: Entry[]) => seen.map((entry) => ({ ...entry, digest: hashOf('x') as Entry['digest'] })),
    ],
    ['another size', (seen: Entry[]) => seen.map((entry) => ({ ...entry, bytes: entry.bytes + 1 }))],
  ])('that sees %s fails', async (_, change) => {
    async function* readZip(access: Parameters<typeof readZipWithYauzl>[0]): AsyncGenerator<Entry> {
      const seen: Entry[] = [];
      for await (const entry of readZipWithYauzl(access)) seen.push(entry);
      yield* change(seen);
    }
    const report = await verify(part, { secondOpinion: { ...second, readZip } });
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['zip.SECOND_OPINION']]);
  });
});

type Entry = { name: string; bytes: number; digest: `sha256:${string}` };

test('a run result that is signed must be one, unsigned or signed', async () => {
  const path = 'objects/run-result.json';
  const text = '{"schemaVersion":1}';
  for (const name of [ATTESTATION, 'none']) {
    const forged = await repacked(part, (copy) => {
      copy.delete(name);
      copy.set(path, toUtf8(text));
      const manifest = edited<Manifest>(copy.get('manifest.json'), ({ objects }) => {
        const row = objects.find((object) => object['path'] === path)!;
        Object.assign(row, { digest: hashOf(text), bytes: text.length });
      });
      copy.set('manifest.json', manifest);
    });
    const report = await verify(forged);
    expect(report.verdict).toBe('failed');
    expect(errorsOf(report)).toContain('bundle.RUN_RESULT_INVALID');
  }
});

test('a run result that is signed gives the outcome, and a failed drill is as verified as a passed one', async () => {
  const failed = makeRunResult(1, { verdict: 'failed' });
  const bytes = (await makePart(1, signer, { runResult: failed })).bytes;
  const report = await verify(bytes);
  expect([report.verdict, report.outcome?.verdict]).toEqual(['verified', 'failed']);
});

test('signing refuses a statement that names another key', async () => {
  const { statement } = (await makePart(1, signer)).packed.attestation!;
  await expect(attest(statement, makeSigner())).rejects.toThrow(TypeError);
});
