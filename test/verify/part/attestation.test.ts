import { describe, expect, test } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { fromUtf8 } from '../../../src/bytes/text/encoding.ts';
import type { RandomAccess } from '../../../src/bytes/random-access.ts';
import type { RunResult } from '../../../src/contract/resources/run.ts';
import { attest } from '../../../src/evidence/bundle/attestation.ts';
import { packBundle } from '../../../src/evidence/bundle/pack-bundle.ts';
import { secondOpinion, type SeenEntry } from '../../../src/node/second-opinion/second-opinion.ts';
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
import { attestation, entries, part, signer, verify, withManifest, withStatement } from './setup.ts';

describe('a signed bundle', () => {
  test('fails when the statement names a different manifest', async () => {
    const actual = hashOf('other');
    const report = await verify(await withStatement((s) => void (s.subject.manifestDigest = actual)));
    expect(errorsOf(report)).toEqual(['attestation.SUBJECT_MISMATCH']);
    const path = 'attestation.json#/statement/subject/manifestDigest';
    expect(report.findings).toMatchObject([{ path, expected: report.manifestDigest, actual }]);
    expect(report.verdict).toBe('failed');
  });

  test.each<[string, () => Promise<Uint8Array>]>([
    ['reproduction.drillId', () => withStatement((s) => void (s.subject.reproduction.drillId = 'other'))],
    ['result.stateHash', () => withRunResult((result) => void (result.stateHash = hashOf('x')))],
    ['result.evidenceHash', () => withRunResult((result) => void (result.evidenceHash = hashOf('x')))],
    ['result.trajectoryHash', () => withRunResult((result) => void (result.trajectoryHash = hashOf('x')))],
    [
      'result.identity.runId',
      () => withRunResult((result) => void (result.identity.runId = 'run_other-run')),
    ],
    ['subject.runId', () => withManifest((m) => void (m['runId'] = 'run_other-run'))],
  ])('fails when %s differs, even if everything was signed again', async (path, make) => {
    const { verdict, findings } = await verify(await make());
    expect([verdict, findings.length]).toEqual(['failed', 1]);
    expect(findings).toMatchObject([{ code: 'bundle.BINDING_MISMATCH', path }]);
  });

  test.each(['run-result', 'evidence', 'state', 'trajectory'])(
    'fails when no object has the role %s',
    async (role) => {
      const bytes = await withManifest(({ objects }) => {
        for (const object of objects) if (object['role'] === role) object['role'] = 'file';
      });
      const { verdict, findings } = await verify(bytes);
      expect(verdict).toBe('failed');
      const invalid = { code: 'bundle.MANIFEST_INVALID', path: 'manifest.json#/objects' };
      expect(findings).toContainEqual(expect.objectContaining(invalid));
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

test('the time of a statement may be that of the verification, but not a millisecond later', async () => {
  const [now, later] = [NOW, NOW + 1].map((issuedAtMs) =>
    withStatement((s) => void (s.issuedAtMs = issuedAtMs)),
  );
  expect((await verify(await now!)).verdict).toBe('verified');
  const report = await verify(await later!);
  expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.ISSUED_IN_FUTURE']]);
  expect(report.signer).toBeUndefined();
});

describe('a second opinion', () => {
  test('that agrees is reported', async () => {
    const report = await verify(part, { secondOpinion });
    expect(report.verdict).toBe('verified');
    for (const id of ['second.reader', 'second.crypto'] as const) expect(stateOf(report, id)).toBe('passed');
  });

  test('that disagrees about the signature fails the part', async () => {
    const p256 = { ...secondOpinion.p256, verifier: () => ({ verify: () => false }) };
    const report = await verify(part, { secondOpinion: { ...secondOpinion, p256 } });
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.SECOND_OPINION']]);
  });

  test.each([
    ['one entry less', (seen: SeenEntry[]) => seen.slice(1)],
    ['one entry twice', (seen: SeenEntry[]) => [...seen, seen[0]!]],
    ['one entry more', (seen: SeenEntry[]) => [...seen, { ...seen[0]!, name: 'more' }]],
    ['other bytes', (seen: SeenEntry[]) => seen.map((entry) => ({ ...entry, digest: digestOf(part) }))],
    ['another size', (seen: SeenEntry[]) => seen.map((entry) => ({ ...entry, bytes: entry.bytes + 1 }))],
  ])('that sees %s fails', async (_, change) => {
    async function* readZip(access: RandomAccess): AsyncGenerator<SeenEntry> {
      const seen: SeenEntry[] = [];
      for await (const entry of secondOpinion.readZip(access)) seen.push(entry);
      yield* change(seen);
    }
    const report = await verify(part, { secondOpinion: { ...secondOpinion, readZip } });
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['zip.SECOND_OPINION']]);
  });
});

test('signing refuses a statement that names another key', async () => {
  await expect(attest(attestation.statement, makeSigner())).rejects.toThrow(TypeError);
});
