import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';

import { type RunResult } from '../../../src/contract/index.ts';
import { attest, packBundle, type Statement } from '../../../src/evidence/index.ts';
import { platform as portable } from '../../../src/bytes/platform-portable.ts';

import { verifyPart, type BundleReport, type VerifyPartOptions } from '../../../src/verify/index.ts';
import { readZipWithYauzl } from '../../../src/node/second-opinion/index.ts';

import {
  collect,
  edited,
  errorsOf,
  forge,
  hashOf,
  idOf,
  makeBundleInput,
  makePart,
  makeSigner,
  makeSigning,
  makeTrust,
  NOW,
  pack,
  stateOf,
  unpack,
  type Json,
} from '../../support/evidence.ts';

const ATTESTATION = 'attestation.json';

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

  test('fails when the runId of the manifest differs from that of the statement and the result', async () => {
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

test('the type of a statement may be another one that the caller accepts, and then not ours', async () => {
  const type = 'https://example.com/evidence/v1';
  const bytes = await withStatement((s) => void (s.predicateType = type));
  const predicateTypes = { evidence: [type], export: [] };
  expect((await verify(bytes, { predicateTypes })).verdict).toBe('verified');
  expect(errorsOf(await verify(part, { predicateTypes }))).toEqual(['attestation.PREDICATE_UNSUPPORTED']);
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

test('signing refuses a statement that names another key', async () => {
  const { statement } = (await makePart(1, signer)).packed.attestation!;
  await expect(attest(statement, makeSigner())).rejects.toThrow(TypeError);
});
