import { describe, expect, test } from 'vitest';
import { canonicalBytes, fromUtf8 } from '../../src/bytes/index.ts';
import {
  artifactBytes,
  brokenBindings,
  objectOfRole,
  parseBuildLock,
  parseBundleManifest,
  parseExportManifest,
  reproductionOf,
  resourceDifferences,
  type ExportManifest,
} from '../../src/evidence/index.ts';
import { hashOf, idOf, makeExport, makePart, makeRunResult, makeSigner } from '../support/evidence.ts';

const bundle = (await makePart(1)).packed.manifest;
const made = await makeExport({ reports: 2 });

const codeOf = (act: () => unknown): unknown => {
  try {
    act();
    return 'accepted';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

type Draft<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer R)[] ? Draft<R>[] : T[K] };

const bundleWith = (members: object): unknown =>
  codeOf(() => parseBundleManifest(canonicalBytes({ ...bundle, ...members })));

function exportWith(edit: (manifest: Draft<ExportManifest>) => void): unknown {
  const copy = structuredClone(made.packed.manifest) as Draft<ExportManifest>;
  edit(copy);
  return codeOf(() => parseExportManifest(canonicalBytes(copy)));
}

type Objects = readonly object[];
const rowOf = (path: string, rest = {}): object => ({
  path,
  mediaType: 'text/plain',
  digest: hashOf(path),
  bytes: 0,
  ...rest,
});

describe('a bundle manifest', () => {
  const accepted: [string, Objects][] = [
    ['no objects', []],
    ['an object of no bytes', [rowOf('objects/a')]],
    ['an object of the most bytes', [rowOf('objects/a', { bytes: 2 ** 53 - 1 })]],
    [
      'logs and files in any number',
      [rowOf('objects/a', { role: 'log' }), rowOf('objects/b', { role: 'log' })],
    ],
    ['a media type with parameters', [rowOf('objects/a', { mediaType: 'text/plain;charset=utf-8' })]],
    ['paths sorted by bytes, not by code units', [rowOf('objects/\u{ff61}'), rowOf('objects/\u{1f600}')]],
    ['capitals before small letters', [rowOf('objects/B'), rowOf('objects/a')]],
    ['a path of 1,024 bytes', [rowOf(`objects/${'a'.repeat(1016)}`)]],
  ];
  test.each(accepted)('may have %s', (_, objects) => expect(bundleWith({ objects })).toBe('accepted'));
  test('may have a time before 1970', () => expect(bundleWith({ createdAtMs: -1 })).toBe('accepted'));

  const refused: [string, Objects][] = [
    ['a path of 1,025 bytes', [rowOf(`objects/${'a'.repeat(1017)}`)]],
    ['paths sorted by code units', [rowOf('objects/\u{1f600}'), rowOf('objects/\u{ff61}')]],
    ['paths that differ in case only', [rowOf('objects/A'), rowOf('objects/a')]],
    ['paths that differ by folding only', [rowOf('objects/STRASSE'), rowOf('objects/straße')]],
    ['a path in NFD', [rowOf('objects/o\u0308')]],
    ['an absolute path', [rowOf('/objects/a')]],
    ['the folder itself', [rowOf('objects/')]],
    ['a folder that begins alike', [rowOf('objectsx/a')]],
    ['a backslash', [rowOf('objects/a\\b')]],
    ['a NUL', [rowOf('objects/a\0')]],
    ['a device', [rowOf('objects/com1.log')]],
    ['a trailing dot', [rowOf('objects/a.')]],
    ['half a byte', [rowOf('objects/a', { bytes: 0.5 })]],
    ['more bytes than a double holds', [rowOf('objects/a', { bytes: 2 ** 53 })]],
    ['a media type without subtype', [rowOf('objects/a', { mediaType: 'text' })]],
    ['a media type of 256 characters', [rowOf('objects/a', { mediaType: `a/${'b'.repeat(254)}` })]],
    ['a media type with a line feed', [rowOf('objects/a', { mediaType: 'a/b;\n' })]],
    ['a digest of another kind', [rowOf('objects/a', { digest: `sha512:${'0'.repeat(64)}` })]],
    ['a short digest', [rowOf('objects/a', { digest: `sha256:${'0'.repeat(63)}` })]],
    ...(['run-result', 'evidence', 'state', 'trajectory'] as const).map((role): [string, Objects] => [
      `the role ${role} twice`,
      [rowOf('objects/a', { role }), rowOf('objects/b', { role })],
    ]),
  ];
  test.each(refused)('may not have %s', (_, objects) =>
    expect(bundleWith({ objects })).toBe('bundle.MANIFEST_INVALID'),
  );
  test.each([
    ['in capitals', 'evidence_ABCDEFGHIJKL'],
    ['of 11 characters', 'evidence_00000000001'],
    ['with a line feed', 'evidence_000000000001\n'],
  ])('may not have an id %s', (_, evidenceBundleId) =>
    expect(bundleWith({ evidenceBundleId })).toBe('bundle.MANIFEST_INVALID'),
  );

  test('finds and counts its objects', () => {
    expect(objectOfRole(bundle, 'state')?.path).toBe('objects/state.json');
    expect(objectOfRole({ ...bundle, objects: [] }, 'state')).toBeUndefined();
    expect(artifactBytes(bundle)).toBe(bundle.objects.reduce((sum, { bytes }) => sum + bytes, 0));
  });
});

describe('an export manifest', () => {
  const id = idOf('evidence', 9);
  const accepted: [string, (m: Draft<ExportManifest>) => void][] = [
    ['no rows', (m) => void Object.assign(m, { parts: [], localReports: [] })],
    ['a window of no time', (m) => void (m.throughAtMs = m.fromAtMs)],
    [
      'the scope of an organization, with any projects',
      (m) => {
        m.scope = { kind: 'organization' };
        m.parts[0]!.projectId = idOf('prj', 9);
      },
    ],
    [
      'a report id from elsewhere',
      (m) => Object.assign(m.localReports[0]!, { localReportId: 'A_b-1', path: 'local-reports/A_b-1.zip' }),
    ],
    ['a part of the most bytes', (m) => void (m.parts[0]!.bytes = String(2 ** 53 - 1))],
    ['claims of any size', (m) => void (m.localReports[0]!.expandedBytes = '9'.repeat(38))],
  ];
  test.each(accepted)('may have %s', (_, edit) => expect(exportWith(edit)).toBe('accepted'));

  const refused: [string, (m: Draft<ExportManifest>) => void][] = [
    ['a path of another id', (m) => void (m.parts[0]!.evidenceBundleId = id)],
    ['a path elsewhere', (m) => void (m.parts[0]!.path = `${m.parts[0]!.evidenceBundleId}.zip`)],
    ['an ordinal from 1', (m) => m.parts.forEach((row, i) => void (row.ordinal = i + 1))],
    ['an ordinal twice', (m) => void (m.parts[1]!.ordinal = 0)],
    [
      'reports counted on from the parts',
      (m) => m.localReports.forEach((row, i) => void (row.ordinal = i + 2)),
    ],
    ['a bundle twice', (m) => m.parts.push({ ...m.parts[0]!, ordinal: 2 })],
    [
      'a report twice, up to case',
      (m) => {
        m.localReports[0]!.localReportId = 'a';
        m.localReports[0]!.path = 'local-reports/a.zip';
        Object.assign(m.localReports[1]!, { localReportId: 'A', path: 'local-reports/A.zip' });
      },
    ],
    [
      'a report named as a device',
      (m) => Object.assign(m.localReports[0]!, { localReportId: 'nul', path: 'local-reports/nul.zip' }),
    ],
    [
      'a report id with a slash',
      (m) => Object.assign(m.localReports[0]!, { localReportId: 'a/b', path: 'local-reports/a/b.zip' }),
    ],
    ['another project than its scope', (m) => void (m.parts[0]!.projectId = idOf('prj', 9))],
    ['a report of another project', (m) => void (m.localReports[0]!.projectId = idOf('prj', 9))],
    ['bytes as a number', (m) => Object.assign(m.parts[0]!, { bytes: 1 })],
    ['bytes with a leading zero', (m) => void (m.parts[0]!.bytes = '01')],
    ['more bytes than a file can have', (m) => void (m.parts[0]!.bytes = String(2n ** 53n))],
    ['a window that ends before it begins', (m) => void (m.throughAtMs = m.fromAtMs - 1)],
    ['a scope of both kinds', (m) => Object.assign(m.scope, { kind: 'organization' })],
    ['signed as text', (m) => Object.assign(m.parts[0]!, { signed: 'true' })],
  ];
  test.each(refused)('may not have %s', (_, edit) =>
    expect(exportWith(edit)).toBe('export.MANIFEST_INVALID'),
  );
});

test('an export resource agrees with the manifest it was made from', () => {
  const { resource, manifest, manifestDigest, documents } = made.packed;
  expect(resourceDifferences(resource, manifest, manifestDigest, documents[0]!.bytes.length)).toEqual([]);
});

test('an export resource names every field that differs, with both values', () => {
  const { resource, manifest, manifestDigest, documents } = made.packed;
  const { localReportCount: _count, ...rest } = resource;
  const differing = {
    ...rest,
    state: 'failed' as const,
    bundleCount: 3,
    scope: { kind: 'organization' as const },
  };
  expect(resourceDifferences(differing, manifest, manifestDigest, documents[0]!.bytes.length)).toEqual([
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
  expect(lockWith()).toBe('accepted');
  expect(lockWith(packageOf(), packageOf({ packageId: 'b' }))).toBe('accepted');
  expect(lockWith(packageOf({ ui: { entry: 'a/index.html', assets: [] } }))).toBe('accepted');
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

test.each([
  ['an invalid version', { version: '1.0' }],
  ['a path that climbs', { source: '../i.js' }],
  ['an absolute path', { manifest: '/m.json' }],
  ['an id that is not a slug', { packageId: 'A' }],
  [
    'an asset that climbs',
    { ui: { entry: 'x', assets: [{ path: '../x', mediaType: 'a/b', artifactHash: hashOf('x'), bytes: 0 }] } },
  ],
  ['an unknown member', { more: 1 }],
])('a build lock may not have %s', (_, rest) =>
  expect(lockWith(packageOf(rest))).toBe('build.ARCHIVE_INVALID'),
);

test('a build lock may not have a package twice', () => {
  expect(lockWith(packageOf(), packageOf({ version: '2.0.0' }))).toBe('build.ARCHIVE_INVALID');
});

test('bindings of the same facts are whole, and every reproduced field is compared', async () => {
  const signer = makeSigner();
  const { packed } = await makePart(1, signer);
  const { manifest, manifestDigest } = packed;
  const { statement } = packed.attestation!;
  const { evidenceHash, stateHash, trajectoryHash } = statement.subject;
  const runResult = { ...makeRunResult(1), evidenceHash, stateHash, trajectoryHash };
  expect(brokenBindings({ manifest, manifestDigest, runResult, statement })).toEqual([]);
  for (const field of Object.keys(reproductionOf(runResult.identity))) {
    if (field === 'schemaVersion' || field === 'scope') continue;
    const reproduction = { ...statement.subject.reproduction, [field]: 'other' };
    const changed = { ...statement, subject: { ...statement.subject, reproduction } };
    const broken = brokenBindings({ manifest, manifestDigest, runResult, statement: changed });
    expect(broken.map(({ field: broke }) => broke)).toEqual([`reproduction.${field}`]);
    // In a rerun the counters are those of the original run, and everything else is bound as ever.
    const rerun = { ...manifest, rerunOfHostedRunId: idOf('hrun', 5) };
    const ofRerun = brokenBindings({ manifest: rerun, manifestDigest, runResult, statement: changed });
    expect(ofRerun.length).toBe(field.startsWith('original') ? 0 : 1);
  }
});

test('bindings show a missing value as absent', async () => {
  const { packed } = await makePart(1, makeSigner());
  const { manifest, manifestDigest } = packed;
  const { statement } = packed.attestation!;
  const { evidenceHash, stateHash, trajectoryHash } = statement.subject;
  const { setupHash: _setup, ...identity } = makeRunResult(1).identity;
  const runResult = { ...makeRunResult(1), identity, evidenceHash, stateHash, trajectoryHash };
  expect(brokenBindings({ manifest, manifestDigest, runResult, statement })).toEqual([
    { field: 'reproduction.setupHash', expected: hashOf('setup'), actual: 'absent' },
  ]);
});

test('documents are bytes of their own canonical form', () => {
  const [manifest] = made.packed.documents;
  expect(fromUtf8(manifest!.bytes)).toBe(fromUtf8(canonicalBytes(made.packed.manifest)));
});
