import { describe, expect, test } from 'vitest';
import { fromUtf8 } from '../../../src/bytes/index.ts';
import { platform as portable } from '../../../src/bytes/platform-portable.ts';
import type { RunResult } from '../../../src/contract/index.ts';
import { attest, packBundle } from '../../../src/evidence/index.ts';
import { readZipWithYauzl } from '../../../src/node/second-opinion/index.ts';
import {
  collect,
  editJson,
  errorsOf,
  hashOf,
  idOf,
  makeBundleInput,
  makeSigner,
  makeSigning,
  NOW,
  stateOf,
} from '../../support/evidence.ts';
import { entries, packed, part, signer, verify, withManifest, withStatement } from './setup.ts';

const findingsOf = async (bytes: Uint8Array) =>
  (await verify(bytes)).findings.map(({ code, path }) => [code, path]);

describe('a signed bundle', () => {
  test.each<[string, unknown]>([
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
  ])('fails when the reproduction has another %s: %s', async (field, value) => {
    const bytes = await withStatement(({ subject: { reproduction } }) => {
      if (value === undefined) Reflect.deleteProperty(reproduction, field);
      else Object.assign(reproduction, { [field]: value });
    });
    expect(await findingsOf(bytes)).toEqual([['bundle.BINDING_MISMATCH', `reproduction.${field}`]]);
    expect((await verify(bytes)).verdict).toBe('failed');
  });

  test('fails when the statement names a different manifest', async () => {
    const actual = hashOf('other');
    const report = await verify(await withStatement((s) => void (s.subject.manifestDigest = actual)));
    expect(errorsOf(report)).toEqual(['attestation.SUBJECT_MISMATCH']);
    const path = 'attestation.json#/statement/subject/manifestDigest';
    expect(report.findings).toMatchObject([{ path, expected: report.manifestDigest, actual }]);
    expect(report.verdict).toBe('failed');
  });

  test.each<[string, (result: RunResult) => void]>([
    ['stateHash', (result) => void (result.stateHash = hashOf('x'))],
    ['evidenceHash', (result) => void (result.evidenceHash = hashOf('x'))],
    ['trajectoryHash', (result) => void (result.trajectoryHash = hashOf('x'))],
    ['identity.runId', (result) => void (result.identity.runId = 'run_other-run')],
  ])('fails when the run result has another %s, even if everything was signed again', async (name, edit) => {
    const bytes = await withRunResult(edit);
    expect(await findingsOf(bytes)).toEqual([['bundle.BINDING_MISMATCH', `result.${name}`]]);
    expect((await verify(bytes)).verdict).toBe('failed');
  });

  test('fails when the runId of the manifest differs from that of the statement and the result', async () => {
    const bytes = await withManifest((m) => void (m['runId'] = 'run_other-run'));
    expect(await findingsOf(bytes)).toEqual([['bundle.BINDING_MISMATCH', 'subject.runId']]);
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

/** The part with an edited run result that manifest and statement name, signed again by the trusted key. */
async function withRunResult(edit: (result: RunResult) => void): Promise<Uint8Array> {
  const path = 'objects/run-result.json';
  const result = editJson<RunResult>(entries.get(path), edit);
  const digest = hashOf(fromUtf8(result));
  const list = ({ objects }: { objects: object[] }): void => {
    const row = objects.find((object) => 'path' in object && object.path === path)!;
    Object.assign(row, { digest, bytes: result.length });
  };
  return withManifest(list, new Map(entries).set(path, result), { runResultHash: digest });
}

test('the type of a statement may be another one that the caller accepts, and then not the default', async () => {
  const type = 'https://example.com/evidence/v1';
  const bytes = await withStatement((s) => void (s.predicateType = type));
  const predicateTypes = { evidence: [type], export: [] };
  expect((await verify(bytes, { predicateTypes })).verdict).toBe('verified');
  expect(errorsOf(await verify(part, { predicateTypes }))).toEqual(['attestation.PREDICATE_UNSUPPORTED']);
});

const issuedAt = (issuedAtMs: number): Promise<Uint8Array> =>
  withStatement((s) => void (s.issuedAtMs = issuedAtMs));

test('the time of a statement may be that of the verification, but not a millisecond later', async () => {
  expect((await verify(await issuedAt(NOW))).verdict).toBe('verified');
  const report = await verify(await issuedAt(NOW + 1));
  expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.ISSUED_IN_FUTURE']]);
  expect(report.signer).toBeUndefined();
});

describe('a second opinion', () => {
  const second = { p256: portable.p256, readZip: readZipWithYauzl };

  test('that agrees is reported', async () => {
    const report = await verify(part, { secondOpinion: second });
    expect(report.verdict).toBe('verified');
    for (const id of ['second.reader', 'second.crypto'] as const) expect(stateOf(report, id)).toBe('passed');
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
  await expect(attest(packed.attestation!.statement, makeSigner())).rejects.toThrow(TypeError);
});
