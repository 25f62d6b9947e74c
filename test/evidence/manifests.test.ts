import { expect, test } from 'vitest';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { listBrokenBindings, buildReproduction } from '../../src/evidence/bundle/statement.ts';
import { parseBuildLock } from '../../src/evidence/build-lock.ts';
import { listResourceDifferences } from '../../src/evidence/export/manifest.ts';
import { codeOf } from '../bytes/thrown-by.ts';
import { hashOf, idOf, makeExport, makePart, makeRunResult, makeSigner } from '../support/evidence.ts';

const sample = await makeExport({ reports: 2 });

/** Facts of a signed bundle whose bindings hold. */
async function makeFacts(identity: object = {}) {
  const { manifest, manifestDigest, attestation } = (await makePart(1, makeSigner())).packed;
  const { statement } = attestation!;
  const { evidenceHash, stateHash, trajectoryHash } = statement.subject;
  const result = makeRunResult(1);
  const hashes = { evidenceHash, stateHash, trajectoryHash };
  const runResult = { ...result, ...hashes, identity: { ...result.identity, ...identity } };
  return { manifest, manifestDigest, statement, runResult };
}

test('an export resource agrees with the manifest it was made from', () => {
  const { resource, manifest, manifestDigest, documents } = sample.packed;
  expect(listResourceDifferences(resource, manifest, manifestDigest, documents[0]!.bytes.length)).toEqual([]);
});

test('an export resource names every field that differs, with both values', () => {
  const { resource, manifest, manifestDigest, documents } = sample.packed;
  const { localReportCount: _count, ...rest } = resource;
  const differing = {
    ...rest,
    state: 'failed' as const,
    bundleCount: 3,
    scope: { kind: 'organization' as const },
  };
  expect(listResourceDifferences(differing, manifest, manifestDigest, documents[0]!.bytes.length)).toEqual([
    { field: 'state', expected: 'available', actual: 'failed' },
    {
      field: 'scope',
      expected: '{"kind":"project","projectId":"prj_000000000001"}',
      actual: '{"kind":"organization"}',
    },
    { field: 'bundleCount', expected: '2', actual: '3' },
    { field: 'localReportCount', expected: '2', actual: 'absent' },
  ]);
});

const lockWith = (...packages: object[]): unknown =>
  codeOf(() => parseBuildLock(canonicalBytes({ schemaVersion: 1, kind: 'build', packages })));

test('a build lock may have no packages, several, and one with a page', () => {
  expect(lockWith()).toBeUndefined();
  expect(lockWith(packageOf(), packageOf({ packageId: 'b' }))).toBeUndefined();
  expect(lockWith(packageOf({ ui: { entry: 'a/index.html', assets: [] } }))).toBeUndefined();
});

const packageOf = (rest = {}): object => ({
  packageId: 'a',
  version: '1.0.0',
  manifestHash: hashOf('m'),
  artifactHash: hashOf('a'),
  manifest: 'a/m.json',
  source: 'a/i.js',
  ...rest,
});

test('a build lock may not have a package twice', () => {
  expect(lockWith(packageOf(), packageOf({ version: '2.0.0' }))).toBe('build.ARCHIVE_INVALID');
});

test('bindings of the same facts are whole, and every reproduced field is compared', async () => {
  const facts = await makeFacts();
  const { manifest, statement, runResult } = facts;
  expect(listBrokenBindings(facts)).toEqual([]);
  for (const field of Object.keys(buildReproduction(runResult.identity))) {
    if (field === 'schemaVersion' || field === 'scope') continue;
    const reproduction = { ...statement.subject.reproduction, [field]: 'other' };
    const changed = { ...statement, subject: { ...statement.subject, reproduction } };
    const broken = listBrokenBindings({ ...facts, statement: changed });
    expect(broken.map((binding) => binding.field)).toEqual([`reproduction.${field}`]);
    // The counters of a rerun are those of the original run.
    const rerun = { ...manifest, rerunOfHostedRunId: idOf('hrun', 5) };
    const bindings = listBrokenBindings({ ...facts, manifest: rerun, statement: changed });
    expect(bindings.length).toBe(field.startsWith('original') ? 0 : 1);
  }
});

test('bindings show a missing value as absent', async () => {
  expect(listBrokenBindings(await makeFacts({ setupHash: undefined }))).toEqual([
    { field: 'reproduction.setupHash', expected: hashOf('setup'), actual: 'absent' },
  ]);
});
